"""Suggestions on screen: seen by whom they concern, pressed with and without JavaScript, and never when overtaken."""

import datetime as dt
import re
from typing import Any

import pytest
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from agents import slots, sweeps
from agents.models import Recommendation
from agents.states import State
from crm.models import Opportunity, Task, User
from tests import cast
from tests.agents.suggested import said_yes, shown

pytestmark = pytest.mark.django_db
HTMX = {"HTTP_HX_REQUEST": "true"}


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def suggested(**params: Any) -> Recommendation:
    """A suggestion of today, for a new deal of Alice's."""
    deal = cast.deal(contact=cast.contact(params.pop("contact", "Rui Amaro")).pk, **params)
    sweeps.sweep()
    return Recommendation.objects.select_related("opportunity").get(opportunity=deal)


def url(one: Recommendation, verb: str) -> str:
    return reverse(f"suggestion_{verb}", args=[one.pk])


def press(client: Client, one: Recommendation, verb: str, *, htmx: bool = False, **data: Any) -> Any:
    if verb == "edit":
        data.setdefault("fingerprint", one.proposal().fingerprint)
        data.setdefault("reason", "wrong_time")
    if verb == "approve":
        reader = client.session.get("_auth_user_id") or cast.alice().pk
        data.setdefault("content", shown(one, to=User.objects.get(pk=reader)))
    return client.post(url(one, verb), data, **(HTMX if htmx else {}))


def overtake(one: Recommendation, by: User) -> None:
    deal = Opportunity.objects.get(pk=one.opportunity_id)
    tomorrow = timezone.localdate() + dt.timedelta(days=1)
    assert cast.propose("opportunity.plan_task", deal, by=by, title="Visit", due_on=tomorrow).written


def test_the_list_shows_what_why_whether_still_so_and_a_way_to_say_yes() -> None:
    one = suggested()
    page = signed_in(cast.alice()).get(reverse("suggestions")).content.decode()

    assert str(one.headline) in page
    assert "nobody has spoken with the customer yet" in page
    assert "Still good. Read v1, nothing has changed since." in page
    assert url(one, "approve") in page
    assert shown(one, to=cast.alice()) in page


def test_a_name_with_html_is_only_ever_text() -> None:
    suggested(contact="<script>alert(1)</script>")
    page = signed_in(cast.alice()).get(reverse("suggestions")).content.decode()

    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


@pytest.mark.parametrize("verb", ["approve", "decline", "snooze", "edit", "ask_again"])
def test_a_deal_of_another_team_is_not_there(verb: str) -> None:
    one = suggested()
    client = signed_in(cast.charlie())

    assert press(client, one, verb, reason="done", until="2031-01-01").status_code == 404
    assert str(one.headline) not in client.get(reverse("suggestions")).content.decode()
    assert client.get(reverse("suggestion", args=[one.pk])).status_code == 404
    one.refresh_from_db()
    assert one.state == State.PROPOSED


@pytest.mark.parametrize("verb", ["approve", "decline", "snooze", "edit", "ask_again"])
def test_who_is_not_signed_in_is_asked_to_sign_in(verb: str) -> None:
    one = suggested()

    answer = press(Client(), one, verb)

    # A page in words and no redirect: what was typed is still in the form one goes back to.
    assert answer.status_code == 401
    assert reverse("sign_in") in answer.content.decode()
    one.refresh_from_db()
    assert one.state == State.PROPOSED


@pytest.mark.parametrize("verb", ["approve", "decline", "snooze", "ask_again"])
def test_looking_never_decides(verb: str) -> None:
    assert signed_in(cast.alice()).get(url(suggested(), verb)).status_code == 405


def test_a_yes_without_javascript_adds_the_task_and_leads_back_with_a_message() -> None:
    one = suggested()
    back = reverse("suggestions")

    answer = signed_in(cast.alice()).post(
        url(one, "approve"), {"content": shown(one, to=cast.alice()), "next": back}, follow=True
    )

    assert answer.redirect_chain == [(back, 302)]
    assert f"Done: {one.headline}." in answer.content.decode()
    assert Task.objects.get().title == "Call Rui Amaro"


def test_the_way_back_never_leads_to_another_host() -> None:
    one = suggested()

    answer = press(signed_in(cast.alice()), one, "approve", next="https://elsewhere.example/")

    assert answer["Location"] == reverse("deal", args=[one.opportunity_id])


def test_a_yes_by_htmx_answers_with_the_card_as_it_is_now() -> None:
    one = suggested()

    answer = press(signed_in(cast.alice()), one, "approve", htmx=True, place="card")

    page = answer.content.decode()
    assert answer.status_code == 200
    assert 'data-state="applied"' in page
    assert f"Done: {one.headline}." in page
    assert "Approve" not in page
    assert "<html" not in page


def test_a_double_click_is_one_act() -> None:
    one = suggested()
    client = signed_in(cast.alice())

    press(client, one, "approve", htmx=True)
    again = press(client, one, "approve", htmx=True)

    assert again.status_code == 409
    assert "Alice has approved this already, and it is done." in again.content.decode()
    assert Task.objects.count() == 1


def test_a_yes_must_say_to_what() -> None:
    one = suggested()

    assert signed_in(cast.alice()).post(url(one, "approve")).status_code == 400
    forged = press(signed_in(cast.alice()), one, "approve", htmx=True, content="0" * 64)

    assert forged.status_code == 409
    assert "not the one that was on your screen" in forged.content.decode()
    assert not Task.objects.exists()


def test_a_card_that_was_overtaken_cannot_be_pressed_and_says_why_before_the_click() -> None:
    one = suggested()
    overtake(one, cast.bob())

    page = signed_in(cast.alice()).get(reverse("suggestion", args=[one.pk])).content.decode()

    assert "Bob set the next step first: Visit," in page
    assert "Ask again" in page
    assert url(one, "approve") not in page
    assert re.search(r"<mark>Visit, .*</mark> by Bob", page)


def test_a_page_that_was_open_since_before_gets_the_refusal_with_who_was_faster() -> None:
    one = suggested()
    seen = shown(one, to=cast.alice())
    overtake(one, cast.bob())

    answer = press(signed_in(cast.alice()), one, "approve", htmx=True, content=seen)

    assert answer.status_code == 409
    assert "Bob Borges set the next step first: Visit" in answer.content.decode()
    assert [task.title for task in Task.objects.all()] == ["Visit"]


def test_what_moved_without_mattering_is_named_and_the_yes_stays() -> None:
    one = suggested()
    deal = Opportunity.objects.get()
    cast.propose("opportunity.edit", deal, by=cast.bob(), amount="52000")

    page = signed_in(cast.alice()).get(reverse("suggestion", args=[one.pk])).content.decode()

    assert "Still good. Since v1 only this has changed: amount (Bob). It does not rest on that." in page
    assert url(one, "approve") in page


def test_ones_own_change_is_told_as_ones_own() -> None:
    one = suggested()
    overtake(one, cast.alice())

    page = signed_in(cast.alice()).get(reverse("suggestion", args=[one.pk])).content.decode()

    assert "You set the next step first: Visit," in page


def test_asking_again_puts_the_new_suggestion_in_its_place() -> None:
    one = suggested()
    deal = Opportunity.objects.get()
    cast.propose("opportunity.log", deal, by=cast.bob(), kind="mail", text="Sent the offer")

    answer = press(signed_in(cast.alice()), one, "ask_again", htmx=True, place="hint")

    page = answer.content.decode()
    fresh = Recommendation.objects.open().get()
    assert answer.status_code == 200
    assert fresh.rule == "R6"
    assert f'id="suggestion-{fresh.pk}"' in page
    assert url(fresh, "approve") in page
    one.refresh_from_db()
    assert one.state == State.SUPERSEDED


def test_one_click_of_reason_declines() -> None:
    one = suggested()
    client = signed_in(cast.alice())

    assert press(client, one, "decline", reason="whatever").status_code == 400
    assert press(client, one, "decline", reason="wrong_time").status_code == 302

    one.refresh_from_db()
    assert (one.state, one.decline_reason) == (State.DECLINED, "wrong_time")
    assert (
        "Alice declined: wrong time."
        in signed_in(cast.bob()).get(reverse("suggestions"), {"tab": "declined"}).content.decode()
    )


def test_snoozing_says_until_when() -> None:
    one = suggested()
    client = signed_in(cast.alice())
    until = timezone.localdate() + dt.timedelta(days=3)

    assert press(client, one, "snooze", until="someday").status_code == 400
    answer = press(client, one, "snooze", htmx=True, until=until.isoformat())

    assert answer.status_code == 200
    assert "It comes back on" in answer.content.decode()


def test_an_edit_that_does_not_fit_keeps_what_was_typed_and_names_the_field() -> None:
    one = suggested()
    client = signed_in(cast.alice())

    answer = press(client, one, "edit", htmx=True, title="Visit <Rui>", kind="call", due_on="2001-01-01")

    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Visit &lt;Rui&gt;" in page
    assert "2001-01-01" in page
    assert "Choose a day from tomorrow on, within half a year." in page


def test_saving_and_approving_in_one_breath_carries_out_what_was_typed() -> None:
    one = suggested()
    due = timezone.localdate() + dt.timedelta(days=5)

    press(
        signed_in(cast.alice()), one, "edit", title="Visit Rui", kind="meeting", due_on=due.isoformat(), then="approve"
    )

    task = Task.objects.get()
    assert (task.title, task.kind, task.due_on) == ("Visit Rui", "meeting", due)


def test_an_edit_of_what_somebody_else_has_edited_keeps_what_was_typed_and_says_who() -> None:
    one = suggested()
    shown = one.proposal().fingerprint
    due = (timezone.localdate() + dt.timedelta(days=5)).isoformat()
    press(signed_in(cast.bob()), one, "edit", title="Write to Rui", kind="mail", due_on=due)

    answer = press(
        signed_in(cast.alice()),
        one,
        "edit",
        htmx=True,
        fingerprint=shown,
        title="Visit Rui",
        kind="meeting",
        due_on=due,
    )

    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Bob has changed this suggestion." in page
    assert "Visit Rui" in page
    one.refresh_from_db()
    assert one.params["title"] == "Write to Rui"


@pytest.mark.parametrize("tab", ["proposed", "overtaken", "done", "later", "declined", "not-done", "left-alone"])
def test_every_tab_has_words_for_nothing_and_for_something(tab: str) -> None:
    client = signed_in(cast.alice())
    empty = client.get(reverse("suggestions"), {"tab": tab})
    assert empty.status_code == 200
    assert 'class="empty"' in empty.content.decode()

    one = suggested()
    state = {
        "overtaken": State.SUPERSEDED,
        "done": State.APPLIED,
        "later": State.SNOOZED,
        "declined": State.DECLINED,
        "not-done": State.FAILED,
    }.get(tab, State.PROPOSED)
    Recommendation.objects.update(
        state=state, decided_by=one.agent, decided_at=timezone.now(), snoozed_until=timezone.localdate()
    )
    if tab == "left-alone":
        Recommendation.objects.update(state=State.DECLINED, rule=one.rule, decided_at=timezone.now())
        sweeps.sweep()
    page = client.get(reverse("suggestions"), {"tab": tab}).content.decode()
    assert 'class="empty"' not in page
    assert "Sensors for 14 cold rooms" in page


def test_an_unknown_tab_is_not_there() -> None:
    assert signed_in(cast.alice()).get(reverse("suggestions"), {"tab": "nonsense"}).status_code == 404


def test_the_pages_of_the_list_neither_repeat_nor_miss_one_and_cost_the_same() -> None:
    for number in range(45):
        cast.deal(f"Deal number {number:02}")
    sweeps.sweep()
    client = signed_in(cast.alice())
    seen: list[str] = []
    after = ""
    for _ in range(3):
        page = client.get(reverse("suggestions"), {"after": after}, **HTMX).content.decode()
        seen += re.findall(r"Deal number \d\d</a>", page)
        after = (re.findall(r'href="[^"]*after=([\d.]+)"', page) or [""])[0]

    assert not after
    assert len(seen) == len(set(seen)) == 45


@pytest.mark.parametrize("count", [2, 20])
def test_the_list_costs_at_most_fifteen_queries_however_many_have_moved(
    count: int,
    django_assert_max_num_queries,  # type: ignore[no-untyped-def]
) -> None:
    for number in range(count):
        suggested(name=f"Deal {number}", contact=f"Contact {number}")
    for deal in Opportunity.objects.all():
        cast.propose("opportunity.edit", deal, by=cast.bob(), amount="52000")
    client = signed_in(cast.alice())

    with django_assert_max_num_queries(15):
        assert client.get(reverse("suggestions")).status_code == 200


def request_of(user: User) -> Any:
    request = RequestFactory().get("/")
    request.user = user
    return request


def test_the_slots_say_what_stands_for_whom() -> None:
    one = suggested()
    alice, bob, charlie = (request_of(user()) for user in (cast.alice, cast.bob, cast.charlie))

    assert slots.nav_counts(alice)["suggestions"].count() == 1
    assert slots.nav_counts(bob)["suggestions"].count() == 0
    assert slots.board_marks(alice, deals=[one.opportunity]) == {one.opportunity_id: str(one.headline)}
    assert slots.my_suggestions(alice)["context"]["count"] == 1  # type: ignore[index]
    assert slots.my_suggestions(bob) is None
    assert slots.deal_suggestion(alice, deal=one.opportunity)["template"] == "agents/card.html#card"  # type: ignore[index]

    overtake(one, cast.bob())
    sweeps.sweep()

    assert [row.pk for row in slots.overtaken(bob)["context"]["overtaken"]] == [one.pk]  # type: ignore[index]
    assert slots.overtaken(charlie) is None


def test_my_day_and_the_deal_show_the_suggestion_and_later_what_overtook_it() -> None:
    one = suggested()
    client = signed_in(cast.alice())
    assert url(one, "approve") in client.get(reverse("my_day")).content.decode()
    assert url(one, "approve") in client.get(reverse("deal", args=[one.opportunity_id])).content.decode()

    overtake(one, cast.bob())
    sweeps.sweep()

    day = client.get(reverse("my_day")).content.decode()
    assert "Overtaken since yesterday" in day
    assert "Bob Borges set the next step first: Visit" in day
    deal = client.get(reverse("deal", args=[one.opportunity_id])).content.decode()
    assert url(one, "approve") not in deal
    assert "overtaken" in deal


def test_a_deal_that_is_left_alone_says_why() -> None:
    deal = cast.deal()
    cast.propose("opportunity.log", deal, by=cast.alice(), kind="call", text="Talked")
    sweeps.sweep()

    page = signed_in(cast.alice()).get(reverse("deal", args=[deal.pk])).content.decode()

    assert "The follow-up agent leaves this deal alone: Nothing to do now" in page


def test_who_sells_reads_the_reason_in_words_and_who_manages_finds_its_code() -> None:
    deal = cast.deal()
    cast.propose("opportunity.log", deal, by=cast.alice(), kind="call", text="Talked")
    sweeps.sweep()
    manager = cast.manager()
    manager.is_staff = True
    manager.save()

    seen = {
        who: signed_in(who).get(f"{reverse('suggestions')}?tab=left-alone").content.decode()
        for who in (cast.alice(), manager)
    }

    assert all("Nothing to do now: the last contact was" in page for page in seen.values())
    assert "R11" not in seen[cast.alice()]
    assert 'title="R11"' in seen[manager]


def test_another_content_asks_for_one_click_of_reason_and_keeps_it() -> None:
    one = suggested()
    due = (timezone.localdate() + dt.timedelta(days=5)).isoformat()
    typed = {"title": "Visit Rui", "kind": "meeting", "due_on": due}

    answer = press(signed_in(cast.alice()), one, "edit", htmx=True, reason="", **typed)
    assert answer.status_code == 422
    assert "Say with one click why" in answer.content.decode()
    assert "Visit Rui" in answer.content.decode(), "nothing typed is lost"

    press(signed_in(cast.alice()), one, "edit", reason="wrong_step", **typed)
    one.refresh_from_db()
    assert (one.edit_reason, one.params["title"]) == ("wrong_step", "Visit Rui")


def many(*ones: Recommendation, **more: str) -> dict[str, Any]:
    return {
        "pick": [str(one.pk) for one in ones],
        **{f"content-{one.pk}": shown(one, to=cast.alice()) for one in ones},
        **more,
    }


def test_many_are_approved_at_once_and_what_moved_is_set_aside_and_listed() -> None:
    client = signed_in(cast.alice())
    ones = [suggested(contact=name) for name in ("Rui Amaro", "Inês Prado", "Ana Reis")]
    page = client.get(reverse("suggestions")).content.decode()
    assert page.count('name="pick"') == 3
    said = many(*ones)
    overtake(ones[1], cast.bob())

    page = client.post(reverse("suggestions_approve"), said).content.decode()

    assert "2 done, 1 set aside" in page
    assert "Bob Borges set the next step first" in page
    assert sorted(Task.objects.values_list("title", flat=True)) == ["Call Ana Reis", "Call Rui Amaro", "Visit"]


def test_many_at_once_with_nothing_ticked_or_with_what_is_out_of_sight() -> None:
    one = suggested()
    nothing = signed_in(cast.alice()).post(reverse("suggestions_approve"))
    assert "Nothing was selected" in nothing.content.decode()
    strange = {"pick": [str(one.pk), "99999999", "x"], f"content-{one.pk}": shown(one, to=cast.charlie())}
    page = signed_in(cast.charlie()).post(reverse("suggestions_approve"), strange).content.decode()
    assert "2 suggestions are no longer there." in page
    assert not Task.objects.exists()


def test_a_void_yes_comes_back_with_what_moved_before_and_now() -> None:
    one = suggested()
    said_yes(one, by=cast.alice(), now=timezone.now())
    deal = Opportunity.objects.get(pk=one.opportunity_id)
    cast.propose("opportunity.move", deal, by=cast.bob(), stage=cast.stage("Proposal").pk)
    sweeps.resume(now=timezone.now() + dt.timedelta(minutes=2))
    cast.propose("opportunity.log", fresh(deal), by=cast.bob(), kind="note", text="x")
    sweeps.sweep(now=timezone.now() + dt.timedelta(days=10))

    page = signed_in(cast.alice()).get(reverse("deal", args=[deal.pk])).content.decode()

    assert re.search(r"You said yes to “Call Rui Amaro on .*”", page)
    assert "It was not used." in page
    assert re.search(r"<td>Stage</td><td>New</td><td><mark>Proposal</mark> by Bob</td>", page)


def fresh(deal: Opportunity) -> Opportunity:
    return Opportunity.objects.get(pk=deal.pk)
