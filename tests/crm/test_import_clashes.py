"""A file and a person say different things: a person reads both, and settles it in the form of every other clash."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from conflicts.models import Conflict
from crm.models import Company, Contact, Opportunity
from tests import cast
from tests.crm.deal_pages import form, signed_in, words
from tests.crm.importing import bring, csv_file, fates, reasons

pytestmark = pytest.mark.django_db

HEAD = "name,sector,employees,tags"
DEALS = "id,name,stage,amount,version"


def company(name: str = "Acme Labs") -> Company:
    return Company.objects.get(name=name)


def clash(tmp_path: Path) -> Conflict:
    """The file said Food, Alice says Cheese, the file says Wine now; the employees are nobody's but the file's."""
    bring(csv_file(tmp_path, HEAD, "Acme Labs,Food,10,"), "companies")
    assert cast.propose("company.edit", company(), by=cast.alice(), sector="Cheese").written
    report = bring(csv_file(tmp_path, HEAD, "Acme Labs,Wine,12,"), "companies")
    assert fates(report) == (0, 1, 0, 0)
    [left] = report.to_settle
    assert company().employees == 12, "what fits is written"
    return Conflict.objects.get(pk=left.record)


def shown(reader: Client, record: Conflict) -> dict[str, str]:
    answer = reader.get(f"/settle/?record={record.pk}&next=/imports/")
    assert answer.status_code == 200
    return form(answer, "/settle/")


def test_it_stands_on_a_page_with_all_three_values_and_leads_to_the_form(tmp_path: Path) -> None:
    record = clash(tmp_path)
    bob = signed_in(cast.bob())
    assert "An import says otherwise than somebody here in 1 place." in words(bob.get("/"))
    listed = words(bob.get("/imports/"))
    assert "Acme Labs file.csv, line 2 Sector: Cheese is in force, the file says Wine." in listed
    read = words(bob.get(f"/settle/?record={record.pk}&next=/imports/"))
    assert "Alice and the file file.csv, line 2, say different things" in read
    assert "It was Food" in read
    assert "The file’s v1 Wine" in read
    assert "Alice’s, in force v3" in read
    assert "Cheese" in read
    assert "v2 AA Alice saved" in read, "her version, not the one that what fitted has made since"
    assert "Already together Saved already, nothing to do." in read
    assert "Keep editing" not in read


def test_the_file_is_called_an_import_in_the_readers_language(tmp_path: Path) -> None:
    record = clash(tmp_path)
    page = signed_in(cast.bob()).get(f"/settle/?record={record.pk}", headers={"accept-language": "pt-br"})
    assert "Funcionários 10 → 12 Importação" in words(page)


@pytest.mark.parametrize(("pick", "sector"), [("theirs", "Cheese"), ("mine", "Wine"), ("other", "Bread")])
def test_the_choice_is_written_once_and_the_same_file_asks_no_more(tmp_path: Path, pick: str, sector: str) -> None:
    record = clash(tmp_path)
    bob = signed_in(cast.bob())
    fields = shown(bob, record)
    assert fields["pick-sector"] == "theirs", "the value in force stays unless somebody chooses"
    done = bob.post("/settle/", {**fields, "pick-sector": pick, "other-sector": "Bread"}, follow=True)
    assert done.redirect_chain == [("/imports/", 302)]
    assert "Nothing from imports waits for a choice" in words(done)
    record.refresh_from_db()
    assert record.closed_by.endswith("Bob Borges")
    assert company().sector == sector
    assert company().author.name == ("Import" if pick == "theirs" else "Bob Borges")

    again = bring(csv_file(tmp_path, HEAD, "Acme Labs,Wine,12,"), "companies")
    assert fates(again) == (0, 0, 1, 0)
    assert not again.to_settle
    assert company().sector == sector
    assert not Conflict.objects.waiting().exists()


def test_whoever_is_second_is_told_and_writes_nothing(tmp_path: Path) -> None:
    record = clash(tmp_path)
    bob, alice = signed_in(cast.bob()), signed_in(cast.alice())
    of_bob, of_alice = shown(bob, record), shown(alice, record)
    bob.post("/settle/", {**of_bob, "pick-sector": "mine"})
    late = alice.post("/settle/", {**of_alice, "pick-sector": "other", "other-sector": "Bread"}, follow=True)
    assert "This is settled already." in words(late)
    assert company().sector == "Wine"


def test_what_moves_while_the_form_is_open_comes_back_as_a_clash_of_whoever_chose(tmp_path: Path) -> None:
    record = clash(tmp_path)
    bob = signed_in(cast.bob())
    fields = shown(bob, record)
    assert cast.propose("company.edit", company(), by=cast.alice(), sector="Ham").written
    answer = bob.post("/settle/", {**fields, "pick-sector": "mine"})
    assert answer.status_code == 409
    assert "It was Cheese" in words(answer)
    assert company().sector == "Ham"
    record.refresh_from_db()
    assert record.resolution == "clashed_again"
    bob.post("/settle/", {**form(answer, "/settle/"), "pick-sector": "mine"})
    assert company().sector == "Wine"


def test_a_deal_of_another_team_is_neither_listed_nor_settled_and_a_forged_number_finds_nothing(tmp_path: Path) -> None:
    cast.pipeline()
    deal = cast.deal("Sensors", external_id="A1", amount="100")
    path = csv_file(tmp_path, DEALS, "A1,Sensors,New,90,1")
    assert cast.propose("opportunity.edit", deal, by=cast.alice(), amount="120").written
    [left] = bring(path, "opportunities").to_settle
    charlie = signed_in(cast.charlie())
    assert "Nothing from imports waits for a choice" in words(charlie.get("/imports/"))
    for number in (left.record, 10**12, "x"):
        assert charlie.get(f"/settle/?record={number}").status_code == 404
    assert charlie.post("/settle/", {"record": left.record, "version": "2", "pick-amount": "mine"}).status_code == 404
    deal.refresh_from_db()
    assert deal.amount == 120


def test_of_a_deal_the_money_is_shown_as_money_and_the_stage_by_its_name(tmp_path: Path) -> None:
    cast.pipeline()
    deal = cast.deal("Sensors", external_id="A1", amount="100", currency="USD")
    assert cast.propose("opportunity.edit", deal, by=cast.bob(), amount="120").written
    deal.refresh_from_db()
    assert cast.propose("opportunity.move", deal, by=cast.bob(), stage=cast.stage("Proposal").pk).written
    report = bring(csv_file(tmp_path, DEALS, "A1,Sensors,Negotiation,90,1"), "opportunities")
    assert sorted(left.column for left in report.to_settle) == ["amount", "stage"]
    alice = signed_in(cast.alice())
    listed = words(alice.get("/imports/"))
    assert "Amount: $120 is in force, the file says $90." in listed
    assert "Proposal is in force, the file says Negotiation." in listed


# --- the version a row was made from ----------------------------------------------------------------------------------


def test_a_row_that_names_its_version_changes_what_it_says_otherwise_and_nothing_else(tmp_path: Path) -> None:
    """Made from v1, where the sector was Food: Alice's Cheese is no clash with a row that never touched it."""
    made = cast.propose(
        "company.create", by=cast.alice(), name="Acme Labs", sector="Food", employees=10, tags=["a", "b"]
    )
    assert made.version == 1
    assert cast.propose("company.edit", company(), by=cast.alice(), sector="Cheese", tags=["a", "b", "c"]).written
    report = bring(csv_file(tmp_path, f"{HEAD},version", "Acme Labs,Food,12,a,1"), "companies")
    assert fates(report) == (0, 1, 0, 0)
    now = company()
    assert (now.sector, now.employees) == ("Cheese", 12)
    assert now.tags == ["a", "c"], "the file took b out, Alice put c in"
    assert report.kept == {"sector": 1}
    assert [line.column for line in report.together] == ["tags"]
    assert not Conflict.objects.waiting().exists()


def test_without_the_version_a_first_import_goes_by_what_is_in_force(tmp_path: Path) -> None:
    cast.propose("company.create", by=cast.alice(), name="Acme Labs", sector="Food")
    bring(csv_file(tmp_path, HEAD, "Acme Labs,Wine,,"), "companies")
    assert company().sector == "Wine"


def test_a_clash_with_the_version_named_is_asked_with_what_the_file_was_made_from(tmp_path: Path) -> None:
    cast.propose("contact.create", by=cast.alice(), name="Rui Amaro", job_title="Buyer")
    rui = Contact.objects.get()
    assert cast.propose("contact.edit", rui, by=cast.bob(), job_title="Head of buying").written
    report = bring(csv_file(tmp_path, "name,job title,version", "Rui Amaro,Director,1"), "contacts")
    [left] = report.to_settle
    record = Conflict.objects.get(pk=left.record)
    assert record.differences == [
        {"field": "job_title", "base": "Buyer", "current": "Head of buying", "proposed": "Director"}
    ]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("Acme Labs,Wine,,,7", "Made from v7, but the record is at v1 here."),
        ("Acme Ltd,Wine,,,1", "Made from v1 of a record that is not here under this name or number."),
        ("Acme Labs,Wine,,,0", "“0” is not a whole number from 1 to 9223372036854775807."),
        ("Acme Labs,Wine,,,one", "“one” is not a number."),
    ],
)
def test_a_version_that_cannot_be_is_refused_with_its_line(tmp_path: Path, row: str, reason: str) -> None:
    cast.propose("company.create", by=cast.alice(), name="Acme Labs", sector="Food")
    report = bring(csv_file(tmp_path, f"{HEAD},version", row), "companies")
    assert fates(report) == (0, 0, 0, 1)
    assert reasons(report)[2] == ("version", reason)
    assert [str(one) for one in Company.objects.all()] == ["Acme Labs"]
    assert company().sector == "Food"


def test_the_command_says_where_each_is_settled(tmp_path: Path, settings: object) -> None:
    settings.VIGENTE_PUBLIC_URL = "https://crm.example.org"  # type: ignore[attr-defined]
    cast.propose("company.create", by=cast.alice(), name="Acme Labs", sector="Food")
    cast.propose("company.edit", company(), by=cast.alice(), sector="Cheese")
    path = csv_file(tmp_path, f"{HEAD},version", "Acme Labs,Wine,12,,1")
    out = StringIO()
    call_command("import_csv", str(path), kind="companies", stdout=out)
    record = Conflict.objects.waiting().get()
    lines = out.getvalue().splitlines()
    assert f"  choose which value counts: https://crm.example.org/settle/?record={record.pk}" in lines
    assert "1 value waits for somebody to choose: https://crm.example.org/imports/" in lines
    assert lines[0] == "line 2, sector: There are two values now for sector. Nothing was written until someone chooses."


def test_the_page_takes_the_same_few_queries_however_many_wait(
    tmp_path: Path, django_assert_max_num_queries: object
) -> None:
    rows = [f"Firm {n},Food,1," for n in range(12)]
    bring(csv_file(tmp_path, HEAD, *rows), "companies")
    for firm in Company.objects.all():
        cast.propose("company.edit", firm, by=cast.alice(), sector="Cheese")
    bring(csv_file(tmp_path, HEAD, *(row.replace("Food", "Wine") for row in rows)), "companies")
    bob = signed_in(cast.bob())
    with django_assert_max_num_queries(8):  # type: ignore[operator]
        page = bob.get("/imports/")
    assert "12 lines wait for a choice" in words(page)
    assert Opportunity.objects.count() == 0


# --- there and back again ---------------------------------------------------------------------------------------------


def exported(tmp_path: Path, kind: str) -> Path:
    path = tmp_path / f"{kind}.csv"
    call_command("export_csv", str(path), kind=kind, stdout=StringIO())
    return path


def test_what_was_exported_comes_back_as_it_is_and_changes_nothing_whatever_people_did_meanwhile(
    tmp_path: Path,
) -> None:
    cast.pipeline()
    parent = cast.propose(
        "company.create", by=cast.alice(), name="Acme Group", tags=["one, and half of it"], note="=1+1"
    )
    cast.propose(
        "company.create", by=cast.alice(), name="Acme Labs", sector="Food", employees=10, revenue="1234.50",
        currency="USD", parent=parent.subject.pk, owner=cast.bob().pk, tags=["a", "b"], note="First\nsecond",
    )  # fmt: skip
    cast.contact(company=company().pk, job_title="Buyer", addresses=[{"kind": "email", "value": "rui@example.com"}])
    cast.deal("Sensors", external_id="A1", amount="100", company=company().pk, decision="Rui, in May")
    cast.deal("Lost one", external_id="A2", stage=cast.stage("Lost").pk, lost_reason="Price")
    cast.deal("Without a number")
    files = {kind: exported(tmp_path, kind) for kind in ("companies", "contacts", "opportunities")}
    assert len(files["opportunities"].read_text().splitlines()) == 3
    for kind, path in files.items():
        rows = len(path.read_text().replace("First\nsecond", "").splitlines()) - 1
        assert fates(bring(path, kind)) == (0, 0, rows, 0), reasons(bring(path, kind))

    cast.propose("company.edit", company(), by=cast.bob(), sector="Cheese", tags=["b", "c"])
    cast.propose("contact.edit", Contact.objects.get(), by=cast.bob(), job_title="Director")
    deal = Opportunity.objects.get(external_id="A1")
    cast.propose("opportunity.move", deal, by=cast.bob(), stage=cast.stage("Proposal").pk)
    for kind, path in files.items():
        report = bring(path, kind)
        assert (report.created, report.changed, report.refused) == (0, 0, 0)
    assert (company().sector, company().tags) == ("Cheese", ["b", "c"])
    assert Contact.objects.get().job_title == "Director"
    assert Opportunity.objects.get(external_id="A1").stage.name == "Proposal"
    assert not Conflict.objects.waiting().exists()


def test_of_what_was_exported_and_changed_in_the_file_only_the_changes_count(tmp_path: Path) -> None:
    cast.propose("company.create", by=cast.alice(), name="Acme Labs", sector="Food", employees=10)
    path = exported(tmp_path, "companies")
    path.write_text(path.read_text().replace(",Food,", ",Wine,").replace(",10,", ",12,"))
    cast.propose("company.edit", company(), by=cast.bob(), sector="Cheese", location="Recife")
    [left] = bring(path, "companies").to_settle
    assert left.column == "sector"
    now = company()
    assert (now.sector, now.employees, now.location) == ("Cheese", 12, "Recife")


def test_on_standard_output_it_is_the_file_alone() -> None:
    cast.propose("company.create", by=cast.alice(), name="Acme Labs", sector="Food")
    out = StringIO()
    call_command("export_csv", "-", kind="companies", stdout=out)
    head, row = out.getvalue().splitlines()
    assert head.startswith("name,sector,")
    assert head.endswith(",version")
    assert row.startswith("Acme Labs,Food,")
    assert row.endswith(",1")


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("export_csv", str(tmp_path), kind="products")
