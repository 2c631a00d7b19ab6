"""Timers: when the agent's next answer is due, computed by the database from the rows in force.

Guarantees that a deadline is a function of the conversation (quiet window from the last message, hard cap from the
first unanswered one, at once from so many messages on) and never a copy that somebody carried around: whoever arms
twice, or late, writes the same. Called in the transaction that changed the conversation, whose row is locked by it.
Next in the flow: `agents/turns.py`.
"""

import datetime as dt
from collections.abc import Sequence

from django.db import connection

_ARM = """
    INSERT INTO crm_replytimer AS t (conversation_id, counter, due_at, drops, failures)
    SELECT c.id, c.inbound_count,
           CASE WHEN c.owner_kind <> 'agent' OR c.status <> 'open' OR NOT a.active
                  OR c.inbound_count <= c.answered_count THEN NULL
                WHEN c.inbound_count - c.answered_count >= a.flush_at THEN clock_timestamp()
                ELSE greatest(least(c.last_inbound_at + make_interval(secs => a.quiet_seconds),
                                    c.waiting_since + make_interval(secs => a.cap_seconds)),
                              CASE WHEN %(not_before)s > 0
                                   THEN clock_timestamp() + make_interval(secs => %(not_before)s) END) END,
           coalesce(%(drops)s, 0), coalesce(%(failures)s, 0)
      FROM crm_conversation c JOIN crm_channelaccount a ON a.id = c.account_id
     WHERE c.id = ANY(%(ids)s)
     ORDER BY c.id
    ON CONFLICT (conversation_id) DO UPDATE
       SET counter = excluded.counter, due_at = excluded.due_at, rung_at = NULL,
           drops = coalesce(%(drops)s, t.drops), failures = coalesce(%(failures)s, t.failures)
    RETURNING conversation_id, extract(epoch FROM due_at - clock_timestamp())::float
"""


def arm(
    conversations: Sequence[int], *, drops: int | None = None, failures: int | None = None, not_before: float = 0.0
) -> dict[int, float | None]:
    """Set the timers anew. Conversation -> seconds until it is due, None where nothing is for the agent to answer.

    `drops` and `failures` replace the counts in a row; `not_before` seconds from now at the earliest.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _ARM,
            {"ids": sorted(conversations), "drops": drops, "failures": failures, "not_before": not_before},
        )
        return dict(cursor.fetchall())


def due(*, limit: int) -> list[int]:
    """Conversations whose answer is due and on which nobody works, longest due first; each told once in a while.

    A turn under way keeps its timer: the deadline is the truth until the answer is written, so a worker that dies
    needs nobody to remember it. Its lease keeps others from ringing in vain.
    """
    with connection.cursor() as cursor:
        cursor.execute(_DUE, {"limit": limit, "again": RING_AGAIN.total_seconds()})
        return [pk for (pk,) in cursor.fetchall()]


RING_AGAIN = dt.timedelta(seconds=5)
"""So long a wake-up is given to bring somebody before the next one is sent."""

_DUE = """
    UPDATE crm_replytimer t SET rung_at = clock_timestamp()
     WHERE t.conversation_id IN (
           SELECT d.conversation_id FROM crm_replytimer d
            WHERE d.due_at <= clock_timestamp()
              AND (d.rung_at IS NULL OR d.rung_at <= clock_timestamp() - make_interval(secs => %(again)s))
              AND NOT EXISTS (SELECT FROM conflicts_lease l
                               WHERE l.key = 'turn:' || d.conversation_id AND l.holder <> ''
                                 AND l.expires_at > clock_timestamp())
            ORDER BY d.due_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
    RETURNING t.conversation_id
"""


def turn_key(conversation: int) -> str:
    """The key of the lease under which one conversation is answered."""
    return f"turn:{conversation}"


def seconds_left(conversations: Sequence[int]) -> dict[int, float]:
    """Seconds until each is due (0 where it is due already), without those for which nothing is to be answered."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conversation_id, greatest(extract(epoch FROM due_at - clock_timestamp()), 0)::float"
            " FROM crm_replytimer WHERE conversation_id = ANY(%s) AND due_at IS NOT NULL",
            [list(conversations)],
        )
        return dict(cursor.fetchall())


def idle(*, limit: int) -> list[int]:
    """Open conversations of a person who has given no sign for longer than the channel's limit, longest first."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.id FROM crm_conversation c JOIN crm_channelaccount a ON a.id = c.account_id"
            " WHERE c.owner_kind = 'person' AND c.status = 'open' AND a.give_back_minutes IS NOT NULL AND a.active"
            " AND c.last_human_at <= clock_timestamp() - make_interval(mins => a.give_back_minutes)"
            " ORDER BY c.last_human_at LIMIT %s",
            [limit],
        )
        return [pk for (pk,) in cursor.fetchall()]
