"""Bad files: a clear error for exactly what is wrong, the rest done, nothing half written."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from conflicts import gate
from crm.imports import table
from crm.imports.problems import FileProblem
from crm.models import Company, Opportunity
from tests import cast
from tests.crm.importing import bring, csv_file, fates, reasons

pytestmark = pytest.mark.django_db

DEALS = "opportunity_id,account,deal_stage,engage_date,close_date,close_value"


def test_a_byte_that_is_not_utf8_costs_its_row_alone_and_names_line_column_and_byte(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("name,sector\nAcme,Food\nPadaria São João,Pães\nZeta,Wine\n".encode("cp1252"))
    report = bring(path, "companies")
    assert fates(report) == (2, 0, 0, 1)
    column, reason = reasons(report)[3]
    assert column == "name"
    assert "0xE3" in reason
    assert "UTF-8" in reason
    assert "--encoding" in reason


def test_the_encoding_can_be_named(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("name,sector\nPadaria São João,Pães\n".encode("cp1252"))
    assert fates(bring(path, "companies", encoding="cp1252")) == (1, 0, 0, 0)
    assert Company.objects.get().name == "Padaria São João"
    with pytest.raises(FileProblem, match="no encoding klingon"):
        bring(path, "companies", encoding="klingon")


def test_byte_order_marks_of_utf8_and_utf16_are_understood(tmp_path):
    eight = csv_file(tmp_path, "name", "Ünal", name="8.csv", encoding="utf-8-sig")
    sixteen = csv_file(tmp_path, "name", "Çelik", name="16.csv", encoding="utf-16")
    assert fates(bring(eight, "companies")) == fates(bring(sixteen, "companies")) == (1, 0, 0, 0)
    assert set(Company.objects.values_list("name", flat=True)) == {"Ünal", "Çelik"}


def test_a_utf16_file_cut_in_half_says_from_where_on_it_cannot_be_read(tmp_path):
    path = tmp_path / "cut.csv"
    path.write_bytes("name\nAcme\nZeta\n".encode("utf-16")[:-1])
    with pytest.raises(FileProblem, match="is not UTF-16"):
        bring(path, "companies")


@pytest.mark.parametrize("content", [b"", b"\r\n \r\n", b"\xef\xbb\xbf"])
def test_an_empty_file_says_so(tmp_path, content):
    path = tmp_path / "empty.csv"
    path.write_bytes(content)
    with pytest.raises(FileProblem, match="is empty"):
        bring(path, "companies")


def test_a_header_alone_is_read_and_brings_nothing(tmp_path):
    assert fates(bring(csv_file(tmp_path, "name,sector"), "companies")) == (0, 0, 0, 0)


def test_a_file_without_a_header_names_what_the_first_line_says(tmp_path):
    with pytest.raises(FileProblem, match=r"No column for name.*it reads: Acme, Food"):
        bring(csv_file(tmp_path, "Acme,Food", "Zeta,Wine"), "companies")
    assert not Company.objects.exists()


def test_two_columns_of_one_meaning_are_refused_and_a_mapping_can_choose(tmp_path):
    path = csv_file(tmp_path, "name,company,sector", "Acme,Acme Ltd,Food")
    with pytest.raises(FileProblem, match="Two columns mean name: “name” and “company”"):
        bring(path, "companies")
    assert fates(bring(path, "companies", mapping={"name": ""})) == (1, 0, 0, 0)
    assert Company.objects.get().name == "Acme Ltd"
    with pytest.raises(FileProblem, match="Two columns mean sector"):
        bring(csv_file(tmp_path, "name,Sector,sector", "Acme,a,b"), "companies")


def test_a_missing_required_column_is_named_with_what_it_may_be_called(tmp_path):
    cast.pipeline()
    with pytest.raises(FileProblem, match=r"No column for external_id.*opportunity id"):
        bring(csv_file(tmp_path, "deal_stage,close_value", "Won,5"), "opportunities")


def test_a_mapping_to_an_unknown_field_or_from_an_unknown_column_is_refused(tmp_path):
    path = csv_file(tmp_path, "name,colour", "Acme,red")
    with pytest.raises(FileProblem, match=r"“paint”, which is no field here. There are: name, sector"):
        bring(path, "companies", mapping={"colour": "paint"})
    with pytest.raises(FileProblem, match="a column “color” that the file does not have"):
        bring(path, "companies", mapping={"color": "sector"})
    with pytest.raises(FileProblem, match="gives two columns to sector"):
        bring(path, "companies", mapping={"colour": "sector", "name": "sector"})
    assert bring(path, "companies").unused == ("colour",)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("broken.json", "{", "is not valid"),
        ("broken.toml", "a = ", "is not valid"),
        ("list.json", "[1]", "must name one field"),
        ("number.json", '{"a": 1}', "must name one field"),
        ("gone.json", None, "cannot be read"),
    ],
)
def test_a_mapping_file_that_cannot_be_used_is_one_clear_line(tmp_path, name, text, why):
    if text is not None:
        (tmp_path / name).write_text(text)
    path = csv_file(tmp_path, "name", "Acme")
    with pytest.raises(CommandError, match=why):
        call_command("import_csv", path, "--kind", "companies", "--mapping", tmp_path / name)
    assert not Company.objects.exists()


def test_json_and_toml_mappings_do_the_same(tmp_path):
    (tmp_path / "m.json").write_text('{"revenue": "revenue_millions", "remarks": null}')
    (tmp_path / "m.toml").write_text('revenue = "revenue_millions"\nremarks = ""\n')
    for name in ("m.json", "m.toml"):
        path = csv_file(tmp_path, "name,revenue,remarks", f"Acme {name},1.5,x")
        call_command("import_csv", path, "--kind", "companies", "--mapping", tmp_path / name)
    assert set(Company.objects.values_list("revenue", flat=True)) == {1_500_000}


def test_a_cell_of_ten_megabytes_costs_its_row_alone(tmp_path):
    lines = "x\n" * 100
    path = tmp_path / "big.csv"
    path.write_text(f'name,sector\nAcme,Food\nBig,{"x" * 10_000_000}\nLong,"{lines * 50_000}"\nZeta,Wine\n')
    report = bring(path, "companies")
    assert fates(report) == (2, 0, 0, 2)
    assert reasons(report)[3] == ("sector", "10,000,000 characters, at most 120 fit.")
    assert reasons(report)[4][0] == "sector"
    assert set(Company.objects.values_list("name", flat=True)) == {"Acme", "Zeta"}


def test_a_quote_that_is_never_closed_costs_its_line_alone(tmp_path):
    path = csv_file(tmp_path, "name,sector", "Acme,Food", '"Ope,Wine', "Zeta,Milk", 'Ypsilon,"Fish, fresh"', "Xi,Ice")
    report = bring(path, "companies")
    assert fates(report) == (4, 0, 0, 1)
    assert reasons(report)[3] == ("", "A quote is opened in this line and not closed properly.")
    assert Company.objects.get(name="Ypsilon").sector == "Fish, fresh"


def test_a_cell_longer_than_any_cell_is_taken_for_an_open_quote(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "MOST_IN_A_CELL", 1000)
    path = csv_file(tmp_path, "name,sector", "Acme,Food", '"Ope,Wine', *[f"Firm {n},Milk" for n in range(200)])
    report = bring(path, "companies")
    assert fates(report) == (201, 0, 0, 1)
    assert 3 in reasons(report)


def test_a_line_break_inside_quotes_is_part_of_the_cell_and_counts_as_a_line(tmp_path):
    path = csv_file(tmp_path, "name,note", 'Acme,"first', 'second"', ",no name")
    report = bring(path, "companies")
    assert fates(report) == (1, 0, 0, 1)
    assert reasons(report) == {4: ("name", "This cell may not be empty.")}
    assert Company.objects.get().note.splitlines() == ["first", "second"]


def test_a_nul_byte_costs_its_row_alone(tmp_path):
    path = csv_file(tmp_path, "name,sector", "Ac\x00me,Food", "Zeta,Wine")
    report = bring(path, "companies")
    assert fates(report) == (1, 0, 0, 1)
    assert reasons(report) == {2: ("name", "It holds a NUL byte.")}


def test_rows_with_too_few_or_too_many_cells_are_refused_but_not_for_empty_ones_at_the_end(tmp_path):
    path = csv_file(tmp_path, "name,sector", "Acme", "Beta,Food,extra", "Gamma,Wine,,", "", ",", "Delta,Ice")
    report = bring(path, "companies")
    assert fates(report) == (2, 0, 0, 2)
    assert reasons(report) == {
        2: ("", "1 cells, but the first line names 2 columns."),
        3: ("", "3 cells, but the first line names 2 columns."),
    }


def test_bad_amounts_days_and_stages_are_refused_each_with_its_reason_and_nothing_half_written(tmp_path):
    cast.pipeline()
    path = csv_file(
        tmp_path, DEALS,
        "A1,,New,2025-01-01,,100",
        "A2,,Flying,2025-01-01,,100",
        "A3,,New,2025-01-01,,-100",
        "A4,,New,2025-01-01,,1e99",
        "A5,,New,2025-01-01,,99999999999999",
        "A6,,New,2025-02-30,,100",
        "A7,,Won,2025-01-01,,100",
        "A8,,Won,2025-02-01,2025-01-01,100",
        "A9,,Lost,2025-01-01,2025-02-01,0",
        ",,New,2025-01-01,,100",
    )  # fmt: skip
    report = bring(path, "opportunities")
    assert fates(report) == (2, 0, 0, 8)
    found = reasons(report)
    assert found[3] == (
        "deal_stage",
        "There is no stage “Flying” in Sales. It has: New, Proposal, Negotiation, Won, Lost.",
    )
    assert found[4] == ("close_value", "“-100” is below zero.")
    assert found[5] == ("close_value", "“1e99” is not a number.")
    assert found[6] == ("close_value", "“99999999999999” is more than 999,999,999,999.")
    assert found[7] == ("engage_date", "“2025-02-30” is not in the calendar.")
    assert found[8] == ("close_date", "A deal that is Won needs the day it was closed.")
    assert found[9] == ("close_date", "Closed on 2025-01-01, before it was opened (2025-02-01).")
    assert found[11] == ("opportunity_id", "This cell may not be empty.")
    assert set(Opportunity.objects.values_list("external_id", flat=True)) == {"A1", "A9"}


def test_html_in_a_name_is_kept_as_text(tmp_path):
    name = "<script>alert(1)</script> & Söhne"
    assert fates(bring(csv_file(tmp_path, "name", name), "companies")) == (1, 0, 0, 0)
    assert Company.objects.get().name == name


def test_a_name_without_a_letter_is_refused(tmp_path):
    report = bring(csv_file(tmp_path, "name", "---", "Acme"), "companies")
    assert fates(report) == (1, 0, 0, 1)
    assert reasons(report)[2] == ("name", "A name needs at least one letter or digit.")


def test_a_row_that_stands_in_the_file_twice_counts_once_and_one_that_contradicts_is_refused(tmp_path):
    path = csv_file(tmp_path, "name,sector", "Acme,Food", "ACME,Food", "Acme,Food", "acme,Wine")
    report = bring(path, "companies")
    assert fates(report) == (1, 0, 1, 2)
    assert reasons(report)[5] == ("", "line 2 says something else of the same record; the first one counts.")
    company = Company.objects.get()
    assert (company.name, company.sector, company.version) == ("Acme", "Food", 1)


def test_a_file_that_is_missing_a_folder_or_locked_is_one_clear_line(tmp_path, monkeypatch):
    with pytest.raises(CommandError, match=r"There is no file .*gone\.csv"):
        call_command("import_csv", tmp_path / "gone.csv", "--kind", "companies")
    with pytest.raises(CommandError, match="is a folder"):
        call_command("import_csv", tmp_path, "--kind", "companies")
    path = csv_file(tmp_path, "name", "Acme")

    def refuse(self, *args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # an ordinary user's; root may read everything
    with pytest.raises(CommandError, match="may not be read by this user"):
        call_command("import_csv", path, "--kind", "companies")


def test_with_json_a_file_that_cannot_be_read_is_json_too_and_the_exit_code_says_so(tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped:
        call_command("import_csv", tmp_path / "gone.csv", "--kind", "companies", "--json")
    assert stopped.value.code == 1
    assert "There is no file" in json.loads(capsys.readouterr().out)["error"]


@pytest.mark.parametrize("words", ["garbage", "%Q", "%d/%m", "%"])
def test_a_format_of_days_that_tells_no_day_is_one_clear_line(tmp_path, words):
    with pytest.raises(CommandError, match="does not tell a day"):
        call_command("import_csv", csv_file(tmp_path, DEALS), "--kind", "opportunities", "--dates", words)


def test_refused_rows_alone_do_not_fail_the_command_and_stand_in_its_json(tmp_path, capsys):
    path = csv_file(tmp_path, "name,sector,colour", "Acme,Food,red", ",Wine,blue")
    call_command("import_csv", path, "--kind", "companies", "--json")
    report = json.loads(capsys.readouterr().out)
    assert (report["read"], report["created"], report["refused"]) == (2, 1, 1)
    assert report["refusals"] == [{"line": 3, "column": "name", "reason": "This cell may not be empty."}]
    assert report["unused_columns"] == ["colour"]


def test_every_refusal_is_printed_with_line_column_and_reason(tmp_path, capsys):
    path = csv_file(tmp_path, "name,employees", "Acme,many", "Zeta,5", ",1")
    call_command("import_csv", path, "--kind", "companies")
    out = capsys.readouterr().out
    assert "line 2, employees: “many” is not a number." in out
    assert "line 4, name: This cell may not be empty." in out
    assert "Read 3 rows: 1 created, 0 changed, 0 unchanged, 2 refused" in out


def test_semicolons_and_tabs_are_found_out(tmp_path):
    assert fates(bring(csv_file(tmp_path, "empresa;setor", "Acme;Vinho, queijo", name="a.csv"), "companies")) == (
        1,
        0,
        0,
        0,
    )
    assert fates(bring(csv_file(tmp_path, "name\tsector", "Zeta\tMilk", name="b.csv"), "companies")) == (1, 0, 0, 0)
    assert Company.objects.get(name="Acme").sector == "Vinho, queijo"


def test_an_unknown_user_a_closed_account_and_one_without_the_right_cannot_answer_for_an_import(tmp_path):
    path = csv_file(tmp_path, "name", "Kit")
    with pytest.raises(FileProblem, match="no active user “nobody”"):
        bring(path, "products", by="nobody")
    with pytest.raises(FileProblem, match="Only"):
        bring(path, "products", by=cast.alice().username)
    assert fates(bring(path, "products", by=cast.manager().username)) == (1, 0, 0, 0)


def test_when_the_end_cannot_be_read_what_stands_before_it_is_imported_and_the_exit_code_says_so(tmp_path, capsys):
    path = tmp_path / "cut.csv"
    rows = "".join(f"Firm {number},Food\n" for number in range(20_000))
    path.write_bytes(f"name,sector\n{rows}".encode("utf-16")[:-1])
    with pytest.raises(SystemExit) as stopped:
        call_command("import_csv", path, "--kind", "companies")
    assert stopped.value.code == 1
    assert "on the file is not UTF-16" in capsys.readouterr().out
    assert 0 < Company.objects.count() < 20_000


def test_stopped_by_hand_it_leaves_whole_batches_and_the_same_file_goes_on(tmp_path, monkeypatch, capsys):
    path = csv_file(tmp_path, "name", *[f"Firm {number}" for number in range(1200)])
    commit, turns = gate.commit_many, iter(range(10))

    def stop_at_the_second(proposals):
        if next(turns) == 1:
            raise KeyboardInterrupt
        return commit(proposals)

    monkeypatch.setattr(gate, "commit_many", stop_at_the_second)
    with pytest.raises(SystemExit) as stopped:
        call_command("import_csv", path, "--kind", "companies")
    assert stopped.value.code == 130
    assert "What was imported stays" in capsys.readouterr().out
    assert Company.objects.count() == 500
    monkeypatch.setattr(gate, "commit_many", commit)
    assert fates(bring(path, "companies")) == (700, 0, 500, 0)
