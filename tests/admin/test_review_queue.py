"""The review queue: what waits, for whom, since when; and a page from which a person can decide."""

import datetime as dt
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.formats import date_format

from conflicts.models import Conflict
from conflicts.outcomes import Outcome
from crm.models import Opportunity
from tests import cast

pytestmark = pytest.mark.django_db

MOMENT = "2026-01-01T00:00:00+00:00"
QUEUE = "admin:conflicts_conflict_changelist"


def clash(name: str = "Sensors for 14 cold rooms", **more: Any) -> tuple[Opportunity, Conflict]:
    """Alice changes the amount; Bob, who had read it before, means another."""
    deal = cast.deal(name, amount="100", **more)
    cast.propose("opportunity.edit", deal, by=cast.alice() if "owner" not in more else more["owner"], amount="110")
    by = cast.bob() if "owner" not in more else more["owner"]
    outcome = cast.propose("opportunity.edit", deal, by=by, amount="120")
    return deal, Conflict.objects.get(pk=outcome.record)


def detail(client: Client, record: Conflict) -> str:
    answer = client.get(reverse("admin:conflicts_conflict_change", args=[record.pk]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_queue_shows_what_waits_with_who_and_until_when(ada: Client) -> None:
    clash()
    page = ada.get(reverse(QUEUE)).content.decode()
    for words in (
        "There are two values now for amount",
        "Nothing was written until someone chooses.",
        "Sensors for 14 cold rooms",
        "version conflict",
        "Bob Borges",
        "after Alice Amaral",
        "in 23",
    ):
        assert words in page, words


def test_an_empty_queue_and_an_empty_overview_say_so(ada: Client) -> None:
    assert "Nothing waits for a person." in ada.get(reverse(QUEUE)).content.decode()
    assert "Nothing fits what was searched" in ada.get(reverse(QUEUE), {"q": "nobody"}).content.decode()
    assert "Nothing waits." in ada.get(reverse("admin:index")).content.decode()


def test_the_detail_shows_both_sides_with_who_and_when(ada: Client) -> None:
    deal, record = clash()
    page = detail(ada, record)
    for words in (
        "There are two values now for amount",
        "Nothing was written until someone chooses.",
        "R$100.00",
        "R$110.00",
        "R$120.00",
        "Alice Amaral",
        "Bob Borges",
        "Change the deal",
        "a person decides",
        "head of sales",
        "Somebody with the authority for it decides: amounts.",
        f"v{deal.version}",
        f"v{deal.version + 1}",
    ):
        assert words in page, words
    assert "The deal was not changed." not in page, "the verdict says so already"


def test_days_are_written_as_in_the_product_in_either_language(ada: Client) -> None:
    _, record = clash()
    Conflict.objects.filter(pk=record.pk).update(opened_at=dt.datetime(2026, 11, 30, 15, 5, tzinfo=dt.UTC))
    assert "30 Nov 2026, 12:05" in detail(ada, record)
    assert "11/30/2026" not in detail(ada, record)
    with translation.override("pt-br"):
        assert date_format(dt.date(2026, 11, 30), "SHORT_DATE_FORMAT") == "30/11/2026"


def test_the_detail_leads_to_the_record_and_offers_what_can_be_decided(ada: Client, manuela: Client) -> None:
    deal, record = clash()
    page = detail(ada, record)
    article = page[page.index("<article") : page.index("</article>")]
    assert reverse("deal", args=[deal.pk]) in article
    for kind in ("apply", "drop", "ask_again", "edit", "hand_over"):
        assert f'name="decision" value="{kind}"' in article, kind


def test_a_settled_record_offers_nothing_to_settle(ada: Client) -> None:
    deal, record = clash()
    deal.refresh_from_db()
    cast.propose("opportunity.edit", deal, by=cast.bob(), amount="120")
    Conflict.objects.filter(pk=record.pk).update(
        closed_at=timezone.now(), closed_by=f"person:{cast.bob().pk}:Bob Borges", resolution="settled"
    )
    page = detail(ada, record)
    assert "v-decide" not in page
    assert "somebody decided" in page


def test_a_manager_sees_what_concerns_the_team(manuela: Client) -> None:
    _, ours = clash("Ours")
    charlie = cast.charlie()
    _, theirs = clash("Theirs", owner=charlie)

    page = manuela.get(reverse(QUEUE)).content.decode()

    assert "Ours" in page
    assert "Theirs" not in page
    assert "Ours" in detail(manuela, ours)
    assert manuela.get(reverse("admin:conflicts_conflict_change", args=[theirs.pk])).status_code == 404


def test_an_agents_superseded_task_is_told_without_waiting_for_anybody(ada: Client) -> None:
    deal = cast.deal()
    cast.propose("opportunity.log", deal, by=cast.alice(), kind="call", next_title="Visit", next_on=cast.MONDAY)
    outcome = cast.propose("opportunity.follow_up", deal, by=cast.AGENT, title="Call", due_on=cast.TUESDAY)

    assert "Visit" not in ada.get(reverse(QUEUE)).content.decode()
    settled = ada.get(reverse(QUEUE), {"show": "settled"}).content.decode()
    assert "Alice Amaral set the next step first: Visit" in settled
    page = detail(ada, Conflict.objects.get(pk=outcome.record))
    for words in ("nobody was contacted", "Plan a follow-up", "Follow-up agent", "it had become needless", "Call"):
        assert words in page, words
    assert page.count("nobody was contacted") == 1
    assert page.index("Technical") < page.index("next_step_exists"), "codes stand apart from what is said in words"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, {"late", "soon"}),
        ({"deadline": "over"}, {"late"}),
        ({"deadline": "today"}, {"soon"}),
        ({"deadline": "later"}, set()),
        ({"age": "day"}, {"soon"}),
        ({"age": "older"}, {"late"}),
        ({"show": "settled"}, {"done"}),
        ({"show": "all"}, {"late", "soon", "done"}),
        ({"show": "nonsense"}, {"late", "soon"}),
        ({"state__exact": "version_conflict"}, {"late", "soon"}),
        ({"state__exact": "lease_expired"}, set()),
        ({"q": "late"}, {"late"}),
        ({"q": "Bob Borges"}, {"late", "soon"}),
    ],
)
def test_filters_and_search(ada: Client, query: dict[str, str], found: set[str]) -> None:
    for name in ("late", "soon", "done"):
        _, record = clash(f"deal-{name}")
        if name == "late":
            long_ago = timezone.now() - dt.timedelta(days=9)
            Conflict.objects.filter(pk=record.pk).update(opened_at=long_ago, deadline=long_ago + dt.timedelta(days=1))
        if name == "done":
            Conflict.objects.filter(pk=record.pk).update(closed_at=timezone.now(), deadline=None)
    page = ada.get(reverse(QUEUE), query)
    assert page.status_code == 200
    rows = page.context["cl"].result_list
    assert {row.subject_label.removeprefix("deal-") for row in rows} == found


def test_by_team_and_by_responsible(ada: Client) -> None:
    clash("Ours")
    clash("Theirs", owner=cast.charlie())
    south, alice = cast.team("South"), cast.alice()
    by_team = ada.get(reverse(QUEUE), {"team": south.pk}).context["cl"].result_list
    by_person = ada.get(reverse(QUEUE), {"responsible__id__exact": alice.pk}).context["cl"].result_list
    assert [row.subject_label for row in by_team] == ["Theirs"]
    assert [row.subject_label for row in by_person] == ["Ours"]
    assert ada.get(reverse(QUEUE), {"team": "9" * 40}).status_code == 200


def test_what_is_due_first_stands_first(ada: Client) -> None:
    _, first = clash("first")
    _, second = clash("second")
    Conflict.objects.filter(pk=second.pk).update(deadline=first.deadline - dt.timedelta(hours=1))  # type: ignore[operator]
    rows = ada.get(reverse(QUEUE)).context["cl"].result_list
    assert [row.pk for row in rows] == [second.pk, first.pk]


def test_ten_thousand_records_cost_no_more_questions_than_ten(ada: Client) -> None:
    _, record = clash()
    fields = [f for f in Conflict._meta.concrete_fields if f.name != "id"]

    def copies(count: int) -> None:
        Conflict.objects.bulk_create(
            Conflict(**{f.attname: getattr(record, f.attname) for f in fields}) for _ in range(count)
        )

    def questions() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert ada.get(reverse(QUEUE)).status_code == 200
        return len(asked)

    copies(9)
    few = questions()
    copies(9_990)
    assert questions() == few <= 15


def test_nothing_can_be_written_through_the_queue(ada: Client) -> None:
    _, record = clash()
    url = reverse("admin:conflicts_conflict_change", args=[record.pk])
    before = Conflict.objects.values().get(pk=record.pk)
    assert ada.post(url, {"resolution": "settled"}).status_code == 403
    assert ada.post(reverse("admin:conflicts_conflict_add"), {}).status_code == 403
    assert ada.post(reverse("admin:conflicts_conflict_delete", args=[record.pk]), {"post": "yes"}).status_code == 403
    ada.post(reverse(QUEUE), {"action": "delete_selected", "_selected_action": [record.pk], "post": "yes"})
    assert Conflict.objects.values().get(pk=record.pk) == before


def test_an_old_record_of_things_that_are_gone_still_opens(ada: Client) -> None:
    record = Conflict.objects.create(
        subject_model="crm.lead",
        subject_id=7,
        subject_label="Old lead",
        state="version_conflict",
        result="conflict",
        action="lead.convert",
        params={"x": 1},
        actor="somebody",
        sentence={"code": "no_longer_registered", "facts": {}},
        rule="no_longer_registered",
        changes=[
            {"subject": "crm.lead:7", "aspect": "size", "old": 1, "new": 2, "by": "x", "at": MOMENT, "version": 2},
        ],
        differences=[{"field": "size", "base": 1, "current": 2, "proposed": 3}],
    )
    page = detail(ada, record)
    assert "Old lead" in page
    assert "lead.convert" in page


def test_what_people_typed_stays_text(ada: Client) -> None:
    deal = cast.deal("<script>alert(1)</script>", decision="a")
    cast.propose("opportunity.edit", deal, by=cast.alice(), decision="<img src=x onerror=alert(2)>")
    outcome: Outcome = cast.propose("opportunity.edit", deal, by=cast.bob(), decision="</dd><script>alert(3)</script>")
    record = Conflict.objects.get(pk=outcome.record)
    for page in (ada.get(reverse(QUEUE)).content.decode(), detail(ada, record)):
        assert "<script>alert" not in page
        assert "<img src=x" not in page


def test_the_sentence_is_read_in_the_readers_language(ada: Client) -> None:
    _, record = clash()
    administrator = cast.administrator()
    administrator.language = "pt-br"
    administrator.save()
    with translation.override("pt-br"):
        told, state = str(record.told), record.get_state_display()
    page = detail(ada, record)
    assert told in page
    assert str(state) in page
