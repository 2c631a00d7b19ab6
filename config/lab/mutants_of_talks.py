"""Mutants of the conversations: one protection out of accepting, turn or last look, and the race that is then lost.

Where one protection stands behind another, so that the second cannot be seen while the first holds, both are taken out.
Listed by `config/lab/mutants.py`.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from unittest.mock import patch

from agents import replies
from config.lab.taking_out import Mutant, put, rewritten, unruled, without_constraint, without_index
from conflicts import actions, leases
from crm import accepting
from crm.actions import conversation_outbound
from crm.channels import sending


@contextmanager
def told_again() -> Iterator[None]:
    """An event is known by its idempotency key, by a look, and by a unique key: all three."""
    with (
        put(accepting, "_key", lambda *args: uuid.uuid4().hex),
        unruled("conversation.receive"),
        without_index("one_message_per_provider_id"),
    ):
        yield


@contextmanager
def strangers_each() -> Iterator[None]:
    """A conversation is found or made under a lock, by a look, and under a unique key: all three."""
    lock = "pg_advisory_xact_lock(hashtextextended(%s, 0))"
    with (
        rewritten(accepting, ("conversation_of", lock, "hashtextextended(%s, 0)")),
        unruled("conversation.open"),
        without_constraint("crm_conversation", "one_conversation_per_peer"),
    ):
        yield


@contextmanager
def unarmed() -> Iterator[None]:
    """A message is stored, and the timer is armed by somebody else, later, or never."""
    honest = actions.get("conversation.receive")
    with patch.dict(actions._ACTIONS, {"conversation.receive": replace(honest, also=None)}):
        yield


@contextmanager
def unheard_persons() -> Iterator[None]:
    """The action knows the function, and not its name."""
    change = ("_withdraw", 'answered = max([sent["answered"], *counters])', 'answered = sent["answered"]')
    honest = actions.get("conversation.withdraw")
    with rewritten(conversation_outbound, change):
        blind = replace(honest, apply=conversation_outbound._withdraw)
        with patch.dict(actions._ACTIONS, {"conversation.withdraw": blind}):
            yield


_CHECK_TURN = partial(rewritten, conversation_outbound)

OF_TALKS = [
    Mutant(
        name="inbound_counter",
        takes_out="the comparison of the customer's messages with those that the answer has seen",
        out=partial(_CHECK_TURN, ("check_turn", "if conversation.inbound_count == counter:", "if True:")),
        lost=("message_as_the_timer_fires",),
    ),
    Mutant(
        name="owner_epoch",
        takes_out="the comparison of the owner, and of the epoch in which the draft was begun",
        out=partial(
            _CHECK_TURN,
            ("check_turn", "not conversation.is_agents or conversation.owner_epoch != epoch", "False"),
        ),
        lost=("person_takes_over_mid_draft",),
    ),
    Mutant(
        name="turn_lease",
        takes_out="the compare-and-swap by which one worker has a turn",
        out=partial(
            put,
            leases,
            "_ACQUIRE",
            leases._ACQUIRE.replace("WHERE l.holder = '' OR l.expires_at <= clock_timestamp()", "WHERE true"),
        ),
        lost=("timer_rings_twice",),
    ),
    Mutant(
        name="lease_on_the_reply",
        takes_out="the fencing token on the answer's one write",
        out=partial(rewritten, replies, ("_commit", "lease=grant.claim,", "lease=None,")),
        lost=("turn_outlives_its_lease",),
    ),
    Mutant(
        name="last_look",
        takes_out="the last look before a message leaves",
        out=partial(put, sending, "_refusal", lambda message: None),
        lost=("queued_answer_overtaken",),
    ),
    Mutant(
        name="way_for_the_next",
        takes_out="the taking back of an answer that still waits when the next turn begins",
        out=partial(put, sending, "make_way", lambda conversation: sending.Way.FREE),
        lost=("burst_without_a_window",),
    ),
    Mutant(
        name="provider_id",
        takes_out="the unique provider id, with the look and the key that stand before it",
        out=told_again,
        lost=("provider_repeats_an_event",),
    ),
    Mutant(
        name="one_conversation",
        takes_out="the unique key of a conversation, with the look and the lock that stand before it",
        out=strangers_each,
        lost=("album_of_a_stranger",),
    ),
    Mutant(
        name="timer_with_the_message",
        takes_out="the timer that is armed in the transaction of the message",
        out=unarmed,
        lost=("message_as_the_timer_fires",),
    ),
    Mutant(
        name="final_answer",
        takes_out="the bound on how often an answer may be begun anew",
        out=partial(rewritten, replies, ("_turn", "timer.drops >= MOST_DROPS", "False")),
        lost=("typist_never_stops",),
    ),
    Mutant(
        name="lines_from_the_past",
        takes_out="the line between what is new and what only arrives now",
        out=partial(rewritten, accepting, ("_receive", '"late": old,', '"late": False,')),
        lost=("line_from_the_past",),
    ),
    Mutant(
        name="answered_by_a_person",
        takes_out="the look at who has spoken since, when an answer is taken back",
        out=unheard_persons,
        lost=("queued_answer_overtaken",),
    ),
]
