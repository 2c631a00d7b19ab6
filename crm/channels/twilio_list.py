"""Twilio's list of messages, for one of ours whose answer was lost: it keeps no key, but who, to whom, what and when.

Guarantees that only one message which fits in all four, and is none of ours that we know of, counts as found. None
found is no proof that there is none: the list may lag behind, and then a person looks.
"""

import datetime as dt
from email.utils import parsedate_to_datetime
from typing import Any

from conflicts.destinations import Found, Missing, ReadBack
from conflicts.models.outbox import OutboxMessage
from crm.models import ChannelAccount

CLOCKS_APART = dt.timedelta(minutes=1)


def query(account: ChannelAccount, key: str) -> dict[str, str]:
    message = OutboxMessage.objects.get(key=key)
    return {"To": message.payload["to"], "From": account.address, "PageSize": "50"}


def find(listed: dict[str, Any], key: str) -> ReadBack:
    message = OutboxMessage.objects.get(key=key)
    rows = listed.get("messages")
    fitting = [row for row in rows if isinstance(row, dict) and _fits(row, message)] if isinstance(rows, list) else []
    found = {str(row.get("sid")) for row in fitting if row.get("sid")}
    known = OutboxMessage.objects.filter(subject=message.subject, remote_id__in=found).values_list(
        "remote_id", flat=True
    )
    left = found - set(known)
    return Found(left.pop()) if len(left) == 1 else Missing.CANNOT_TELL


def _fits(row: dict[str, Any], message: OutboxMessage) -> bool:
    """Its body ends with our words: a trial account puts a sentence of its own before them."""
    made = _time(row.get("date_created"))
    since = message.sending_at
    return (
        made is not None
        and since is not None
        and made >= since - CLOCKS_APART
        and row.get("to") == message.payload["to"]
        and str(row.get("body") or "").endswith(message.payload["text"])
    )


def _time(text: object) -> dt.datetime | None:
    try:
        then = parsedate_to_datetime(str(text))
    except (ValueError, TypeError):
        return None
    return then if then.tzinfo else then.replace(tzinfo=dt.UTC)
