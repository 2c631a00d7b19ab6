"""Two people and an agent on one deal, in every order; after each step nothing of anybody's may be lost.

Each player acts on what it read last, however old; some acts are sent twice. The model beside it knows only what was
acknowledged. Hypothesis prints the steps that broke a rule (`Phase.shrink`, left out, takes minutes to shorten them).
"""

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from conflicts import gate
from conflicts.history import values_at
from conflicts.outcomes import Outcome, Result
from conflicts.proposals import Proposal
from conflicts.refs import Ref
from conflicts.values import read
from crm.models import Activity, Opportunity, Task
from crm.models.task import TaskState
from crm.next_steps import earliest
from tests import cast
from tests.conflicts.wishes import now, wish

PLAYERS = ["alice", "bob", "agent"]
FIELDS = {"amount": ["10.00", "20.00", "30.00"], "decision": ["", "Rui", "Inês"]}
TAGS = [[], ["a"], ["b"], ["a", "b"], ["b", "c"], ["c", "a"]]

player = st.sampled_from(PLAYERS)
day = st.integers(min_value=1, max_value=4).map(lambda number: f"2031-06-{number:02}")


class Deal(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.deal = cast.deal(amount="10")
        self.actor: dict[str, Any] = {"alice": cast.alice(), "bob": cast.bob(), "agent": cast.AGENT}
        self.seen: dict[str, Opportunity] = {name: now(self.deal) for name in PLAYERS}
        self.versions: dict[int, dict[str, Any]] = {self.deal.version: self.content()}
        self.notes: list[str] = []
        self.tasks: list[str] = []
        self.sent: list[tuple[Proposal, Outcome]] = []
        self.acts = 0

    # --- what the players do -----------------------------------------------------------------------------------------

    @rule(who=player)
    def reads(self, who: str) -> None:
        self.seen[who] = now(self.deal)

    @rule(who=player, field=st.sampled_from(sorted(FIELDS)), choice=st.integers(0, 2))
    def edits(self, who: str, field: str, choice: int) -> None:
        value = FIELDS[field][choice]
        base, before = read(self.seen[who], [field])[field], self.content()[field]

        outcome = self.act(who, "opportunity.edit", allowed={field}, **{field: value})

        after = self.content()[field]
        if self.closed_to(who):
            assert outcome.result is Result.REFUSED
        elif value in (base, before):
            assert after == before
            assert outcome.done
        elif before == base and self.must_read_again(who):
            assert after == before
            assert outcome.result is Result.CONFLICT
        elif before == base:
            assert after == value
            assert outcome.written
        else:  # two authors, one field, no rule: nobody's value is lost, a person decides
            assert after == before
            assert outcome.result is Result.CONFLICT

    @rule(who=player, value=st.sampled_from(TAGS))
    def tags(self, who: str, value: list[str]) -> None:
        base, before, mine = set(self.seen[who].tags), set(self.content()["tags"]), set(value)

        self.act(who, "opportunity.edit", allowed={"tags"}, tags=value)

        if self.closed_to(who) or self.must_read_again(who) or value == self.seen[who].tags:
            assert set(self.content()["tags"]) == before
        else:
            assert set(self.content()["tags"]) == (before | mine) - ((base - before) | (base - mine))

    @rule(who=player)
    def logs(self, who: str) -> None:
        text = f"note {self.acts}"
        if self.act(who, "opportunity.log", allowed=set(), kind="note", text=text).written:
            self.notes.append(text)

    @rule(who=player, due=day)
    def plans(self, who: str, due: str) -> None:
        title = f"task {self.acts}"
        if self.act(who, "opportunity.plan_task", allowed=NEXT_STEP, title=title, due_on=due).written:
            self.tasks.append(title)

    @rule(due=day)
    def follows_up(self, due: str) -> None:
        """The agent, on what it read: never a second one beside a step that is still ahead."""
        title, had = f"follow-up {self.acts}", self.content()["next_step_on"]
        outcome = self.act("agent", "opportunity.follow_up", allowed=NEXT_STEP, title=title, due_on=due)
        if outcome.written:
            self.tasks.append(title)
            assert had is None
        elif self.content()["status"] == "open" and not (had is None and self.must_read_again("agent")):
            assert outcome.result is Result.SUPERSEDED
            assert had is not None

    @precondition(lambda self: self.tasks)
    @rule(who=player, number=st.integers(0, 99), verb=st.sampled_from(["complete_task", "cancel_task"]))
    def settles_a_task(self, who: str, number: int, verb: str) -> None:
        task = Task.objects.get(opportunity=self.deal, title=self.tasks[number % len(self.tasks)])
        was_open, closed = task.state == TaskState.OPEN, self.closed_to(who) or self.must_read_again(who)
        outcome = self.act(who, f"opportunity.{verb}", allowed=NEXT_STEP, task=task.pk)
        assert outcome.written is (was_open and not closed)
        if not was_open:
            assert outcome.result is Result.SUPERSEDED

    @rule(who=st.sampled_from(["alice", "bob"]), stage=st.sampled_from(["New", "Proposal", "Won", "Lost"]))
    def moves(self, who: str, stage: str) -> None:
        outcome = self.act(who, "opportunity.move", allowed=STAGE, stage=cast.stage(stage).pk, reason="price")
        if outcome.done:
            assert self.content()["stage"] == cast.stage(stage).pk or self.seen[who].stage.name == stage

    @precondition(lambda self: self.sent)
    @rule(number=st.integers(0, 99))
    def sends_again(self, number: int) -> None:
        proposal, first = self.sent[number % len(self.sent)]
        before = now(self.deal).version
        again = gate.commit(proposal)
        assert again.result is Result.DUPLICATE
        assert again.settled == first
        assert now(self.deal).version == before

    # --- one act, and what must be true of every one ------------------------------------------------------------------

    def act(self, who: str, action: str, *, allowed: set[str], **params: Any) -> Outcome:
        self.acts += 1
        before, version = self.content(), now(self.deal).version
        key = f"{self.deal.pk}:{self.acts}"
        proposal = wish(action, self.seen[who], by=self.actor[who], key=key, **params)

        outcome = gate.commit(proposal)

        after, found = self.content(), now(self.deal).version
        assert found == version + (1 if outcome.written else 0)
        moved = {name for name in after if after[name] != before[name]}
        assert moved <= (allowed if outcome.written else set())
        if outcome.written:
            self.versions[found] = after
            assert outcome.version == found
            assert outcome.result is Result.APPLIED or self.seen[who].version < version
        else:
            assert outcome.unchanged or outcome.record
        self.sent.append((proposal, outcome))
        return outcome

    def closed_to(self, who: str) -> bool:
        """An agent changes nothing of a deal that is closed."""
        return who == "agent" and self.content()["status"] != "open"

    def must_read_again(self, who: str) -> bool:
        """The deal was closed, or opened again, after the agent read it."""
        states = [self.versions[version]["status"] for version in range(self.seen[who].version, max(self.versions) + 1)]
        return who == "agent" and len(set(states)) > 1

    def content(self) -> dict[str, Any]:
        return read(now(self.deal), Opportunity.content_fields())

    # --- invariants ---------------------------------------------------------------------------------------------------

    @invariant()
    def history_is_complete(self) -> None:
        assert sorted(self.versions) == list(range(1, max(self.versions) + 1))
        latest = max(self.versions)
        for version in {1, latest, (1 + latest) // 2}:
            assert values_at(Ref.of(self.deal), version) == self.versions[version]

    @invariant()
    def the_next_step_is_the_earliest_open_task(self) -> None:
        deal = now(self.deal)
        step = earliest(deal.tasks.all())
        assert (deal.next_step, deal.next_step_on) == ((step.title, step.due_on) if step else ("", None))

    @invariant()
    def what_was_acknowledged_is_there_once_and_nothing_else_is(self) -> None:
        notes = Activity.objects.filter(opportunity=self.deal, kind="note").values_list("text", flat=True)
        assert sorted(notes) == sorted(self.notes)
        assert sorted(self.deal.tasks.values_list("title", flat=True)) == sorted(self.tasks)


NEXT_STEP = {"next_step", "next_step_on", "next_step_at"}
STAGE = {"stage", "stage_since", "status", "closed_on", "lost_reason"} | NEXT_STEP


@pytest.mark.django_db(transaction=True)
def test_nobodys_work_is_lost_in_any_order() -> None:
    run_state_machine_as_test(
        Deal,
        settings=settings(
            max_examples=20,
            stateful_step_count=25,
            report_multiple_bugs=False,
            deadline=None,
            phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.target],
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
