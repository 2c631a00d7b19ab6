"""What the agents proposed and left alone, in the admin: read in words, and only of deals that one may see."""

import pytest
from django.test import Client
from django.urls import reverse

from agents import sweeps
from agents.models import Recommendation, SweepRun, Verdict
from tests import cast
from tests.agents.suggested import said_yes

pytestmark = pytest.mark.django_db


def suggested(name: str, **more: object) -> Recommendation:
    deal = cast.deal(name, contact=cast.contact(f"Contact of {name}").pk, **more)  # type: ignore[arg-type]
    sweeps.sweep()
    return Recommendation.objects.get(opportunity=deal)


def test_a_suggestion_says_in_words_what_it_rests_on_and_what_it_would_do(ada: Client) -> None:
    one = suggested("Idle deal")
    page = ada.get(reverse("admin:agents_recommendation_change", args=[one.pk]))
    text = page.content.decode()
    assert page.status_code == 200
    for words in (str(one.headline), "Plan a follow-up", "deal v1", "contact v1", "must not be contacted"):
        assert words in text, words
    assert "crm.opportunity" not in text


@pytest.mark.parametrize("page", ["change", "delete"])
def test_nothing_of_a_suggestion_is_changed_there(ada: Client, page: str) -> None:
    one = suggested("Idle deal")
    before = Recommendation.objects.values().get()
    answer = ada.post(
        reverse(f"admin:agents_recommendation_{page}", args=[one.pk]), {"state": "applied", "post": "yes"}
    )
    assert answer.status_code == 403
    assert Recommendation.objects.values().get() == before


def test_a_manager_sees_the_suggestions_of_the_team(manuela: Client) -> None:
    suggested("Ours")
    suggested("Theirs", owner=cast.charlie())
    page = manuela.get(reverse("admin:agents_recommendation_changelist")).content.decode()
    assert "Ours" in page
    assert "Theirs" not in page


def test_sweeps_and_what_they_left_alone_are_listed_with_the_reason(ada: Client) -> None:
    deal = cast.deal("Closed to contact")
    Verdict.objects.create(
        opportunity=deal, code="G5", why={"code": "stage_forbids_contact", "facts": {"stage": "New"}}, version_read=1
    )
    SweepRun.objects.create(looked_at=7)
    assert "In New customers are not contacted" in ada.get(reverse("admin:agents_verdict_changelist")).content.decode()
    assert ada.get(reverse("admin:agents_sweeprun_changelist")).status_code == 200


def test_a_suggestions_page_shows_each_yes_with_what_was_read(ada: Client) -> None:
    one = suggested("Idle deal")
    said_yes(one, by=cast.alice())

    page = ada.get(reverse("admin:agents_recommendation_change", args=[one.pk])).content.decode()

    assert "Alice Amaral" in page
    assert "Adds a task for you. Nothing is sent to the customer." in page
