"""A file a second time: nothing new is nothing changed, and what people did in between is never overwritten."""

import datetime as dt

import pytest

from conflicts.actors import Actor
from conflicts.models import Conflict
from crm.imports.problems import FileProblem
from crm.models import Company, Contact, Opportunity, Pipeline
from tests import cast
from tests.crm.importing import bring, csv_file, fates, reasons

pytestmark = pytest.mark.django_db

COMPANIES = ["name,sector,employees,part of,tags", "Acme Labs,Food,10,Acme Group,a;b", "Acme Group,Food,500,,"]
DEALS = "id,account,product,stage,amount,close date,owner,expected close date"


def versions(model: type) -> dict[str, int]:
    return dict(model._default_manager.values_list("name", "version"))


def test_the_same_companies_twice_raise_no_version_and_parents_may_stand_below_their_parts(tmp_path):
    path = csv_file(tmp_path, *COMPANIES)
    assert fates(bring(path, "companies")) == (2, 0, 0, 0)
    labs = Company.objects.get(name="Acme Labs")
    assert labs.parent is not None
    assert labs.parent.name == "Acme Group"
    before = versions(Company)
    assert fates(bring(path, "companies")) == (0, 0, 2, 0)
    assert versions(Company) == before


def test_only_what_differs_is_changed_on_the_version_just_read(tmp_path):
    bring(csv_file(tmp_path, *COMPANIES), "companies")
    changed = csv_file(tmp_path, COMPANIES[0], "acme labs,Wine,10,Acme Group,c", COMPANIES[2])
    assert fates(bring(changed, "companies")) == (0, 1, 1, 0)
    labs = Company.objects.get(name="Acme Labs")
    assert (labs.sector, labs.tags, labs.employees) == ("Wine", ["a", "b", "c"], 10)
    assert versions(Company) == {"Acme Labs": 3, "Acme Group": 1}
    assert Actor.parse(labs.changed_by).name == "Import"
    assert not Conflict.objects.exists()


def test_what_a_person_changed_stays_when_the_file_says_nothing_new(tmp_path):
    path = csv_file(tmp_path, *COMPANIES)
    bring(path, "companies")
    labs = Company.objects.get(name="Acme Labs")
    cast.propose("company.edit", labs, by=cast.alice(), sector="Cheese", tags=["b"])
    report = bring(path, "companies")
    assert fates(report) == (0, 0, 2, 0)
    assert report.kept == {"sector": 1, "tags": 1}
    labs.refresh_from_db()
    assert (labs.sector, labs.tags) == ("Cheese", ["b"])


def test_it_stays_too_after_the_file_has_changed_another_field(tmp_path):
    bring(csv_file(tmp_path, *COMPANIES), "companies")
    cast.propose("company.edit", Company.objects.get(name="Acme Labs"), by=cast.alice(), sector="Cheese")
    grown = csv_file(tmp_path, COMPANIES[0], "Acme Labs,Food,11,Acme Group,a;b", COMPANIES[2])
    assert fates(bring(grown, "companies")) == (0, 1, 1, 0)
    assert fates(bring(grown, "companies")) == (0, 0, 2, 0)
    labs = Company.objects.get(name="Acme Labs")
    assert (labs.sector, labs.employees) == ("Cheese", 11)


def test_where_both_have_moved_the_gate_refuses_and_a_person_is_asked_once(tmp_path):
    bring(csv_file(tmp_path, *COMPANIES), "companies")
    cast.propose("company.edit", Company.objects.get(name="Acme Labs"), by=cast.alice(), sector="Cheese")
    both = csv_file(tmp_path, COMPANIES[0], "Acme Labs,Wine,12,Acme Group,a;b", COMPANIES[2])
    report = bring(both, "companies")
    assert fates(report) == (0, 1, 1, 0)
    assert reasons(report)[2][0] == "sector"
    record = Conflict.objects.get(closed_at=None)
    assert record.differences == [{"field": "sector", "base": "Food", "current": "Cheese", "proposed": "Wine"}]
    assert record.overtaken_by is not None
    assert record.overtaken_by.name == "Alice Amaral"
    labs = Company.objects.get(name="Acme Labs")
    assert (labs.sector, labs.employees) == ("Cheese", 12)
    version = labs.version

    assert fates(bring(both, "companies")) == (0, 0, 1, 1)  # asked already, still refused
    assert Conflict.objects.count() == 1
    labs.refresh_from_db()
    assert labs.version == version


def test_a_dry_run_says_the_same_and_writes_nothing(tmp_path):
    path = csv_file(tmp_path, *COMPANIES)
    report = bring(path, "companies", dry_run=True)
    assert fates(report) == (2, 0, 0, 0)
    assert not Company.objects.exists()
    bring(path, "companies")
    changed = csv_file(tmp_path, COMPANIES[0], "Acme Labs,Wine,10,,", "Acme Group,Food,500,,", "New,,1,,")
    assert fates(bring(changed, "companies", dry_run=True)) == (1, 1, 1, 0)
    assert versions(Company) == {"Acme Labs": 2, "Acme Group": 1}


def test_who_answers_for_the_import_stands_in_the_history(tmp_path):
    bring(csv_file(tmp_path, "name", "Acme"), "companies", by=cast.manager().username)
    assert Company.objects.get().author.name == "Import by Manuela Moraes"


def test_a_parent_that_is_unknown_is_left_open_and_filled_in_later_and_none_is_part_of_itself(tmp_path):
    path = csv_file(tmp_path, "name,part of", "Acme,Holding", "Solo,Solo")
    report = bring(path, "companies")
    assert report.left_open == {"part of": {"Holding": 1}}
    assert reasons(report)[3] == ("part of", "A company cannot be part of itself.")
    bring(csv_file(tmp_path, "name", "Holding", name="more.csv"), "companies")
    report = bring(path, "companies")
    assert (report.changed, report.left_open) == (1, {})
    assert str(Company.objects.get(name="Acme").parent) == "Holding"


def test_the_same_deals_twice_change_nothing_and_a_new_stage_is_a_move(tmp_path):
    cast.pipeline()
    first = csv_file(tmp_path, DEALS, "A1,,,New,100,,,2031-01-31", "A2,,,Closed Won,50,2025-02-01,,")
    assert fates(bring(first, "opportunities")) == (2, 0, 0, 0)
    assert fates(bring(first, "opportunities")) == (0, 0, 2, 0)
    then = csv_file(tmp_path, DEALS, "A1,,,Closed Lost,90,2025-03-01,,2031-01-31", "A2,,,Closed Won,50,2025-02-01,,")
    assert fates(bring(then, "opportunities")) == (0, 1, 1, 0)
    deal = Opportunity.objects.get(external_id="A1")
    assert (deal.status, deal.closed_on, deal.lost_reason, deal.amount) == (
        "lost", dt.date(2025, 3, 1), "imported", 90,
    )  # fmt: skip
    assert deal.version == 3
    assert deal.activities.get().facts["to"] == "Lost"
    assert fates(bring(then, "opportunities")) == (0, 0, 2, 0)
    assert not Conflict.objects.exists()


def test_a_deal_that_a_person_moved_meanwhile_is_not_moved_back(tmp_path):
    cast.pipeline()
    path = csv_file(tmp_path, DEALS, "A1,,,New,100,,,")
    bring(path, "opportunities")
    deal = Opportunity.objects.get()
    cast.propose("opportunity.move", deal, by=cast.alice(), stage=cast.stage("Proposal").pk)
    report = bring(path, "opportunities")
    assert fates(report) == (0, 0, 1, 0)
    assert report.kept == {"stage": 1}
    deal.refresh_from_db()
    assert deal.stage.name == "Proposal"

    lost = csv_file(tmp_path, DEALS, "A1,,,Lost,100,2025-03-01,,")
    report = bring(lost, "opportunities")
    assert fates(report) == (0, 0, 0, 1)
    assert reasons(report)[2][0] == "stage"
    deal.refresh_from_db()
    assert deal.stage.name == "Proposal"


def test_owners_companies_and_products_that_are_unknown_are_left_open_and_filled_in_by_the_same_file(tmp_path):
    cast.pipeline()
    path = csv_file(tmp_path, DEALS, "A1,Acme,Kit One,New,100,,Alice Amaral,", "A2,Acme,kitone,New,100,,nobody,")
    report = bring(path, "opportunities")
    assert report.left_open == {"owner": {"Alice Amaral": 1, "nobody": 1}, "account": {"Acme": 2},
                                "product": {"Kit One": 1, "kitone": 1}}  # fmt: skip
    deal = Opportunity.objects.get(external_id="A1")
    assert (deal.name, deal.company, deal.owner) == ("Kit One for Acme", None, None)

    alice = cast.alice()
    bring(csv_file(tmp_path, "name", "ACME", name="c.csv"), "companies")
    bring(csv_file(tmp_path, "name", "KitOne", name="p.csv"), "products")
    report = bring(path, "opportunities")
    assert report.left_open == {"owner": {"nobody": 1}}
    assert fates(report) == (0, 2, 0, 0)
    deal.refresh_from_db()
    assert (str(deal.company), str(deal.product), deal.owner, deal.team) == ("ACME", "KitOne", alice, alice.team)
    assert fates(bring(path, "opportunities")) == (0, 0, 2, 0)


def test_an_owner_given_by_a_person_stays_when_the_file_names_nobody_known(tmp_path):
    cast.pipeline()
    path = csv_file(tmp_path, DEALS, "A1,,,New,100,,nobody,")
    bring(path, "opportunities")
    deal = Opportunity.objects.get()
    cast.propose("opportunity.edit", deal, by=cast.alice(), owner=cast.alice().pk)
    bring(path, "opportunities")
    deal.refresh_from_db()
    assert deal.owner == cast.alice()


def test_the_closing_day_of_an_open_deal_is_when_it_is_expected_to_close(tmp_path):
    cast.pipeline()
    bring(csv_file(tmp_path, DEALS, "A1,,,New,100,2031-05-01,,"), "opportunities")
    deal = Opportunity.objects.get()
    assert (deal.expected_close, deal.closed_on) == (dt.date(2031, 5, 1), None)


def test_stages_are_made_only_when_asked_for(tmp_path):
    path = csv_file(tmp_path, DEALS, "A1,,,Engaging,100,,,")
    with pytest.raises(FileProblem, match="no pipeline yet"):
        bring(path, "opportunities")
    report = bring(path, "opportunities", pipeline="Hardware", stages=("Engaging", "Won", "Lost"))
    assert fates(report) == (1, 0, 0, 0)
    assert report.made == ["Made in pipeline Hardware: Engaging, Won, Lost."]
    pipeline = Opportunity.objects.get().pipeline
    assert pipeline.is_default
    assert list(pipeline.stages.values_list("name", "kind")) == [("Engaging", "open"), ("Won", "won"), ("Lost", "lost")]
    with pytest.raises(FileProblem, match="no pipeline “Software”"):
        bring(path, "opportunities", pipeline="software".title())
    report = bring(path, "opportunities", pipeline="hardware", stages=("Engaging", "Paused"))
    assert report.made == ["Made in pipeline Hardware: Paused."]
    pipeline.refresh_from_db()
    assert pipeline.version == 2


def test_a_dry_run_with_stages_that_are_not_here_yet_looks_at_the_rows_and_makes_none(tmp_path):
    path = csv_file(tmp_path, DEALS, "A1,,,Engaging,100,,,", "A2,,,Dreaming,100,,,")
    report = bring(path, "opportunities", pipeline="Hardware", stages=("Engaging", "Won"), dry_run=True)
    assert fates(report) == (1, 0, 0, 1)
    assert report.made == ["Would make in pipeline Hardware: Engaging, Won."]
    assert not Pipeline.objects.exists()
    assert not Opportunity.objects.exists()


def test_contacts_are_recognised_by_their_address_else_by_name_and_company(tmp_path):
    bring(csv_file(tmp_path, "name", "Acme", name="c.csv"), "companies")
    path = csv_file(
        tmp_path, "first name,last name,company,e-mail,phone,celular",
        "Rui,Amaro,Acme,Rui@Example.com,+55 11 5550-0101,+55 11 95550-0102",
        "Vera,Soll,Acme,,,",
        "Vera,Soll,,,,",
    )  # fmt: skip
    assert fates(bring(path, "contacts")) == (3, 0, 0, 0)
    assert fates(bring(path, "contacts")) == (0, 0, 3, 0)
    assert Contact.objects.get(name="Rui Amaro").points.count() == 3
    renamed = csv_file(
        tmp_path, "name,company,email", "Rui A. Amaro,Acme,rui@example.com", "Rui Amaro,Acme,r@other.com"
    )
    assert fates(bring(renamed, "contacts")) == (1, 1, 0, 0)
    assert Contact.objects.filter(name="Rui A. Amaro").count() == Contact.objects.filter(name="Rui Amaro").count() == 1


def test_a_contact_without_address_gets_one_later_and_a_removed_one_stays_removed(tmp_path):
    bring(csv_file(tmp_path, "name", "Rui Amaro"), "contacts")
    path = csv_file(tmp_path, "name,email,phone", "Rui Amaro,rui@example.com,+55 11 5550-0101")
    assert fates(bring(path, "contacts")) == (0, 1, 0, 0)
    contact = Contact.objects.get()
    assert contact.version == 3
    phone = contact.points.get(kind="phone")
    cast.propose("contact.remove_address", contact, by=cast.alice(), point=phone.pk)
    assert fates(bring(path, "contacts")) == (0, 0, 1, 0)
    assert contact.points.filter(removed=False).count() == 1


def test_a_phone_that_two_contacts_share_goes_to_the_first_and_is_pointed_out(tmp_path):
    path = csv_file(tmp_path, "name,phone", "Rui Amaro,+55 11 5550-0101", "Vera Soll,(11) 5550-0101", "Bad,12")
    report = bring(path, "contacts")
    assert fates(report) == (2, 0, 0, 1)
    assert reasons(report)[3] == (
        "phone", "(11) 5550-0101 belongs to the contact in line 2; left out here.",
    )  # fmt: skip
    assert reasons(report)[4] == ("phone", "12 is not a phone number.")
    again = bring(path, "contacts")
    assert fates(again) == (0, 0, 2, 1)
    assert "belongs to another contact already" in reasons(again)[3][1]


def test_consents_carry_their_proof_and_never_beat_a_newer_refusal(tmp_path):
    path = csv_file(
        tmp_path, "name,email,email consent,consent source,consent date",
        "Rui Amaro,rui@example.com,yes,fair in June,2025-06-10",
        "Vera Soll,vera@example.com,yes,,",
    )  # fmt: skip
    assert fates(bring(path, "contacts")) == (2, 0, 0, 0)
    rui, vera = Contact.objects.order_by("name")
    consent = rui.consents.get()
    assert (consent.status, consent.source, consent.at.date()) == ("granted", "fair in June", dt.date(2025, 6, 10))
    assert vera.consents.get().source == "import of file.csv"
    vera.refresh_from_db()
    cast.propose("contact.state_consent", vera, by=cast.alice(), channel="email", status="refused", source="a call")
    report = bring(path, "contacts")
    assert fates(report) == (0, 0, 2, 0)
    assert report.kept == {"email consent": 1}
    assert vera.consents.order_by("-at").first().status == "refused"
