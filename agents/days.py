"""Working days: Monday to Friday. Pure functions of dates; whose day it is stands in the snapshot."""

import datetime as dt

SATURDAY = 5


def is_working(day: dt.date) -> bool:
    return day.weekday() < SATURDAY


def on_or_after(day: dt.date) -> dt.date:
    """`day` itself, or the Monday after it."""
    while not is_working(day):
        day += dt.timedelta(days=1)
    return day


def working_days_after(day: dt.date, count: int) -> dt.date:
    """The `count`-th working day after `day`: from a Friday, 1 is Monday and 2 is Tuesday."""
    for _ in range(count):
        day = on_or_after(day + dt.timedelta(days=1))
    return day
