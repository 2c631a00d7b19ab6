"""The database's clock, for the ORM: the one clock that all workers share, whatever their own say.

`Now()` is the transaction's start and stands still in it; this moves on, which is what an expiry must be judged by.
"""

import datetime as dt

from django.db import connection
from django.db.models import DateTimeField, Func


class ClockTimestamp(Func):
    function = "clock_timestamp"
    arity = 0
    output_field = DateTimeField()


def database_now() -> dt.datetime:
    """What time it is there, now."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        found: dt.datetime = cursor.fetchone()[0]
        return found
