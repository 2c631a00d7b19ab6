"""The hub: one Redis subscription per web process and loop, shared by all streams that it feeds.

Guarantees that a stream hears only of subjects its viewer may see (whose it is, is looked up once per change, and the
database connection given back at once), that a slow reader is cut off rather than remembered without end, and that
the subscription ends with the last stream. A hint only: whoever misses one asks again (`crm/views/live.py`).
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import redis
import redis.asyncio
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import DatabaseError, connections

from conflicts.refs import Ref
from crm import live, presence
from crm.models import AccessRequest, Conversation, User
from crm.models.user import Role

logger = logging.getLogger(__name__)

QUEUE = 100
"""Unread news of one stream; with more it is closed, and the browser comes back and asks what it missed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """Who may hear of one subject; whoever sees everything always may, unless it is not there."""

    everyone: bool = False
    team: int | None = None
    people: frozenset[int] = frozenset()
    """Those beyond the team: to whom it was granted, or whom it concerns."""


EVERYONE = Audience(everyone=True)
NOBODY = Audience()
"""Of what is not there nobody hears."""


@dataclass(eq=False)
class Listener:
    team: int | None
    sees_everything: bool
    user: int | None = None
    watches: str = ""
    """The subject whose presence it shows."""
    only: str = ""
    """The one subject it hears of; empty for all."""
    queue: asyncio.Queue[dict[str, Any] | None] = field(default_factory=lambda: asyncio.Queue(QUEUE))

    def hears(self, news: dict[str, Any], audience: Audience) -> bool:
        return (not self.only or news.get("subject", self.only) == self.only) and self.may_see(audience)

    def may_see(self, audience: Audience) -> bool:
        if audience is NOBODY:
            return False
        of_team = audience.team is not None and audience.team == self.team
        return audience.everyone or self.sees_everything or of_team or self.user in audience.people

    def put(self, news: dict[str, Any] | None) -> None:
        try:
            self.queue.put_nowait(news)
        except asyncio.QueueFull:
            while not self.queue.empty():
                self.queue.get_nowait()
            self.queue.put_nowait(None)


OWNED = {
    **dict.fromkeys(("crm.opportunity", "crm.contract", "crm.invoice"), ("team_id", "company_id")),
    "crm.conversation": ("opportunity__team_id", "opportunity__company_id"),
    "crm.ticket": ("team_id", None),
}
"""Where a subject says whose it is: its team, and the company by which it can be granted."""


def audience_of(ref: Ref) -> Audience:
    """The team whose deal it is, and to whom that was granted; of companies and contacts everybody hears.

    Of a request for access: whoever may see it (`AccessQuerySet.visible_to`).
    """
    try:
        if ref.label == "crm.accessrequest":
            return _of_request(ref.pk)
        if ref.label not in OWNED:
            return EVERYONE
        team_at, company_at = OWNED[ref.label]
        names = [team_at, *([company_at] if company_at else [])]
        found = ref.model._default_manager.filter(pk=ref.pk).values_list(*names).first()
        if found is None:
            return NOBODY
        team, company = (*found, None)[:2]
        if team is None:
            return EVERYONE
        granted = AccessRequest.objects.in_force().opening(team=team, company=company) if company_at else None
        people = frozenset(granted.values_list("person", flat=True)) if granted is not None else frozenset()
        return Audience(team=team, people=people)
    finally:
        connections.close_all()


def _of_request(pk: int) -> Audience:
    asked = AccessRequest.objects.filter(pk=pk).values_list("person", "person__team", "team").first()
    if asked is None:
        return NOBODY
    person, *teams = asked
    managers = User.objects.filter(role=Role.MANAGER, team__in=[team for team in teams if team])
    return Audience(people=frozenset({person, *managers.values_list("pk", flat=True)}))


def places_of(ref: Ref) -> list[str]:
    """Other subjects on whose pages it is shown: a conversation on those of its deal and its contact."""
    if ref.label != "crm.conversation":
        return []
    try:
        found = Conversation.objects.filter(pk=ref.pk).values_list("opportunity", "contact").first()
    finally:
        connections.close_all()
    labels = ("crm.opportunity", "crm.contact")
    return [str(Ref(label, pk)) for label, pk in zip(labels, found or (), strict=False) if pk is not None]


class Hub:
    def __init__(self) -> None:
        self.listeners: set[Listener] = set()
        self.task: asyncio.Task[None] | None = None
        self.subscribed = False

    @asynccontextmanager
    async def listening(self, listener: Listener) -> AsyncIterator[Listener]:
        self.listeners.add(listener)
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._run())
        elif self.subscribed:
            listener.put({"kind": "ready"})
        try:
            yield listener
        finally:
            self.listeners.discard(listener)
            if not self.listeners and self.task:
                self.task.cancel()
                self.task = None

    async def _run(self) -> None:
        """Feed the listeners; without Redis end their streams, so that the browsers fall back to asking."""
        client = redis.asyncio.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2, health_check_interval=25)
        try:
            async with client.pubsub(ignore_subscribe_messages=True) as channel:
                await channel.subscribe(live.CHANNEL, presence.CHANNEL)
                self.subscribed = True
                self._tell({"kind": "ready"}, EVERYONE)
                async for message in channel.listen():
                    await self._pass_on(message["channel"].decode(), message["data"])
        except (redis.RedisError, OSError) as error:
            logger.warning("The live stream is cut: %s", error)
            for listener in self.listeners:
                listener.put(None)
        finally:
            self.subscribed = False
            await client.aclose()

    async def _pass_on(self, channel: str, data: bytes) -> None:
        if channel == presence.CHANNEL:
            await self._tell_presence(data.decode())
            return
        change = json.loads(data)
        try:
            subject = Ref.parse(change["subject"])
            audience = await sync_to_async(audience_of, thread_sensitive=False)(subject)
            places = await sync_to_async(places_of, thread_sensitive=False)(subject)
        except DatabaseError as error:
            logger.warning("Nobody is told of %s: %s", change["subject"], error)
            return
        self._tell({"kind": "changed", **change, "places": places}, audience)

    async def _tell_presence(self, subject: str) -> None:
        for listener in self.listeners:
            if listener.watches == subject:
                listener.put({"kind": "here", "subject": subject})

    def _tell(self, news: dict[str, Any], audience: Audience) -> None:
        for listener in self.listeners:
            if listener.hears(news, audience):
                listener.put(news)


_HUBS: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """The hub of the running loop."""
    return _HUBS.setdefault(asyncio.get_running_loop(), Hub())
