"""What day it is for a person. The domain never asks the wall: the time comes in, the zone is the person's."""

import datetime as dt
import zoneinfo

from django.conf import settings

from crm.models.user import User


def zone_of(user: User | None) -> zoneinfo.ZoneInfo:
    """The person's time zone, else the workspace's."""
    return zoneinfo.ZoneInfo((user.time_zone if user else "") or settings.TIME_ZONE)


def today_for(user: User | None, *, now: dt.datetime) -> dt.date:
    """The day it is at `now` where `user` works."""
    return now.astimezone(zone_of(user)).date()
