"""The database's clock, for the ORM: the one clock that all workers share, whatever their own say.

`Now()` is the transaction's start and stands still in it; this moves on, which is what an expiry must be judged by.
"""

from django.db.models import DateTimeField, Func


class ClockTimestamp(Func):
    function = "clock_timestamp"
    arity = 0
    output_field = DateTimeField()
