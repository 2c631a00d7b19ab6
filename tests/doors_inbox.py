"""The doors to conversations, channels and templates; `tests/doors.py` takes them into its table."""

from collections.abc import Callable
from typing import Any

from agents.identity import REPLY
from conflicts import actors
from crm.models import Conversation, Message, MessageTemplate
from tests import cast, chatting
from tests.doors import ADDS, Deed, Door, Values, World
from tests.doors_desk import raised

FIRST = frozenset({302, 200})
"""Whoever was first is named, and the page is as it is now."""


def build(w: World) -> None:
    """A conversation of Alice's and one of the agent's, in each of which the customer has written; a mailbox."""
    w.channel = chatting.account()
    w.mailbox = chatting.account(address="sales@example.org", provider="mail", medium="email")
    w.talk = chatting.writes("Hi", peer="rita")
    cast.propose("conversation.take_over", w.talk, by=w.alice, epoch=w.talk.owner_epoch)
    w.talk.refresh_from_db()
    cast.propose("contact.edit", w.talk.contact, by=w.alice, company=w.company.pk)  # whose deals can be chosen
    w.agents_talk = chatting.writes("Hello", peer="ana")
    made = cast.propose("template.create", by=cast.manager(), slug="x", name="X", text="Hi {contact}", language="en")
    w.template = MessageTemplate.objects.get(pk=made.subject.pk)  # type: ignore[union-attr]


def of(name: str) -> Callable[[World], Values]:
    return lambda w: {"pk": getattr(w, name).pk}


def said(text: str) -> Callable[[World], bool]:
    return lambda w: Message.objects.filter(conversation=w.talk, text=text).count() == 1


def seen(w: World) -> Values:
    return {"seen": w.talk.inbound_count, "said": 0}


def epoch(name: str) -> Callable[[World], Values]:
    return lambda w: {"epoch": getattr(w, name).owner_epoch}


def bob_answers(w: World) -> Any:
    return w.before("conversation.send", "talk", text="Bob here", seen=w.talk.inbound_count, said=0)


def bob_takes(name: str) -> Callable[[World], Any]:
    return lambda w: w.before("conversation.take_over", name, epoch=getattr(w, name).owner_epoch)


def bob_gives_back(w: World) -> Any:
    return w.before("conversation.give_back", "talk", epoch=w.talk.owner_epoch)


def bob_notes(w: World) -> Any:
    return w.before("conversation.note", "talk", text="Bob was here")


def bob_closes(w: World) -> Any:
    return w.before("conversation.close", "talk")


def bob_links(w: World) -> Any:
    return w.before("conversation.link_deal", "talk", opportunity=cast.deal("Another deal").pk)


def customer_writes(peer: str) -> Callable[[World], Any]:
    return lambda w: chatting.writes("and one more thing", peer=peer)


def manager_edits(kind: str, subject: str) -> Callable[[World], Any]:
    return lambda w: w.before(f"{kind}.edit", subject, by=cast.administrator(), name="Renamed")


def owned_by(name: str, who: str) -> Callable[[World], bool]:
    return lambda w: w.fresh(name).owner == getattr(w, who)


DOORS: dict[str, tuple[Door, ...]] = {
    "conversation_send": (
        Door(
            subject="talk",
            url=of("talk"),
            sent=lambda w: {"text": "Alice here", **seen(w)},
            done=said("Alice here"),
            clash=bob_answers,
            kept=lambda w: said("Bob here")(w) and not said("Alice here")(w),
        ),
    ),
    "conversation_note": (
        Door(
            subject="talk",
            url=of("talk"),
            sent=lambda w: {"text": "Wants a discount"},
            done=said("Wants a discount"),
            clash=bob_notes,
            kept=said("Bob was here"),
            stale=ADDS,
        ),
    ),
    "conversation_take_over": (
        Door(
            subject="agents_talk",
            url=of("agents_talk"),
            sent=epoch("agents_talk"),
            done=owned_by("agents_talk", "alice"),
            clash=bob_takes("agents_talk"),
            kept=owned_by("agents_talk", "bob"),
        ),
    ),
    "conversation_give_back": (
        Door(
            subject="talk",
            url=of("talk"),
            sent=epoch("talk"),
            done=lambda w: w.fresh("talk").is_agents,
            clash=bob_takes("talk"),
            kept=owned_by("talk", "bob"),
        ),
    ),
    "conversation_assign": (
        Door(
            subject="talk",
            url=of("talk"),
            sent=lambda w: {"owner": cast.manager().pk, **epoch("talk")(w)},
            done=lambda w: w.fresh("talk").owner == cast.manager(),
            clash=bob_takes("talk"),
            kept=owned_by("talk", "bob"),
        ),
    ),
    "conversation_status": (
        Door(
            subject="talk",
            url=of("talk"),
            sent=lambda w: {"to": "closed", **seen(w)},
            done=lambda w: w.fresh("talk").status == "closed",
            clash=customer_writes("rita"),
            kept=lambda w: w.fresh("talk").status == "open" and w.fresh("talk").unanswered == 2,
        ),
    ),
    "conversation_deal": (
        Door(
            subject="talk",
            url=of("talk"),
            sent=lambda w: {"opportunity": w.deal.pk},
            done=lambda w: w.fresh("talk").opportunity == w.deal,
            clash=bob_links,
            kept=lambda w: w.fresh("talk").opportunity.name == "Another deal",
        ),
    ),
    "inbox_channel": (
        Door(
            subject="channel",
            by=cast.manager,
            url=of("channel"),
            sent=lambda w: {"name": "Our chat"},
            done=lambda w: w.fresh("channel").name == "Our chat",
            clash=manager_edits("channel", "channel"),
            kept=lambda w: w.fresh("channel").name == "Renamed",
        ),
    ),
    "inbox_template": (
        Door(
            subject="template",
            by=cast.manager,
            url=of("template"),
            sent=lambda w: {"name": "Hello"},
            done=lambda w: w.fresh("template").name == "Hello",
            clash=manager_edits("template", "template"),
            kept=lambda w: w.fresh("template").name == "Renamed",
        ),
    ),
}


CREATES: dict[str, tuple[Any, Callable[[World], Values]]] = {
    "conversation_new": (
        Conversation,
        lambda w: {"contact": w.contact.pk, "to": f"{w.mailbox.pk}:{w.point.pk}", "text": "Hello", "version": 1},
    ),
}

OTHERS: dict[str, str] = {
    "inbox_channel_new": "a new channel, by managers: tried in tests/crm/test_inbox_channels.py",
    "inbox_template_new": "a new template, by managers: tried in tests/crm/test_inbox_channels.py",
}


def at(name: str) -> Callable[[World], Values]:
    return lambda w: {"counter": getattr(w, name).inbound_count, "epoch": getattr(w, name).owner_epoch}


DEEDS: dict[str, Deed] = {
    "conversation.link_deal": Deed(subject="talk", params=lambda w: {"opportunity": w.deal.pk}, clash=bob_links),
    "conversation.close": Deed(
        subject="talk", params=lambda w: {}, clash=customer_writes("rita"), rests_on=("inbound_count",)
    ),
    "conversation.reopen": Deed(
        subject="talk",
        prepare=bob_closes,
        params=lambda w: {},
        clash=lambda w: w.before("conversation.reopen", "talk"),
    ),
    "conversation.receive": Deed(
        subject="talk",
        by=lambda: actors.integration("channel-1", "Shop"),
        params=lambda w: {"provider_id": "told twice", "text": "Hi again"},
        clash=lambda w: chatting.writes("Hi again", peer="rita", provider_id="told twice"),
    ),
    "conversation.echo": Deed(
        subject="talk",
        by=lambda: actors.integration("phone-1", "Phone"),
        params=lambda w: {"provider_id": "told twice", "text": "From the phone"},
        clash=lambda w: chatting.writes("Hi again", peer="rita", provider_id="told twice"),
    ),
    "conversation.reply": Deed(
        subject="agents_talk",
        by=lambda: REPLY,
        params=lambda w: {"text": "Hello Ana", **at("agents_talk")(w)},
        clash=customer_writes("ana"),
    ),
    "conversation.hand_over": Deed(
        subject="agents_talk",
        by=lambda: REPLY,
        params=lambda w: {"reason": "cannot_answer", **at("agents_talk")(w)},
        clash=bob_takes("agents_talk"),
    ),
    "conversation.send": Deed(subject="talk", params=lambda w: {"text": "Alice here", **seen(w)}, clash=bob_answers),
    "conversation.note": Deed(
        subject="talk",
        params=lambda w: {"text": "Nobody has called"},
        clash=bob_notes,
        rests_on=("messages",),
    ),
    "conversation.withdraw": Deed(
        subject="talk",
        prepare=bob_answers,
        params=lambda w: {"key": queued(w), "why": "reply.person_took_over"},
        clash=lambda w: w.before("conversation.withdraw", "talk", key=queued(w), why="reply.person_took_over"),
    ),
    "conversation.take_over": Deed(subject="agents_talk", params=epoch("agents_talk"), clash=bob_takes("agents_talk")),
    "conversation.give_back": Deed(subject="talk", params=epoch("talk"), clash=bob_takes("talk")),
    "channel.edit": Deed(
        subject="channel",
        by=cast.manager,
        params=lambda w: {"name": "Our chat"},
        clash=manager_edits("channel", "channel"),
    ),
    "template.edit": Deed(
        subject="template",
        by=cast.manager,
        params=lambda w: {"name": "Hello"},
        clash=manager_edits("template", "template"),
    ),
}


def queued(w: World) -> str:
    return str(Message.objects.filter(conversation=w.talk).exclude(outbox_key="").latest("pk").outbox_key)


def elsewhere(w: World, name: str) -> bool:
    """Something of the record moves that no action here rests on. False: it is none of these records."""
    values = {"talk": {"title": "Moved"}, "agents_talk": {"title": "Moved"}, "channel": {"language": "en"}}
    values["template"] = {"approved_as": "moved"}
    if name not in values:
        return False
    raised(getattr(w, name), **values[name])
    return True
