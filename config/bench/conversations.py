"""Conversations: how fast a customer's message is accepted, and how fast turns are taken when the model costs nothing.

Accepting is measured alone and by four at once, each message in a transaction of its own on a conversation that others
do not write to: as a call, and as a provider's signed webhook over HTTP to the real server, which rings for workers on
a broker of the bench's own. As a call nobody is rung for: it is accepting that is measured, and the figures beside each
other say what HTTP and the bell cost.
"""

import http.client
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from statistics import median
from unittest.mock import patch

from django.conf import settings
from django.db import connections

from agents import replies, turns
from agents.responders.port import Answer, Prompt
from config.bench import Figure
from config.bench.serving import server
from config.lab.broker import Broker
from conflicts import actors, bell, gate, limits, partitions, running
from conflicts.proposals import Proposal
from crm import accepting, live
from crm.channels import specimens
from crm.channels.events import Incoming
from crm.models import ChannelAccount, Conversation

PEERS = 50
MESSAGES = 200
DOORS = 4
WORKERS = min(2, os.cpu_count() or 1)
"""Of the web server: as many as `manage.py run` starts."""
ROUNDS = 3
NUMBER, SECRET = "15550001111", "bench"

type Tell = Callable[[str], None]
"""One message of this peer, told and acknowledged."""

_numbers = count()


class Instant:
    name = "bench"

    def answer(self, prompt: Prompt) -> Answer:
        return Answer(text="Here you are.", calls=1)


def measure() -> list[Figure]:
    with _unheard():
        chat = _account("webchat", "bench")
        figures, called = _accepting("message accepted", lambda: lambda peer: _take(chat, peer))
        figures += _turns(called)
    _account("whatsapp", NUMBER)
    env = {"VIGENTE_WHATSAPP_APP_SECRET": SECRET, "LOG_LEVEL": "CRITICAL"}
    with Broker() as broker, server({**env, "REDIS_URL": broker.url}, workers=WORKERS) as port:
        over_http, posted = _accepting("message accepted over HTTP", lambda: _post(port))
    return [*figures, *over_http, Figure(name="over HTTP / as a call", value=called / posted, unit="x the time")]


@contextmanager
def _unheard() -> Iterator[None]:
    with ExitStack() as quiet:
        for module in (bell, turns):
            quiet.enter_context(patch.object(module, "ring", lambda *args, **more: False))
        quiet.enter_context(patch.object(live, "publish", lambda *args, **more: None))
        quiet.enter_context(patch.object(live, "nudge", lambda *args, **more: None))
        quiet.enter_context(patch.object(limits, "take", lambda *args, **more: limits.Allowance(allowed=True)))
        yield


def _account(provider: str, address: str) -> ChannelAccount:
    values = {"name": provider, "provider": provider, "medium": provider, "address": address}
    pace = {"quiet_seconds": 0, "cap_seconds": 0}
    gate.commit(Proposal(action="channel.create", by=actors.SYSTEM, params=values | pace))
    return ChannelAccount.objects.get(provider=provider)


# ---- accepting


def _accepting(name: str, door: Callable[[], Tell]) -> tuple[list[Figure], float]:
    """The figures, and messages per second through one door."""
    first = door()
    for peer in _peers(0):
        first(peer)  # everybody is known; a stranger costs a contact and a conversation besides
    alone: list[float] = []
    together: list[float] = []
    for _ in range(ROUNDS):
        alone += _timed(first, _peers(0), MESSAGES)
        together.append(_at_once(door))
    rate, many = len(alone) / sum(alone), median(together)
    return [
        Figure(name=name, value=median(alone) * 1000, unit="ms, median", note=f"{len(alone)} messages"),
        Figure(name=f"{name}, one door", value=rate, unit="messages/s"),
        Figure(name=f"{name}, {DOORS} doors", value=many, unit="messages/s", note=f"{many / rate:.2f} x one door"),
    ], rate


def _peers(door: int) -> list[str]:
    return [f"55119{door}{number:06}" for number in range(PEERS)]


def _timed(tell: Tell, peers: list[str], messages: int) -> list[float]:
    taken = []
    for number in range(messages):
        start = time.perf_counter()
        tell(peers[number % len(peers)])
        taken.append(time.perf_counter() - start)
    return taken


def _at_once(door: Callable[[], Tell]) -> float:
    """Messages per second of all doors together, strangers not counted."""
    ready = threading.Barrier(DOORS + 1)
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            tell, peers = door(), _peers(number + 1)
            for peer in peers:
                tell(peer)
            ready.wait()
            _timed(tell, peers, MESSAGES)
        except BaseException as error:
            failed.append(error)
            ready.abort()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(DOORS)]
    for thread in threads:
        thread.start()
    ready.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return DOORS * MESSAGES / (time.perf_counter() - start)


def _take(chat: ChannelAccount, peer: str) -> None:
    event = Incoming(provider_id=f"m{next(_numbers)}", peer=peer, name=peer, text="Is the offer still good?")
    [taken] = accepting.take(chat, [event])
    if taken.how is not accepting.Took.STORED:
        raise RuntimeError(f"A message was {taken.how}.")


def _post(port: int) -> Tell:
    """Over one kept connection, signed."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    host = (settings.ALLOWED_HOSTS or ["127.0.0.1"])[0].strip(".*") or "127.0.0.1"

    def tell(peer: str) -> None:
        message_id, now = f"wamid.{next(_numbers)}", int(time.time())
        post = specimens.whatsapp_message("Still good?", number=NUMBER, sender=peer, message_id=message_id, at=now)
        raw, headers = specimens.signed_whatsapp(post, secret=SECRET)
        line.request("POST", "/webhooks/whatsapp/", body=raw, headers={**headers, "Host": host})
        answer = line.getresponse()
        answer.read()
        if answer.status != 200:
            raise RuntimeError(f"The webhook answers {answer.status}.")

    return tell


# ---- turns


def _turns(accepted: float) -> list[Figure]:
    talks = list(Conversation.objects.order_by("pk").values_list("pk", flat=True))
    start = time.perf_counter()
    for pk in talks:
        if replies.take_turn(pk, responder=Instant()) is not replies.End.QUEUED:
            raise RuntimeError("A turn was not taken.")
    turned = len(talks) / (time.perf_counter() - start)
    start = time.perf_counter()
    while any(running.run_next(partition) for partition in range(partitions.count())):
        pass
    delivered = len(talks) / (time.perf_counter() - start)
    return [
        Figure(name="turn, model that costs nothing", value=turned, unit="turns/s", note=f"one worker, {len(talks)}"),
        Figure(name="answer delivered", value=delivered, unit="answers/s", note="one worker"),
        Figure(name="turn / message accepted", value=accepted / turned, unit="x the time"),
    ]
