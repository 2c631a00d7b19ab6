"""Who else takes part in a deal, beside its contact."""

from django.utils.translation import gettext_lazy as _

from conflicts.actions import Action, register
from conflicts.exceptions import GoalMet, RuleBroken
from conflicts.sentences import Sentence
from conflicts.work import Work
from crm.actions.fields import Params, RequiredKey, ShortLine
from crm.models import Opportunity, Participant
from crm.permissions import permits_deal


class Add(Params):
    contact: RequiredKey
    role: ShortLine = ""


class Remove(Params):
    participant: RequiredKey


def _known(work: Work) -> Participant | None:
    return Participant.objects.filter(opportunity=work.subject, contact_id=work.params.contact).first()


def _check_add(work: Work) -> None:
    known = _known(work)
    if work.subject.contact_id == work.params.contact or (known and not known.removed):
        raise GoalMet("takes_part_already")


def _add(work: Work) -> None:
    p: Add = work.params
    known = _known(work)
    if known:
        work.change(known, removed=False, role=p.role)
    else:
        work.add(Participant(opportunity=work.subject, contact_id=p.contact, role=p.role))


def _found(work: Work) -> Participant:
    found = Participant.objects.filter(pk=work.params.participant, opportunity=work.subject).first()
    if found is None:
        raise RuleBroken("takes_no_part")
    return found


def _check_remove(work: Work) -> None:
    if _found(work).removed:
        raise GoalMet("left_already")


def _remove(work: Work) -> None:
    work.change(_found(work), removed=True)


register(
    Action(
        name="opportunity.add_participant",
        subject=Opportunity,
        params=Add,
        words=_("Add somebody to the deal"),
        check=_check_add,
        apply=_add,
        writes_aspects=frozenset({"participants"}),
        permits=permits_deal,
        avoided=Sentence("deal_not_changed"),
    )
)
register(
    Action(
        name="opportunity.remove_participant",
        subject=Opportunity,
        params=Remove,
        words=_("Take somebody out of the deal"),
        check=_check_remove,
        apply=_remove,
        writes_aspects=frozenset({"participants"}),
        permits=permits_deal,
        avoided=Sentence("deal_not_changed"),
    )
)
