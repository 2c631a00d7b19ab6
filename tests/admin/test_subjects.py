"""Subjects in the admin: read with their rows and every version; nothing on these pages writes."""

import re

import pytest
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from conflicts.checks import guarded_models
from conflicts.models import VersionedModel
from crm.models import Opportunity, SavedView
from tests import cast
from tests.conflicts import samples

pytestmark = pytest.mark.django_db

SUBJECTS = [model for model in guarded_models() if issubclass(model, VersionedModel)]


def url(model: type, page: str, *args: object) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)  # type: ignore[attr-defined]


@pytest.mark.parametrize("model", SUBJECTS, ids=lambda m: m.__name__)
def test_every_subject_is_there_to_be_read_and_cannot_be_written(model: type[VersionedModel], ada: Client) -> None:
    samples.build()
    row = samples.bare(model)
    before = samples.in_force(row)

    page = ada.get(url(model, "change", row.pk))

    assert page.status_code == 200
    assert f"v{row.version}" in page.content.decode()
    assert b'name="_save"' not in page.content
    assert ada.post(url(model, "change", row.pk), {"version": row.version, "name": "x"}).status_code == 403
    assert ada.post(url(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    assert ada.post(url(model, "add"), {"name": "x"}).status_code == 403
    ada.post(url(model, "changelist"), {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"})
    assert samples.in_force(row) == before


@pytest.mark.parametrize("model", SUBJECTS, ids=lambda m: m.__name__)
def test_the_history_names_every_version_with_who_and_what(model: type[VersionedModel], ada: Client) -> None:
    samples.build()
    row = samples.bare(model)
    setattr(row, samples.TEXT[model], "Changed once")
    row.save()

    page = ada.get(url(model, "history", row.pk)).content.decode()

    assert "Changed once" in page
    for version in range(1, row.version + 1):
        assert f'id="v{version}"' in page


def test_a_deals_history_tells_its_tasks_and_pages_back(ada: Client) -> None:
    deal = cast.deal()
    cast.propose("opportunity.plan_task", deal, by=cast.bob(), title="Call Rui", due_on=cast.MONDAY)
    deal.refresh_from_db()
    cast.at_version(deal, 60)
    where = url(Opportunity, "history", deal.pk)

    newest = ada.get(where).content.decode()
    oldest = ada.get(where, {"until": 10}).content.decode()

    assert 'id="v60"' in newest
    assert 'id="v11"' in newest
    assert 'id="v10"' not in newest
    assert "?until=10" in newest
    assert "Call Rui" in oldest
    assert "Bob Borges" in oldest
    assert 'id="v11"' not in oldest
    for nonsense in ("0", "-1", "x", "9" * 40, "²"):
        assert ada.get(where, {"until": nonsense}).status_code == 200


def test_a_deal_that_is_not_there_has_no_history(ada: Client) -> None:
    assert ada.get(url(Opportunity, "history", 10**9)).status_code == 404


def test_the_list_of_deals_asks_the_same_few_questions_for_two_and_for_sixty(ada: Client) -> None:
    def questions() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert ada.get(url(Opportunity, "changelist")).status_code == 200
        return len(asked)

    cast.deal("One"), cast.deal("Two")
    few = questions()
    for number in range(58):
        cast.deal(f"Deal {number}")
    assert questions() == few <= 15


def test_a_deal_with_many_rows_asks_the_same_few_questions(ada: Client) -> None:
    def questions(deal: Opportunity) -> int:
        with CaptureQueriesContext(connection) as asked:
            assert ada.get(url(Opportunity, "change", deal.pk)).status_code == 200
        return len(asked)

    small, large = cast.deal("Small"), cast.deal("Large")
    for deal, count in ((small, 2), (large, 30)):
        for number in range(count):
            deal.refresh_from_db()
            cast.propose("opportunity.plan_task", deal, by=cast.bob(), title=f"Task {number}", owner=cast.alice().pk)
    assert questions(large) <= questions(small) + 1


def test_a_persons_own_views_are_nobodys_business() -> None:
    assert SavedView not in admin.site._registry


@pytest.mark.parametrize("model", SUBJECTS, ids=lambda m: m.__name__)
def test_no_link_of_a_managers_page_ends_at_a_refusal(model: type[VersionedModel], manuela: Client) -> None:
    samples.build()
    answer = manuela.get(url(model, "change", samples.bare(model).pk))
    assert answer.status_code in (200, 302)
    links = set(re.findall(r'href="(/admin/[a-z]+/[^"?#]*)', answer.content.decode()))
    assert {link for link in links if manuela.get(link).status_code == 403} == set()


def test_a_manager_reads_whose_a_deal_is_without_a_link_to_the_account(manuela: Client) -> None:
    deal = cast.deal()
    page = manuela.get(url(Opportunity, "change", deal.pk)).content.decode()
    assert "Alice Amaral" in page
    assert "/admin/crm/user/" not in page
    assert "/admin/crm/team/" not in page
