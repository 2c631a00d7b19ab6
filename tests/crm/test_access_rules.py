"""Access is examined and granted once, by somebody with the authority, on the version examined; and it has effect."""

import datetime as dt
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone, translation

from conflicts import actors, guard
from conflicts.exceptions import BadParams
from conflicts.models import Conflict, Job
from conflicts.outcomes import Outcome, Result
from crm.models import AccessRequest, Opportunity, User
from crm.models.access import AccessState
from crm.permissions import may_export
from tests import cast, papers
from tests.conflicts.chores import run_all
from tests.governed import ask, company, grant, soon

pytestmark = pytest.mark.django_db


def told(outcome: Outcome) -> str:
    return str(outcome.sentence)


def fresh(of: AccessRequest) -> AccessRequest:
    return AccessRequest.objects.get(pk=of.pk)


def sees(user: User, deal: Opportunity) -> bool:
    return Opportunity.objects.visible_to(user).filter(pk=deal.pk).exists()


def changes(user: User, deal: Opportunity) -> Outcome:
    return cast.propose("opportunity.edit", Opportunity.objects.get(pk=deal.pk), by=user, decision="Rui, in May")


# --- its effect -------------------------------------------------------------------------------------------------------


def test_charlie_sees_the_deals_of_the_north_from_the_grant_to_the_taking_back() -> None:
    deal, request = cast.deal(), ask()
    assert not sees(cast.charlie(), deal)
    assert grant(request).written
    assert sees(cast.charlie(), deal)
    assert not sees(cast.user("dora", "Dora", "Dias", of=cast.team("South")), deal), "it was granted to one person"
    assert cast.propose("access.revoke", fresh(request), by=cast.manager(), note="Bob is back").written
    assert not sees(cast.charlie(), deal)


@pytest.mark.parametrize("kind", ["team", "company"])
def test_contracts_and_invoices_are_seen_as_the_deals_are(kind: str) -> None:
    contract, invoice = papers.contract(), papers.invoice(contract=None)
    about = {"team": cast.team().pk} if kind == "team" else {"team": None, "company": papers.company().pk}
    request, charlie = ask(kind=kind, **about), cast.charlie()

    def seen() -> list[bool]:
        return [
            type(one)._default_manager.visible_to(charlie).filter(pk=one.pk).exists() for one in (contract, invoice)
        ]

    assert seen() == [False, False]
    assert grant(request, by=cast.administrator()).written
    assert seen() == [True, True]
    assert cast.propose("access.revoke", fresh(request), by=cast.administrator(), note="Bob is back").written
    assert seen() == [False, False]


def test_it_ends_at_its_time_even_if_nobody_has_swept_yet() -> None:
    deal, request = cast.deal(), ask()
    grant(request)
    with transaction.atomic():
        guard.sign(actors.SYSTEM)
        now = fresh(request)
        now.expires_at = timezone.now() - dt.timedelta(seconds=1)
        now.save()
    assert fresh(request).state == AccessState.GRANTED
    assert not sees(cast.charlie(), deal)
    Job.objects.update(due_at=now.expires_at)
    assert len(run_all()) == 1
    assert fresh(request).state == AccessState.EXPIRED
    assert fresh(request).author.same_as(cast.SYSTEM)


def test_sight_is_not_leave_to_change_and_the_sentence_says_so() -> None:
    deal = cast.deal()
    grant(ask())
    outcome = changes(cast.charlie(), deal)
    assert outcome.result is Result.REFUSED
    assert told(outcome).startswith("You were given sight of the deals of North, not leave to change them.")


def test_leave_to_change_is_part_of_what_is_asked_for() -> None:
    deal = cast.deal()
    request = ask(may_change=True)
    assert changes(cast.charlie(), deal).result is Result.REFUSED
    grant(request)
    assert changes(cast.charlie(), deal).written
    cast.propose("access.revoke", fresh(request), by=cast.manager(), note="Bob is back")
    assert changes(cast.charlie(), deal).result is Result.REFUSED


@pytest.mark.parametrize("kind", ["team", "company"])
def test_leave_to_change_is_for_the_contracts_and_invoices_of_those_deals_too(kind: str) -> None:
    contract, invoice = papers.contract(), papers.invoice(contract=None)
    about = {"team": cast.team().pk} if kind == "team" else {"team": None, "company": papers.company().pk}
    examiner, charlie = cast.administrator(), cast.charlie()

    def tried() -> list[Outcome]:
        return [
            cast.propose(action, type(one).objects.get(pk=one.pk), by=charlie, note="Called them")
            for action, one in (("contract.edit", contract), ("invoice.edit", invoice))
        ]

    assert {told(one) for one in tried()} == {"This belongs to North. Nothing was written."}
    sight = ask(kind=kind, **about)
    assert grant(sight, by=examiner).written
    seen = "You were given sight of what belongs to North, not leave to change it. Nothing was written."
    assert {told(one) for one in tried()} == {seen}
    leave = ask(kind=kind, may_change=True, **about)
    assert grant(leave, by=examiner).written
    assert all(one.written for one in tried())
    assert cast.propose("access.revoke", fresh(leave), by=examiner, note="Bob is back").written
    assert {told(one) for one in tried()} == {seen}


def test_a_companys_deals_are_seen_and_no_others() -> None:
    about, other = cast.deal("About", company=company().pk), cast.deal("Other")
    request = ask(kind="company", team=None, company=company().pk)
    assert grant(request, by=cast.administrator()).written
    assert (sees(cast.charlie(), about), sees(cast.charlie(), other)) == (True, False)


def test_lists_leave_with_managers_and_with_whom_it_was_granted_to() -> None:
    assert may_export(cast.manager())
    assert not may_export(cast.charlie())
    grant(ask(kind="export", team=None), by=cast.administrator())
    assert may_export(cast.charlie())


# --- on what was examined ---------------------------------------------------------------------------------------------


def test_a_grant_names_the_version_and_the_content_that_were_examined() -> None:
    request = ask()
    until = soon(10)
    assert grant(request, expires_at=until, note="For July").written
    now = fresh(request)
    assert (now.examined_version, now.examined_fingerprint) == (1, request.fingerprint)
    assert (now.decided_by, now.decision_note, now.expires_at) == (cast.manager(), "For July", until)


def test_what_was_changed_meanwhile_goes_back_to_the_examiner_with_the_difference() -> None:
    read = ask()
    cast.propose("access.edit", fresh(read), by=cast.charlie(), may_change=True)
    outcome = grant(read)
    assert (outcome.result, outcome.state) == (Result.CONFLICT, "changed_during_approval")
    assert told(outcome) == (
        "Charlie Castro changed leave to change them while this was being examined. Nothing was decided."
    )
    [change] = outcome.moved
    assert (change.aspect, change.old, change.new) == ("may_change", False, True)
    assert fresh(read).state == AccessState.ASKED
    assert Conflict.objects.get(pk=outcome.record).state == "changed_during_approval"
    assert grant(fresh(read)).written


def test_a_change_and_its_taking_back_are_two_versions_that_nobody_examined() -> None:
    read = ask()
    for reason in ("Everything, please", read.reason):
        cast.propose("access.edit", fresh(read), by=cast.charlie(), reason=reason)
    assert fresh(read).fingerprint == read.fingerprint
    assert grant(read).state == "changed_during_approval"


def test_a_forged_fingerprint_grants_nothing() -> None:
    request = ask()
    outcome = grant(request, fingerprint="0" * 64)
    assert (outcome.result, outcome.state) == (Result.CONFLICT, "changed_during_approval")
    assert fresh(request).state == AccessState.ASKED
    with pytest.raises(BadParams):
        grant(request, fingerprint="short")


def test_of_two_examiners_one_decides_and_the_other_is_told_who_did() -> None:
    read = ask()
    assert grant(read, by=cast.manager()).written
    for action, more in (("access.grant", {"expires_at": soon(5)}), ("access.decline", {"note": "No"})):
        outcome = cast.propose(action, read, by=cast.administrator(), fingerprint=read.fingerprint, **more)
        assert outcome.result is Result.REFUSED
        assert told(outcome) == "Manuela Moraes was first: this is granted. Nothing was written."
    assert fresh(read).decided_by == cast.manager()


# --- who may ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("who", "words"),
    [
        (cast.alice, "Only a manager of North or an administrator can decide on this."),
        (cast.charlie, "Nobody decides on their own access."),
        (lambda: cast.AGENT, "Access is given by people."),
    ],
    ids=["a salesperson", "oneself", "an agent"],
)
def test_who_has_no_authority_is_told_who_has(who: Any, words: str) -> None:
    request = ask()
    outcome = cast.propose("access.grant", request, by=who(), fingerprint=request.fingerprint, expires_at=soon(5))
    assert outcome.result is Result.REFUSED
    assert told(outcome).startswith(words)
    assert fresh(request).state == AccessState.ASKED


def test_a_manager_gives_access_to_the_own_team_only() -> None:
    south = cast.user("sonia", "Sonia", "Sousa", of=cast.team("South"), role=cast.Role.MANAGER)
    assert told(grant(ask(), by=south)).startswith("Only a manager of North")
    companys = ask(kind="company", team=None, company=company().pk)
    assert told(grant(companys)) == "Only an administrator can decide on this. Nothing was written."


def test_not_even_an_administrator_grants_their_own() -> None:
    request = ask(by=cast.administrator(), team=cast.team("South").pk)
    assert told(grant(request, by=cast.administrator())).startswith("Nobody decides on their own access.")


def test_not_even_a_script_does() -> None:
    request = ask()
    with pytest.raises(IntegrityError, match="nobody_grants_their_own"), transaction.atomic():
        AccessRequest.objects.filter(pk=request.pk).update(
            version=2,
            state="granted",
            decided_by=cast.charlie(),
            expires_at=soon(5),
            examined_version=1,
            examined_fingerprint=request.fingerprint,
        )
    with pytest.raises(IntegrityError, match="grant_says_by_whom_on_what"), transaction.atomic():
        AccessRequest.objects.filter(pk=request.pk).update(version=2, state="granted")


def test_an_agent_asks_for_somebody_and_people_for_themselves() -> None:
    wanted = {"kind": "team", "team": cast.team().pk, "reason": "The deal moved", "wanted_until": soon(5).date()}
    outcome = cast.propose("access.ask", by=cast.bob(), person=cast.charlie().pk, **wanted)
    assert told(outcome) == "Everybody asks for themselves. Nothing was written."
    assert told(cast.propose("access.ask", by=cast.AGENT, **wanted)).startswith("Nobody is named")
    assert cast.propose("access.ask", by=cast.AGENT, person=cast.charlie().pk, **wanted).written
    request = AccessRequest.objects.get()
    assert (request.person, request.asker) == (cast.charlie(), cast.AGENT)
    assert grant(request).written


def test_only_who_asked_changes_it_or_withdraws_it() -> None:
    request = ask()
    outcome = cast.propose("access.edit", request, by=cast.bob(), reason="Mine")
    assert told(outcome) == "Charlie Castro asked for this; only they can change it. Nothing was written."
    assert cast.propose("access.withdraw", request, by=cast.charlie()).written
    assert grant(request).result is Result.REFUSED
    assert cast.propose("access.edit", fresh(request), by=cast.charlie(), reason="Again").result is Result.REFUSED


def test_what_was_granted_is_given_back_by_who_has_it() -> None:
    request = ask()
    grant(request)
    outcome = cast.propose("access.revoke", fresh(request), by=cast.bob(), note="Enough")
    assert told(outcome).startswith("Only a manager of North")
    assert cast.propose("access.revoke", fresh(request), by=cast.charlie(), note="Not needed any more").written
    again = cast.propose("access.revoke", fresh(request), by=cast.manager(), note="Over")
    assert told(again) == "Charlie Castro was first: this is taken back already. Nothing was written."


def test_nothing_is_asked_for_twice_nor_what_one_has() -> None:
    request = ask()
    wanted = {"kind": "team", "reason": "Again", "wanted_until": soon(5).date()}
    twice = cast.propose("access.ask", by=cast.charlie(), team=cast.team().pk, **wanted)
    assert told(twice) == "This was asked for already and waits for an answer. Nothing was written."
    own = cast.propose("access.ask", by=cast.charlie(), team=cast.team("South").pk, **wanted)
    assert told(own).startswith("This is the person's own team")
    grant(request)
    had = cast.propose("access.ask", by=cast.charlie(), team=cast.team().pk, **wanted)
    assert told(had) == "This was granted already. Nothing was written."
    assert cast.propose("access.ask", by=cast.charlie(), team=cast.team().pk, may_change=True, **wanted).written


@pytest.mark.parametrize(
    "wrong",
    [{"kind": "team", "team": None}, {"kind": "company"}, {"kind": "export"}, {"kind": "moon"}, {"reason": ""}],
    ids=["no team", "a company that is a team", "an export of a team", "no such kind", "no reason"],
)
def test_it_says_to_what_and_why(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadParams):
        ask(**wrong)


def test_a_day_lies_ahead_and_within_a_year() -> None:
    for day in (timezone.now().date() - dt.timedelta(days=2), timezone.now().date() + dt.timedelta(days=400)):
        outcome = cast.propose(
            "access.ask", by=cast.charlie(), kind="team", team=cast.team().pk, reason="July", wanted_until=day
        )
        assert outcome.result is Result.REFUSED
    assert grant(ask(), expires_at=timezone.now() - dt.timedelta(minutes=1)).result is Result.REFUSED


def test_the_evidence_names_the_request_in_the_readers_language() -> None:
    """Written while the manager reads Portuguese; read in English."""
    request = ask()
    assert cast.propose("access.edit", fresh(request), by=cast.charlie(), may_change=True).written
    with translation.override("pt-br"):
        outcome = grant(request)
        assert outcome.result is Result.CONFLICT
    record = Conflict.objects.get(pk=outcome.record)
    assert record.subject_label == "team:North"
    with translation.override("en"):
        assert record.subject_name == "a team's deals: North"
    with translation.override("pt-br"):
        assert record.subject_name not in ("a team's deals: North", record.subject_label)
        assert record.subject_name.endswith(": North")


@pytest.mark.parametrize(
    ("kept", "told"),
    [("export:", "taking lists out"), ("as it was before: North", "as it was before: North"), ("", "")],
)
def test_a_name_kept_without_a_target_or_in_an_older_form_is_read_too(kept: str, told: str) -> None:
    assert AccessRequest.name_told(kept) == told
