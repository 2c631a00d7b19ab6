"""Mutants: the house with one protection taken out, in a process of its own, to see that its race is then lost.

Guarantees that a race which is green has been seen red: a protection whose absence nobody notices is either needless or
untested. The tools are in `config/lab/taking_out.py`. Next in the flow: `config/lab/mutation.py`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

from agents import execution, recommendations, rights, states
from config.lab import scratch
from config.lab.mutants_of_talks import OF_TALKS
from config.lab.taking_out import Mutant, put, rewritten, unruled, without_constraint, without_index
from conflicts import guard, judging, leases, ledger, outbox, policing, reading, records, settling, writing
from conflicts.merging import Merged
from crm.models.moves import MoveGuard


@contextmanager
def unlocked() -> Iterator[None]:
    honest = reading.Rows.__init__

    def without_lock(self: Any, *args: Any, lock: bool = False, **more: Any) -> None:
        honest(self, *args, **more)

    with patch.object(reading.Rows, "__init__", without_lock):
        yield


@contextmanager
def unlocked_and_uncompared() -> Iterator[None]:
    """The second line cannot be seen while the first holds: both are taken out."""
    with unlocked(), rewritten(writing, ("_update_sql", '" AND version = %s"', '" AND %s > 0"')):
        yield


@contextmanager
def collecting_blindly() -> Iterator[None]:
    """Two lines stand before what was paid: the action's own look, and the table of moves in the database."""
    with unruled("invoice.start_collection"), scratch.unguarded(MoveGuard):
        yield


@contextmanager
def reopened() -> Iterator[None]:
    """Three lines guard a deal that was closed meanwhile: the action's own rule and two of its policy."""
    with unruled("opportunity.edit"), put(policing, "before", _lets_pass), put(policing, "reread", _lets_pass):
        yield


def _lets_pass(work: Any) -> None:
    return None


@contextmanager
def unread() -> Iterator[None]:
    """What moved is looked up, and nothing of it counts as rested upon, nor as a change that demands a fresh look."""
    honest = judging.look

    def look(work: Any) -> set[str]:
        honest(work)
        return set()

    with put(judging, "look", look), put(policing, "reread", _lets_pass):
        yield


@contextmanager
def uncompared_card() -> Iterator[None]:
    blind = rewritten(rights, ("check_approve", "shown and shown !=", "False and shown !="))
    with (
        blind,
        patch.object(recommendations, "check_approve", lambda *args, **more: rights.check_approve(*args, **more)),
    ):
        yield


@contextmanager
def unswapped() -> Iterator[None]:
    """A suggestion is moved from whatever state it is in; `move` is known by name in several modules."""

    def move(*args: Any, **more: Any) -> bool:
        return states.move(*args, **more)

    blind = rewritten(states, ("move", "state__in=of, revision=recommendation.revision", ""))
    with blind, patch.object(recommendations, "move", move), patch.object(execution, "move", move):
        yield


@contextmanager
def unpromised() -> Iterator[None]:
    """The second line cannot be seen while the first holds: both are taken out."""
    with unruled("stock.reserve"), without_constraint("crm_stockitem", "promised_is_on_hand"):
        yield


@contextmanager
def unclaimed() -> Iterator[None]:
    """Behind the rule stand the policy's demand to read again, and the merge of a state that two have changed."""
    behind = put(judging, "merge", lambda *, proposed, **more: Merged(proposed))
    with unruled("ticket.move"), put(policing, "reread", lambda work: None), behind:
        yield


_JUDGE = partial(rewritten, judging)
_IN_FORCE = partial(rewritten, leases)

MUTANTS = [
    Mutant(
        name="row_lock",
        takes_out="the lock on the rows that a decision rests on",
        out=unlocked,
        lost=("compatible_edits",),
        rounds=60,
    ),
    Mutant(
        name="version_condition",
        takes_out="the version in the UPDATE's WHERE (with the lock, its first line)",
        out=unlocked_and_uncompared,
        lost=("two_savers_of_one_field",),
        rounds=60,
    ),
    Mutant(
        name="subject_guard",
        takes_out="the trigger that refuses a version nobody compared",
        out=partial(scratch.unguarded, guard.SubjectGuard),
        lost=("door_that_forgot_the_check",),
    ),
    Mutant(
        name="child_guard",
        takes_out="the trigger that refuses a child without its subject's version",
        out=partial(scratch.unguarded, guard.ChildGuard),
        lost=("child_written_beside_its_record",),
    ),
    Mutant(
        name="ledger_lookup",
        takes_out="the first question: have I done this already?",
        out=partial(_JUDGE, ("judge", "answered.get(proposal.key)", "None")),
        lost=("message_redelivered",),
    ),
    Mutant(
        name="ledger_entry",
        takes_out="the ledger's row in the transaction of the effect",
        out=partial(put, ledger, "write", lambda *args: None),
        lost=("message_redelivered",),
    ),
    Mutant(
        name="answers_to_the_asker",
        takes_out="the line between an answer about the work and one about who asked",
        out=partial(put, ledger, "ABOUT_THE_ASKER", frozenset({"key_reused"})),
        lost=("stale_holder_asks_first", "wrong_yes_asks_first"),
    ),
    Mutant(
        name="conflict_still_open",
        takes_out="the question whether a conflict still waits, is as it was shown, and is nobody else's to decide",
        out=partial(put, settling, "too_late", lambda work: None),
        lost=("two_reviewers_press_at_once", "decision_after_claim_ran_out"),
    ),
    Mutant(
        name="message_state",
        takes_out="the question whether a message still waits when a person takes it back",
        out=partial(rewritten, outbox, ("drop", "message.state != Delivery.QUEUED", "False")),
        lost=("taken_back_yet_sent",),
    ),
    Mutant(
        name="key_fingerprint",
        takes_out="the comparison of the content under one key",
        out=partial(_JUDGE, ("judge", "entry.fingerprint != proposal.fingerprint", "False")),
        lost=("same_key_other_content",),
    ),
    Mutant(
        name="read_set",
        takes_out="the comparison of what the decision rested on",
        out=unread,
        lost=("bulk_owner_change",),
        rounds=40,
    ),
    Mutant(
        name="merge_policy",
        takes_out="the policy of a field that two have changed",
        out=partial(put, judging, "merge", lambda *, proposed, **more: Merged(proposed)),
        lost=("two_savers_of_one_field",),
    ),
    Mutant(
        name="base_from_history",
        takes_out="the base of the three-way merge: what the form was opened with",
        out=partial(_JUDGE, ("merge_writes", "base = {name: known.get(name) for name in wanted}", "base = current")),
        lost=("autosave_of_a_whole_form",),
    ),
    Mutant(
        name="lease_check",
        takes_out="the second question: am I still the one?",
        out=partial(put, leases, "in_force", lambda claims: set(claims)),
        lost=("same_worker_name_new_life",),
    ),
    Mutant(
        name="lease_clock",
        takes_out="the clock that goes on inside a transaction",
        out=partial(_IN_FORCE, ("in_force", "expires_at > clock_timestamp()", "expires_at > now()")),
        lost=("lease_judged_by_a_frozen_clock",),
    ),
    Mutant(
        name="lease_row_lock",
        takes_out="the lock on the lease's row",
        out=partial(_IN_FORCE, ("in_force", "ORDER BY key FOR UPDATE", "ORDER BY key")),
        lost=("takeover_while_waiting_for_a_row",),
    ),
    Mutant(
        name="approval_fingerprint",
        takes_out="the third question: is the yes to this content?",
        out=partial(_JUDGE, ("judge", "proposal.approval.fingerprint != proposal.fingerprint", "False")),
        lost=("approved_x_executed_y",),
    ),
    Mutant(
        name="card_fingerprint",
        takes_out="the comparison of the card that was shown with the one that stands",
        out=uncompared_card,
        lost=("two_superseded_cards_open", "approved_x_executed_y"),
    ),
    Mutant(
        name="approval_expiry",
        takes_out="the end of a yes",
        out=partial(rewritten, judging, ("outlived", "approval.expires_at <= work.now", "False")),
        lost=("a_yes_that_has_run_out",),
    ),
    Mutant(
        name="policy_of_approvals",
        takes_out="what the policy says voids a yes, and what it says must be read again",
        out=partial(
            rewritten,
            policing,
            ("before", "if work.proposal.approval:", "if False:"),
            ("reread", "work.by.kind is not Kind.AGENT", "True"),
        ),
        lost=("approved_at_seven_record_at_nine",),
    ),
    Mutant(
        name="suggestion_swap",
        takes_out="the compare-and-swap on a suggestion's state",
        out=unswapped,
        lost=("two_reviewers_at_once",),
    ),
    Mutant(
        name="one_open_suggestion",
        takes_out="the unique key of open suggestions",
        out=partial(without_index, "one_open_suggestion"),
        lost=("two_sweeps_at_once",),
        rounds=40,
    ),
    Mutant(
        name="closed_rule",
        takes_out="the rule that an agent leaves closed deals alone, and the policy that says so too",
        out=reopened,
        lost=("closed_while_an_agent_saves",),
    ),
    Mutant(
        name="paid_is_paid",
        takes_out="the look at what was paid before collection starts, and the database's table of moves",
        out=collecting_blindly,
        lost=("paid_then_collected",),
    ),
    Mutant(
        name="goal_met",
        takes_out="the question whether the goal is met already",
        out=partial(unruled, "opportunity.follow_up"),
        lost=("two_agents_see_no_follow_up",),
    ),
    Mutant(
        name="one_unit_one_promise",
        takes_out="the rule, and the database's own, that no unit is promised twice",
        out=unpromised,
        lost=("last_unit_promised_twice",),
    ),
    Mutant(
        name="still_free",
        takes_out="the question whether the next ticket is free still",
        out=partial(unruled, "ticket.take_next"),
        lost=("take_next_ticket_twice",),
    ),
    Mutant(
        name="claimed_by_a_person",
        takes_out="the rule that agents leave alone what a person took, with what stands behind it",
        out=unclaimed,
        lost=("agent_closes_claimed_ticket",),
    ),
    Mutant(
        name="examined_content",
        takes_out="the comparison of what is granted with what was examined",
        out=partial(unruled, "access.grant"),
        lost=("access_granted_on_old_version",),
    ),
    Mutant(
        name="evidence",
        takes_out="the record of what was turned away",
        out=partial(put, records, "leaves_record", lambda outcome: False),
        lost=("two_savers_of_one_field",),
    ),
    *OF_TALKS,
]


class NoSuchMutant(Exception):
    """Names it and the ones there are."""


def find(names: list[str]) -> list[Mutant]:
    """Those named; all for none. Raises NoSuchMutant."""
    known = {mutant.name: mutant for mutant in MUTANTS}
    if unknown := [name for name in names if name not in known]:
        raise NoSuchMutant(f"There is no mutant {', '.join(map(repr, unknown))}. There are: {', '.join(known)}.")
    return [known[name] for name in names] or MUTANTS
