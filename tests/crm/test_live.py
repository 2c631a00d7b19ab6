"""Live: who may hear hears within one message, nobody else does, and no stream holds a database connection."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, connections
from django.test import AsyncClient

from conflicts.refs import Ref
from crm import live, presence
from crm.hub import EVERYONE, NOBODY, Audience, Listener, audience_of, places_of
from crm.models import AccessRequest, Opportunity, User
from tests import cast, governed, papers
from tests.chatting import writes
from tests.crm.deal_pages import signed_in, words


@pytest.fixture(autouse=True)
def nobody_here_yet() -> None:
    live.client().flushdb()


async def aside(work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """In a thread, whose database connection ends with it."""

    def within() -> Any:
        try:
            return work(*args, **kwargs)
        finally:
            connections.close_all()

    return await sync_to_async(within)()


async def stream(user: User, subject: str = "") -> Any:
    client = AsyncClient()
    await aside(client.force_login, user)
    return await client.get("/live/", {"subject": subject} if subject else {})


async def events(response: Any) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    """(name, data) of each event, the heartbeats left out."""
    async for chunk in response.streaming_content:
        lines = dict(line.split(": ", 1) for line in chunk.decode().splitlines() if ": " in line)
        if "event" in lines:
            yield lines["event"], json.loads(lines["data"])


async def following(response: Any, name: str) -> dict[str, Any]:
    async for event, data in events(response):
        if event == name:
            return data
    raise AssertionError("The stream has ended.")


def run(work: Callable[[], Any]) -> Any:
    async def within() -> Any:
        return await asyncio.wait_for(work(), timeout=20)

    return asyncio.run(within())


@pytest.mark.django_db(transaction=True)
def test_a_colleague_s_change_is_told_with_the_version_and_who() -> None:
    deal = cast.deal(amount="1")
    alice, bob = cast.alice(), cast.bob()

    async def work() -> dict[str, Any]:
        response = await stream(alice, f"crm.opportunity:{deal.pk}")
        assert response.headers["Content-Type"] == "text/event-stream"
        heard = events(response)
        while (await anext(heard))[0] != "ready":
            pass
        await aside(cast.propose, "opportunity.edit", deal, by=bob, amount="2")
        while True:
            name, data = await anext(heard)
            if name == "changed":
                await heard.aclose()
                return data

    told = run(work)
    assert told == {
        "subject": f"crm.opportunity:{deal.pk}",
        "version": 2,
        "aspects": ["amount"],
        "by": "Bob Borges",
        "kind": "person",
        "mine": False,
        "places": [],
    }


@pytest.mark.django_db(transaction=True)
def test_another_team_hears_nothing_of_it() -> None:
    hidden = cast.deal("Hidden", amount="1")
    shared = cast.propose("company.create", by=cast.alice(), name="Quillmere").subject
    charlie, alice = cast.charlie(), cast.alice()

    async def work() -> dict[str, Any]:
        heard = events(await stream(charlie))
        while (await anext(heard))[0] != "ready":
            pass
        await aside(cast.propose, "opportunity.edit", hidden, by=alice, amount="2")
        company = await aside(shared.model.objects.get, pk=shared.pk)
        await aside(cast.propose, "company.edit", company, by=alice, sector="Hotels")
        name, data = await anext(heard)
        await heard.aclose()
        assert name == "changed"
        return data

    assert run(work)["subject"] == str(shared)


@pytest.mark.django_db(transaction=True)
def test_a_stream_on_another_team_s_deal_is_not_there() -> None:
    deal = cast.deal()
    charlie = cast.charlie()
    assert run(lambda: stream(charlie, f"crm.opportunity:{deal.pk}")).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_an_open_stream_holds_no_database_connection() -> None:
    deal = cast.deal()
    alice = cast.alice()

    def held() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
            return int(cursor.fetchone()[0])

    before = held()

    async def work() -> int:
        open_ones = []
        for _ in range(5):
            heard = events(await stream(alice, f"crm.opportunity:{deal.pk}"))
            await anext(heard)
            open_ones.append(heard)
        count = await aside(held)
        for heard in open_ones:
            await heard.aclose()
        return count

    # One more at most: the thread that counts may have a connection of its own.
    assert run(work) <= before + 1


@pytest.mark.django_db
def test_check_gives_the_version_in_force_and_hides_what_is_not_theirs() -> None:
    deal = cast.deal(amount="1")
    cast.propose("opportunity.edit", deal, by=cast.bob(), amount="2")
    answer = signed_in(cast.alice()).get("/live/check/", {"subject": f"crm.opportunity:{deal.pk}"}).json()
    assert answer["changed"] == [{"subject": f"crm.opportunity:{deal.pk}", "version": 2}]
    charlie = signed_in(cast.charlie())
    assert charlie.get("/live/check/", {"subject": f"crm.opportunity:{deal.pk}"}).status_code == 404
    assert charlie.get("/live/check/", {"since": "2020-01-01T00:00:00Z"}).json()["changed"] == []


@pytest.mark.django_db
def test_check_lists_what_changed_since_a_time() -> None:
    deal = cast.deal()
    alice = signed_in(cast.alice())
    now = alice.get("/live/check/").json()["now"]
    assert alice.get("/live/check/", {"since": now}).json()["changed"] == []
    cast.propose("opportunity.edit", deal, by=cast.bob(), amount="2")
    changed = alice.get("/live/check/", {"since": now}).json()["changed"]
    assert changed == [{"subject": f"crm.opportunity:{deal.pk}", "version": 2}]


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["subject=x", "subject=crm.user:1", "subject=crm.opportunity:%00", "since=yesterday"])
def test_a_question_that_makes_no_sense_is_answered_400(query: str) -> None:
    assert signed_in(cast.alice()).get(f"/live/check/?{query}").status_code == 400


@pytest.mark.django_db
def test_who_else_is_on_the_deal_is_shown_with_what_they_write() -> None:
    deal = cast.deal()
    bob = signed_in(cast.bob())
    bob.get(f"/deals/{deal.pk}/?edit=amount")
    page = signed_in(cast.alice()).get(f"/deals/{deal.pk}/")
    assert "Bob Borges is editing: amount" in page.content.decode()
    bob.post("/live/here/", {"subject": f"crm.opportunity:{deal.pk}", "doing": "gone"})
    page = signed_in(cast.alice()).get(f"/deals/{deal.pk}/")
    assert "Bob Borges is editing" not in page.content.decode()


@pytest.mark.django_db
def test_presence_is_refused_on_a_deal_of_another_team() -> None:
    deal = cast.deal()
    answer = signed_in(cast.charlie()).post("/live/here/", {"subject": f"crm.opportunity:{deal.pk}"})
    assert answer.status_code == 404
    assert presence.others(Ref.of(deal), user=cast.alice()) == []


@pytest.mark.django_db
def test_without_redis_nobody_is_shown_and_everything_else_works(monkeypatch: pytest.MonkeyPatch) -> None:
    import redis

    dead = redis.Redis.from_url("redis://127.0.0.1:1/0", socket_connect_timeout=0.2)
    monkeypatch.setattr(live, "client", lambda: dead)
    deal = cast.deal(amount="1")
    alice = signed_in(cast.alice())
    assert alice.get(f"/deals/{deal.pk}/").status_code == 200
    assert alice.post("/live/here/", {"subject": f"crm.opportunity:{deal.pk}"}).status_code == 204
    saved = alice.post(f"/deals/{deal.pk}/edit/", {"version": "1", "amount": "2"}, follow=True)
    assert "Amount saved." in words(saved)


def test_of_a_change_the_team_hears_and_whoever_it_was_granted_to_and_nobody_of_what_is_gone() -> None:
    mine, theirs = Listener(team=1, sees_everything=False, user=11), Listener(team=2, sees_everything=False, user=22)
    granted, everything = Listener(team=2, sees_everything=False, user=33), Listener(team=None, sees_everything=True)
    without = Listener(team=None, sees_everything=False)
    everybody = (mine, theirs, granted, everything, without)

    def hear(audience: Audience) -> list[bool]:
        return [listener.may_see(audience) for listener in everybody]

    assert hear(Audience(team=1, people=frozenset({33}))) == [True, False, True, True, False]
    assert hear(Audience(people=frozenset({11}))) == [True, False, False, True, False]
    assert hear(EVERYONE) == [True] * 5
    assert hear(NOBODY) == [False] * 5


@pytest.mark.django_db(transaction=True)
def test_the_audience_is_read_from_the_deal_and_nobody_hears_of_one_that_is_not_there() -> None:
    deal = cast.deal()
    assert audience_of(Ref.of(deal)) == Audience(team=deal.team_id)
    assert audience_of(Ref("crm.opportunity", 10**9)) is NOBODY
    assert audience_of(Ref("crm.accessrequest", 10**9)) is NOBODY
    assert audience_of(Ref("crm.company", 1)) is EVERYONE


@pytest.mark.django_db(transaction=True)
def test_whom_a_deal_was_granted_to_hears_of_it_and_of_its_papers_for_as_long_as_the_grant_lasts() -> None:
    deal, charlie = cast.deal(company=papers.company().pk), cast.charlie()
    contract = papers.contract(opportunity=deal.pk)
    request = governed.ask()
    governed.grant(request)
    for subject in (deal, contract):
        assert audience_of(Ref.of(subject)) == Audience(team=deal.team_id, people=frozenset({charlie.pk}))
    assert audience_of(Ref.of(governed.ticket())) == Audience(team=deal.team_id), "a queue is granted to nobody"
    request.refresh_from_db()
    cast.propose("access.revoke", request, by=cast.manager(), note="Bob is back")
    assert audience_of(Ref.of(deal)) == Audience(team=deal.team_id)


@pytest.mark.django_db(transaction=True)
def test_of_a_request_for_access_hear_exactly_those_who_may_see_it() -> None:
    manager, charlie = cast.manager(), cast.charlie()
    everybody = [manager, charlie, cast.alice(), cast.bob(), cast.administrator()]
    request = governed.ask()
    audience = audience_of(Ref.of(request))
    heard = [
        Listener(team=one.team_id, sees_everything=one.sees_everything, user=one.pk).may_see(audience)
        for one in everybody
    ]
    assert heard == [AccessRequest.objects.visible_to(one).filter(pk=request.pk).exists() for one in everybody]
    assert heard == [True, True, False, False, True]


@pytest.mark.django_db(transaction=True)
def test_an_examiner_s_open_page_is_told_when_the_asker_says_more() -> None:
    request, manager, charlie = governed.ask(), cast.manager(), cast.charlie()

    async def work() -> dict[str, Any]:
        heard = events(await stream(manager, f"crm.accessrequest:{request.pk}"))
        while (await anext(heard))[0] != "ready":
            pass
        await aside(cast.propose, "access.edit", request, by=charlie, may_change=True)
        while True:
            name, data = await anext(heard)
            if name == "changed":
                await heard.aclose()
                return data

    told = run(work)
    assert (told["subject"], told["version"], told["by"]) == (f"crm.accessrequest:{request.pk}", 2, "Charlie Castro")


@pytest.mark.django_db(transaction=True)
def test_a_conversation_names_the_pages_of_its_deal_and_its_contact() -> None:
    deal = cast.deal()
    talk = writes("Hello")
    assert places_of(Ref.of(talk)) == [f"crm.contact:{talk.contact_id}"]
    cast.propose("conversation.link_deal", talk, by=cast.alice(), opportunity=deal.pk)
    assert places_of(Ref.of(talk)) == [f"crm.opportunity:{deal.pk}", f"crm.contact:{talk.contact_id}"]
    assert places_of(Ref.of(deal)) == places_of(Ref("crm.conversation", 10**9)) == []
    assert Opportunity.objects.count() == 1


def test_a_reader_that_does_not_read_is_cut_off() -> None:
    async def work() -> Any:
        slow = Listener(team=None, sees_everything=True)
        for number in range(500):
            slow.put({"kind": "changed", "number": number})
        return [slow.queue.get_nowait() for _ in range(slow.queue.qsize())]

    assert None in run(work)
