"""What a policy declares has effect in the gate, and one that names what is not there stops the start."""

import runpy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.conf import settings
from django.core.management.base import SystemCheckError

from config import celery
from conflicts import actions, checks, gate
from conflicts.exceptions import DerivedWrite
from conflicts.models import Conflict
from conflicts.outcomes import Result
from conflicts.policies import Authority, MergePolicy, Rule
from crm.models import Opportunity
from crm.models.opportunity import Status
from tests import cast
from tests.conflicts.wishes import now, wish

pytestmark = pytest.mark.django_db


def codes() -> set[str | None]:
    return {message.id for message in checks.models_are_protected(None) if message.obj is Opportunity}


def declare(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    monkeypatch.setattr(Opportunity, "policy", replace(Opportunity.policy, **changes))


def web_server() -> object:
    return runpy.run_path(str(settings.BASE_DIR / "config" / "asgi.py"))["application"]


def worker() -> None:
    celery.refuse_to_start()


class TestTheStart:
    def test_what_is_declared_fits(self) -> None:
        assert codes() == set()

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"rules": {"colour": Rule.APPEND}}, "conflicts.E003"),
            ({"voids_approval": frozenset({"colour"})}, "conflicts.E003"),
            ({"demands_reread": frozenset({"colour"})}, "conflicts.E003"),
            ({"authority": {"colour": Authority.LEGAL}}, "conflicts.E003"),
            ({"derived": {"next_step": frozenset({"colour"})}}, "conflicts.E003"),
            ({"terminal": frozenset({"thrown away"})}, "conflicts.E010"),
            ({"exclusive": frozenset({"thrown away"})}, "conflicts.E010"),
            ({"derived": {"tags": frozenset({"tasks"})}}, "conflicts.E011"),
        ],
    )
    def test_a_policy_that_names_what_is_not_there_stops_it(
        self, changes: dict[str, Any], code: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        declare(monkeypatch, **changes)
        assert codes() == {code}

    @pytest.mark.parametrize("opens", [web_server, worker])
    def test_neither_the_web_server_nor_a_worker_opens_with_it(
        self, opens: Callable[[], object], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("VIGENTE_DATABASE_POOL", "0")
        opens()
        declare(monkeypatch, voids_approval=frozenset({"colour"}))
        with pytest.raises((SystemCheckError, SystemExit), match="unknown field 'colour'"):
            opens()

    def test_an_aspect_of_a_child_is_a_name_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        declare(monkeypatch, voids_approval=frozenset({"tasks", "activities"}))
        assert codes() == set()

    def test_a_state_field_that_is_not_there_stops_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Opportunity, "state_field", "phase")
        assert codes() == {"conflicts.E012"}

    @pytest.mark.parametrize(
        "table",
        [
            {Status.OPEN: frozenset({Status.WON})},
            {Status.OPEN: frozenset({"sold"}), Status.WON: frozenset(), Status.LOST: frozenset()},
        ],
    )
    def test_a_table_of_moves_that_is_not_whole_stops_it(
        self, table: dict[Any, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Opportunity, "transitions", table)
        assert "conflicts.E013" in codes()


class TestTheMark:
    def test_it_changes_with_every_rule_and_with_the_version(self) -> None:
        first = MergePolicy(rules={"tags": Rule.APPEND})
        others = [
            replace(first, version=2),
            replace(first, rules={"tags": Rule.REFUSE}),
            replace(first, voids_approval=frozenset({"tags"})),
            replace(first, terminal=frozenset({"won"})),
            replace(first, derived={"team": frozenset({"owner"})}),
        ]
        assert len({first.mark, *(other.mark for other in others)}) == 6
        assert first.mark == MergePolicy(rules={"tags": Rule.APPEND}).mark


class TestTheGate:
    def test_an_agent_does_nothing_in_a_terminal_state_whatever_the_action_checks(self) -> None:
        deal = cast.deal()
        cast.propose("opportunity.move", deal, by=cast.alice(), stage=cast.stage("Won").pk)
        won = now(deal)

        outcome = gate.commit(wish("opportunity.log", won, by=cast.AGENT, kind="note", text="Well done"))

        assert outcome.result is Result.REFUSED
        assert Conflict.objects.get().state == "terminal_state_found"
        assert str(outcome.sentence) == "It is won now, and agents leave it alone. Nothing was written."

    def test_a_person_may(self) -> None:
        deal = cast.deal()
        cast.propose("opportunity.move", deal, by=cast.alice(), stage=cast.stage("Won").pk)
        assert gate.commit(wish("opportunity.log", now(deal), by=cast.bob(), kind="note", text="Well done")).written

    def test_a_move_that_the_table_does_not_hold_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        table = {Status.OPEN: frozenset({Status.WON}), Status.WON: frozenset(), Status.LOST: frozenset()}
        monkeypatch.setattr(Opportunity, "transitions", table)
        deal = cast.deal()

        lost = cast.stage("Lost").pk
        outcome = gate.commit(wish("opportunity.move", deal, by=cast.alice(), stage=lost, reason="price"))

        assert outcome.result is Result.REFUSED
        assert str(outcome.sentence) == "What is open does not become lost. Nothing was written."
        assert now(deal).status == Status.OPEN
        assert now(deal).version == 1

    def test_of_two_exclusive_moves_the_first_stands_and_a_person_decides(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # Without the action's own check: the policy alone holds.
        honest = actions.get("opportunity.move")
        bare = replace(honest, check=lambda work: None, writes=lambda params: {}, writes_aspects=frozenset({"stage"}))
        monkeypatch.setitem(actions._ACTIONS, "opportunity.move", bare)
        deal = cast.deal()
        cast.propose("opportunity.move", deal, by=cast.alice(), stage=cast.stage("Won").pk)

        lost = cast.stage("Lost").pk
        outcome = gate.commit(wish("opportunity.move", deal, by=cast.bob(), stage=lost, reason="price"))

        assert outcome.result is Result.CONFLICT
        assert outcome.state == "terminal_state_found"
        assert str(outcome.sentence).startswith("Alice Amaral was first, and it is won now.")
        assert now(deal).status == Status.WON

    def test_whoever_saw_the_first_may_make_the_second(self) -> None:
        deal = cast.deal()
        cast.propose("opportunity.move", deal, by=cast.alice(), stage=cast.stage("Won").pk)
        lost = cast.stage("Lost").pk
        assert gate.commit(wish("opportunity.move", now(deal), by=cast.bob(), stage=lost, reason="price")).written

    def test_a_change_that_demands_a_re_read_stops_an_agent_and_no_person(self) -> None:
        deal = cast.deal()
        cast.propose("opportunity.edit", deal, by=cast.alice(), owner=cast.bob().pk)

        agents = gate.commit(wish("opportunity.edit", deal, by=cast.AGENT, decision="Rui"))
        persons = gate.commit(wish("opportunity.edit", deal, by=cast.bob(), decision="Rui"))

        assert (agents.result, agents.state) == (Result.CONFLICT, "needs_reevaluation")
        assert agents.sentence is not None
        assert agents.sentence.code == "read_again"
        assert persons.result is Result.REBASED

    def test_what_is_recalculated_no_action_writes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        honest = actions.get("opportunity.edit")
        monkeypatch.setitem(
            actions._ACTIONS, "opportunity.edit", replace(honest, writes=lambda params: {"next_step": "mine"})
        )
        with pytest.raises(DerivedWrite, match="next_step"):
            gate.commit(wish("opportunity.edit", cast.deal(), by=cast.alice(), decision="Rui"))

    def test_a_clash_about_money_says_that_it_takes_authority(self) -> None:
        deal = cast.deal(amount="100")
        cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110")

        gate.commit(wish("opportunity.edit", deal, by=cast.bob(), amount="120"))

        assert str(Conflict.objects.get().to_do) == "Somebody with the authority for it decides: amounts."

    def test_a_clash_about_words_does_not(self) -> None:
        deal = cast.deal(decision="a")
        cast.propose("opportunity.edit", deal, by=cast.alice(), decision="b")
        gate.commit(wish("opportunity.edit", deal, by=cast.bob(), decision="c"))
        assert "authority" not in str(Conflict.objects.get().to_do)
