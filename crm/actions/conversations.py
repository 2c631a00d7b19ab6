"""What can be done to a conversation as a whole: open it, tie it to a deal, close it; and the channels it comes by."""

import datetime as dt
from typing import Literal

from django.utils.translation import gettext_lazy as _

from conflicts.actions import Action, register
from conflicts.actors import Actor
from conflicts.exceptions import GoalMet, RuleBroken
from conflicts.sentences import Sentence
from conflicts.work import Work
from crm import timers
from crm.actions.fields import Address, Key, Name, Params, RequiredKey, ShortLine, Text
from crm.models import ChannelAccount, Contact, Conversation, MessageTemplate, Opportunity
from crm.models.channel_account import Medium, Provider
from crm.models.conversation import Owner, Status
from crm.permissions import permits_catalogue, permits_conversation, permits_deal

NOT_CHANGED = Sentence("conversation_not_changed")
MESSAGES = frozenset({"messages"})


def arm(works: object) -> None:
    """For `Action.also`: the timer follows whatever was written, in the same transaction."""
    timers.arm([work.subject.pk for work in works])  # type: ignore[attr-defined]


def _arm_all(works: object) -> None:
    """A channel that is switched off or on again, or has another pace: whoever waits there is due anew."""
    accounts = [work.subject.pk for work in works]  # type: ignore[attr-defined]
    waiting = Conversation.objects.filter(account__in=accounts, waiting_since__isnull=False)
    timers.arm(list(waiting.values_list("pk", flat=True)))


class Open(Params):
    account: RequiredKey
    contact: RequiredKey
    peer: Name
    reply_to: Address = ""
    title: ShortLine = ""
    language: ShortLine = ""
    opportunity: Key = None


def _check_open(work: Work) -> None:
    taken = Conversation.objects.filter(account_id=work.params.account, peer=work.params.peer)
    if taken.exists():
        raise GoalMet("conversation_exists")


def _open(work: Work) -> None:
    p: Open = work.params
    account = ChannelAccount.objects.get(pk=p.account)
    contact = Contact.objects.get(pk=p.contact)
    person = work.by.is_person
    deal = p.opportunity or _only_open_deal(contact, by=work.by)
    work.new(
        Conversation(
            account=account,
            contact=contact,
            peer=p.peer,
            reply_to=p.reply_to or p.peer,
            medium=account.medium,
            title=p.title or contact.name,
            language=p.language or contact.language or account.language,
            opportunity_id=deal,
            owner_kind=Owner.PERSON if person or not account.agent_answers else Owner.AGENT,
            owner_id=int(work.by.key) if person else None,
        )
    )


def _only_open_deal(contact: Contact, *, by: Actor) -> int | None:
    """Where a contact has one open deal, the talk is about it; of several nobody can tell.

    A person who may not change that deal talks about something else: the conversation would not be theirs to see.
    """
    deals = list(Opportunity.objects.open().filter(contact=contact)[:2])
    return deals[0].pk if len(deals) == 1 and permits_deal(by, deals[0]) is None else None


class Link(Params):
    opportunity: Key


class Nothing(Params):
    pass


def _close(work: Work) -> None:
    if work.subject.status == Status.CLOSED:
        raise GoalMet("conversation_closed_already")
    work.set(status=Status.CLOSED.value, answered_count=work.subject.inbound_count, waiting_since=None)


def _reopen(work: Work) -> None:
    if work.subject.status == Status.OPEN:
        raise GoalMet("conversation_open_already")
    work.set(status=Status.OPEN.value)


for name, params, words, apply, writes in (
    ("link_deal", Link, _("Say which deal a conversation is about"), None, ("opportunity",)),
    ("close", Nothing, _("Close a conversation"), _close, ()),
    ("reopen", Nothing, _("Open a conversation again"), _reopen, ()),
):

    def _link(work: Work) -> None:
        work.set(**work.writes)

    register(
        Action(
            name=f"conversation.{name}",
            subject=Conversation,
            params=params,
            words=words,
            apply=apply or _link,
            writes=(lambda p: p.given()) if writes else (lambda p: {}),
            writes_aspects=frozenset() if writes else frozenset({"status"}),
            permits=permits_conversation,
            avoided=NOT_CHANGED,
            also=arm,
        )
    )
register(
    Action(
        name="conversation.open",
        subject=Conversation,
        params=Open,
        words=_("Begin a conversation"),
        check=_check_open,
        apply=_open,
        permits=permits_conversation,
        creates=True,
    )
)


class Account(Params):
    name: Name
    agent_answers: bool = True
    active: bool = True
    quiet_seconds: float = 4.0
    cap_seconds: float = 20.0
    flush_at: int = 10
    give_back_minutes: int | None = None
    language: ShortLine = ""
    time_zone: ShortLine = ""
    opens_at: dt.time | None = None
    closes_at: dt.time | None = None
    open_days: ShortLine = "12345"
    contact_from: dt.time = dt.time(8)
    contact_until: dt.time = dt.time(21)


class NewAccount(Account):
    provider: Literal["webchat", "whatsapp", "twilio", "mail"]
    medium: Literal["webchat", "whatsapp", "sms", "email"]
    address: Name


class EditAccount(Account):
    name: Name = ""


_MEDIA = {
    Provider.WEBCHAT: {Medium.WEBCHAT},
    Provider.WHATSAPP: {Medium.WHATSAPP},
    Provider.TWILIO: {Medium.SMS, Medium.WHATSAPP},
    Provider.MAIL: {Medium.EMAIL},
}


def check_pace(p: Account) -> None:
    """Raises RuleBroken for a pace that nobody can keep."""
    given = p.model_fields_set
    for name, least, most in (("quiet_seconds", 0, 600), ("cap_seconds", 0, 600), ("flush_at", 1, 1000)):
        if name in given and not least <= getattr(p, name) <= most:
            raise RuleBroken("channel_pace", least=least, most=most)


def _check_account(work: Work) -> None:
    check_pace(work.params)
    if work.subject is None:
        p: NewAccount = work.params
        if Medium(p.medium) not in _MEDIA[Provider(p.provider)]:
            raise RuleBroken("channel_medium")
        if ChannelAccount.objects.filter(provider=p.provider, address=p.address.lower()).exists():
            raise RuleBroken("channel_exists", address=p.address)


def _new_account(work: Work) -> None:
    values = work.params.model_dump()
    work.new(ChannelAccount(**{**values, "address": values["address"].lower()}))


def _edit(work: Work) -> None:
    work.set(**work.writes)


register(
    Action(
        name="channel.create",
        subject=ChannelAccount,
        params=NewAccount,
        words=_("Add a channel"),
        check=_check_account,
        apply=_new_account,
        permits=permits_catalogue,
        creates=True,
    )
)
register(
    Action(
        name="channel.edit",
        also=_arm_all,
        subject=ChannelAccount,
        params=EditAccount,
        words=_("Change a channel"),
        check=_check_account,
        apply=_edit,
        writes=lambda p: p.given(),
        permits=permits_catalogue,
        avoided=Sentence("record_not_changed"),
    )
)


class Template(Params):
    name: Name = ""
    text: Text = ""
    stage: Key = None
    medium: Literal["", "webchat", "whatsapp", "sms", "email"] = ""
    approved_as: ShortLine = ""
    active: bool = True


class NewTemplate(Template):
    slug: ShortLine
    name: Name
    text: Text
    language: Literal["en", "pt-br"]


def _check_template(work: Work) -> None:
    p: NewTemplate = work.params
    same = MessageTemplate.objects.filter(slug=p.slug, language=p.language, stage=p.stage, medium=p.medium)
    if same.exists():
        raise RuleBroken("template_exists", name=p.slug)


def _new_template(work: Work) -> None:
    values = work.params.model_dump(exclude={"stage"})
    work.new(MessageTemplate(**values, stage_id=work.params.stage))


register(
    Action(
        name="template.create",
        subject=MessageTemplate,
        params=NewTemplate,
        words=_("Add a message template"),
        check=_check_template,
        apply=_new_template,
        permits=permits_catalogue,
        creates=True,
    )
)
register(
    Action(
        name="template.edit",
        subject=MessageTemplate,
        params=Template,
        words=_("Change a message template"),
        apply=_edit,
        writes=lambda p: p.given(),
        permits=permits_catalogue,
        avoided=Sentence("record_not_changed"),
    )
)
