"""Asking for access, examining it, granting it once, taking it back.

Guarantees that a yes is to the version and the content that the examiner was shown: whatever the asker has changed
since sends it back with the difference; that of two examiners one decides and the other is told who did; that nobody
decides on their own; and that a grant ends when it says. Next: `crm/permissions.py`, where a grant has its effect.
"""

import datetime as dt
from typing import Annotated, Literal

from django.utils.translation import gettext_lazy as _
from pydantic import AwareDatetime, Field, model_validator

from conflicts import actors
from conflicts.actions import Action, register, related
from conflicts.actors import Actor, Kind
from conflicts.exceptions import Clash, GoalMet, RuleBroken
from conflicts.sentences import Sentence, actor, aspects
from conflicts.work import Work
from crm.actions.fields import Key, Line, Params, Text
from crm.clock import today_for
from crm.models import AccessRequest, User
from crm.models.access import EXAMINED, AccessState
from crm.permissions import permits_decision, permits_record
from crm.sentences_governed import said

NOT_CHANGED = Sentence("access_not_changed")
EXPIRE = "access.expire"
"""The action, and the kind of job that carries it out (crm/expiries.py)."""
LONGEST = dt.timedelta(days=366)

AROUND = related("team", "company", "person", "decided_by")
Reason = Annotated[Text, Field(min_length=1, max_length=2000)]


class Ask(Params):
    kind: Literal["team", "company", "export"]
    team: Key = None
    company: Key = None
    may_change: bool = False
    reason: Reason
    wanted_until: dt.date
    person: Key = None
    """For whom; people ask for themselves, agents for somebody."""

    @model_validator(mode="after")
    def _says_what(self) -> "Ask":
        wanted = {"team": self.kind == "team", "company": self.kind == "company"}
        for name, needed in wanted.items():
            if bool(getattr(self, name)) is not needed:
                raise ValueError(str(_("Say to what: one team, or one company.")))
        return self


class Edit(Params):
    may_change: bool = False
    reason: Reason = "-"
    wanted_until: dt.date = dt.date.max


class Nothing(Params):
    pass


class Decide(Params):
    fingerprint: Annotated[str, Field(min_length=64, max_length=64)]
    """Of what the examiner's page showed (AccessRequest.fingerprint)."""
    note: Line = ""


class Grant(Decide):
    expires_at: AwareDatetime


class Decline(Decide):
    note: Annotated[Line, Field(min_length=1)]


class Revoke(Params):
    note: Annotated[Line, Field(min_length=1)]


# --- who --------------------------------------------------------------------------------------------------------------


def permits_asker(by: Actor, request: AccessRequest | None) -> Sentence | None:
    """Whoever asked, and whom it is for, may say more, and take it back."""
    if refusal := permits_record(by, request):
        return refusal
    if request is None or request.asker.same_as(by) or (by.is_person and by.key == str(request.person_id)):
        return None
    return Sentence("access_not_yours", {"who": actor(request.asked_by)})


def _permits_ending(by: Actor, request: AccessRequest | None) -> Sentence | None:
    """Whoever could have given it may take it back; whoever has it may give it back; its time ends it, too."""
    if by.kind is Kind.SYSTEM or permits_asker(by, request) is None:
        return None
    return permits_decision(by, request)


# --- checks -----------------------------------------------------------------------------------------------------------


def _check_ask(work: Work) -> None:
    p: Ask = work.params
    person = _person(work)
    _check_wanted(work, p.wanted_until, person=person)
    if p.kind == "team" and person.team_id == p.team:
        raise RuleBroken("access_not_needed")
    same = AccessRequest.objects.filter(person=person, kind=p.kind, team=p.team, company=p.company)
    if same.filter(state=AccessState.ASKED).exists():
        raise RuleBroken("access_asked_already")
    if same.in_force().filter(may_change__gte=p.may_change).exists():
        raise RuleBroken("access_granted_already")


def _person(work: Work) -> User:
    """For whom: oneself, or for an agent whom it names."""
    p: Ask = work.params
    if work.by.is_person and p.person not in (None, int(work.by.key)):
        raise RuleBroken("access_for_oneself")
    found = User.objects.filter(pk=work.by.key if work.by.is_person else p.person or 0, is_active=True).first()
    if found is None:
        raise RuleBroken("access_for_nobody")
    return found


def _check_wanted(work: Work, day: dt.date, *, person: User) -> None:
    today = today_for(person, now=work.now)
    if not today <= day <= today + LONGEST:
        raise RuleBroken("access_until_no_day")


def _check_asked(work: Work) -> None:
    """Only what is still open is changed or decided; whoever is too late is told who was first, and how."""
    request: AccessRequest = work.subject
    if request.state == AccessState.ASKED:
        return
    decided = actors.person(request.decided_by) if request.decided_by else request.author
    raise RuleBroken("access_decided", state="terminal_state_found", who=actor(decided), status=said(request))


def _check_edit(work: Work) -> None:
    _check_asked(work)
    if "wanted_until" in work.writes:
        _check_wanted(work, work.writes["wanted_until"], person=work.subject.person)


def check_examined(work: Work) -> None:
    """The yes, or the no, is to what was shown: this version, this content."""
    request: AccessRequest = work.subject
    _check_asked(work)
    moved = [c for c in work.moved if c.aspect in EXAMINED]
    if moved or work.params.fingerprint != request.fingerprint:
        raise Clash(
            "access_changed",
            state="changed_during_approval",
            who=actor(moved[-1].by if moved else request.asked_by),
            what=aspects("crm.accessrequest", dict.fromkeys(c.aspect for c in moved)),
        )


def _check_grant(work: Work) -> None:
    check_examined(work)
    if not work.now < work.params.expires_at <= work.now + LONGEST:
        raise RuleBroken("until_is_no_time")


def _check_revoke(work: Work) -> None:
    request: AccessRequest = work.subject
    if request.state == AccessState.REVOKED:
        raise GoalMet("access_ended_already", who=actor(request.author), status=said(request))
    if request.state != AccessState.GRANTED:
        raise RuleBroken("access_not_granted", status=said(request))


def _check_expire(work: Work) -> None:
    request: AccessRequest = work.subject
    if request.state != AccessState.GRANTED or request.expires_at is None or request.expires_at > work.now:
        raise GoalMet("nothing_runs_out")


# --- what is written --------------------------------------------------------------------------------------------------


def _ask(work: Work) -> None:
    values = work.params.model_dump(exclude={"person", "team", "company"})
    p: Ask = work.params
    work.new(
        AccessRequest(**values, person_id=_person(work).pk, team_id=p.team, company_id=p.company, asked_by=str(work.by))
    )


def _grant(work: Work) -> None:
    p: Grant = work.params
    _decide(work, AccessState.GRANTED)
    work.set(
        examined_version=work.proposal.basis[0].version,
        examined_fingerprint=p.fingerprint,
        expires_at=p.expires_at,
    )
    work.later(EXPIRE, {}, key=f"{EXPIRE}:{work.subject.pk}:{work.subject.version + 1}", due_at=p.expires_at)


def _decide(work: Work, state: AccessState) -> None:
    work.set(state=state.value, decided_by=int(work.by.key), decided_at=work.now, decision_note=work.params.note)


def _end(work: Work, state: AccessState, **more: str) -> None:
    work.set(state=state.value, ended_at=work.now, **more)


register(
    Action(
        name="access.ask",
        subject=AccessRequest,
        params=Ask,
        words=_("Ask for access"),
        check=_check_ask,
        apply=_ask,
        permits=permits_record,
        creates=True,
    )
)
register(
    Action(
        name="access.edit",
        subject=AccessRequest,
        params=Edit,
        words=_("Change what is asked for"),
        check=_check_edit,
        apply=lambda work: work.set(**work.writes),
        writes=lambda p: p.given(),
        permits=permits_asker,
        avoided=NOT_CHANGED,
        loads=(AROUND,),
    )
)
for name, params, words, check, apply, permits in (
    (
        "withdraw",
        Nothing,
        _("Withdraw the request"),
        _check_asked,
        lambda work: _end(work, AccessState.WITHDRAWN),
        permits_asker,
    ),
    ("grant", Grant, _("Grant access"), _check_grant, _grant, permits_decision),
    (
        "decline",
        Decline,
        _("Decline access"),
        check_examined,
        lambda work: _decide(work, AccessState.DECLINED),
        permits_decision,
    ),
    (
        "revoke",
        Revoke,
        _("Take access back"),
        _check_revoke,
        lambda work: _end(work, AccessState.REVOKED, decision_note=work.params.note),
        _permits_ending,
    ),
    (
        "expire",
        Nothing,
        _("End what has run out"),
        _check_expire,
        lambda work: _end(work, AccessState.EXPIRED),
        _permits_ending,
    ),
):
    register(
        Action(
            name=f"access.{name}",
            subject=AccessRequest,
            params=params,
            words=words,
            check=check,
            apply=apply,
            writes_aspects=frozenset({"state"}),
            permits=permits,
            avoided=NOT_CHANGED,
            loads=(AROUND,),
        )
    )
