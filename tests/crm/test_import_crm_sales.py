"""A real pipeline: 8,800 deals with all their quirks, whole, twice."""

from decimal import Decimal

import pytest
from django.db.models import Count, Q, Sum

from crm.models import Company, Opportunity, Product, Team, User
from crm.models.opportunity import Status
from crm.models.user import Role
from tests.crm.importing import CRM_SALES, bring, fates, needs_crm_sales

pytestmark = [pytest.mark.django_db, needs_crm_sales]

FILES = {
    "sales_teams.csv": ("team", {}),
    "accounts.csv": ("companies", {"mapping": {"revenue": "revenue_millions"}}),
    "products.csv": ("products", {}),
    "sales_pipeline.csv": (
        "opportunities",
        {"pipeline": "Hardware", "stages": ("Prospecting", "Engaging", "Won", "Lost")},
    ),
}


def bring_all() -> dict[str, tuple[int, int, int, int]]:
    return {name: fates(bring(CRM_SALES / name, kind, **options)) for name, (kind, options) in FILES.items()}


def test_it_is_loaded_whole_and_a_second_time_changes_nothing():
    assert bring_all() == {
        "sales_teams.csv": (35, 0, 0, 0),
        "accounts.csv": (85, 0, 0, 0),
        "products.csv": (7, 0, 0, 0),
        "sales_pipeline.csv": (8800, 0, 0, 0),
    }
    deals = Opportunity.objects.all()
    assert dict(deals.order_by().values_list("stage__name").annotate(Count("pk"))) == {
        "Won": 4238, "Lost": 2473, "Engaging": 1589, "Prospecting": 500,
    }  # fmt: skip
    assert deals.filter(status=Status.WON).aggregate(total=Sum("amount"))["total"] == Decimal(10_005_534)
    assert deals.filter(status=Status.OPEN).count() == 2089
    assert not deals.filter(status=Status.LOST).exclude(lost_reason="imported").exists()
    assert deals.filter(company=None).count() == 1425
    assert deals.filter(product__name="GTX Pro").count() == 1480
    assert not deals.filter(Q(product=None) | Q(owner=None) | Q(team=None)).exists()
    assert set(deals.values_list("currency", flat=True)) == {"USD"}
    assert deals.filter(stage__name="Prospecting", opened_on=None).count() == 500
    assert deals.filter(status=Status.WON, closed_on="2017-05-22").exists()

    assert (Company.objects.count(), Product.objects.count()) == (85, 7)
    assert Company.objects.exclude(parent=None).count() == 15
    assert Company.objects.get(name="dambase").revenue == Decimal("2173980000.00")
    assert (User.objects.filter(role=Role.MANAGER).count(), Team.objects.count()) == (6, 6)

    before = dict(deals.order_by().values_list("version").annotate(Count("pk")))
    assert before == {1: 8800}
    assert bring_all() == {
        "sales_teams.csv": (0, 0, 35, 0),
        "accounts.csv": (0, 0, 85, 0),
        "products.csv": (0, 0, 7, 0),
        "sales_pipeline.csv": (0, 0, 8800, 0),
    }
    assert dict(deals.order_by().values_list("version").annotate(Count("pk"))) == before
    assert dict(Company.objects.values_list("version").annotate(Count("pk"))) == {1: 70, 2: 15}


def test_without_the_team_file_every_owner_is_left_open_and_named():
    report = bring(CRM_SALES / "sales_pipeline.csv", "opportunities", **FILES["sales_pipeline.csv"][1])
    assert report.created == 8800
    assert len(report.left_open["sales_agent"]) == 30
    assert report.left_open["sales_agent"].total() == 8800
    assert report.left_open["product"]["GTXPro"] == 1480
    assert "account" in report.left_open
