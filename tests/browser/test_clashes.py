"""A clash on every door but the deal's own (tests/browser/test_side_by_side.py): many at once, and a file's import."""

import os
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from conflicts.models import Conflict
from crm.models import Company
from tests import cast
from tests.crm.importing import bring, csv_file

Visit = Callable[..., Page]
HEAD = "name,sector,employees,version"


def company(name: str, **params: object) -> Company:
    made = cast.propose("company.create", by=cast.alice(), name=name, **params)
    return Company.objects.get(pk=made.subject.pk)  # type: ignore[union-attr]


def picture(page: Page, name: str) -> None:
    """For the eye, where somebody asks for it."""
    if folder := os.environ.get("VIGENTE_PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


def test_many_at_once_set_the_clashing_one_aside_and_it_is_settled_from_there(visit: Visit) -> None:
    manager, first, second = cast.manager(), company("Cold Chain"), company("Dry Chain")
    alice, bob = visit(cast.alice(), "/companies/"), visit(cast.bob(), f"/companies/{second.pk}/")
    alice.click("summary:has-text('Change many at once')")
    for row in (first, second):
        alice.check(f"input[name=pick][value='{row.pk}:1']", force=True)
    alice.select_option("#many [name=owner]", str(manager.pk))

    bob.click("#edit-owner")
    bob.select_option("#f-owner", str(cast.bob().pk))
    bob.click("#fact-owner button.primary")
    expect(bob.locator("#toasts")).to_contain_text("Saved as v2.")

    alice.click("#many button")
    expect(alice.locator("#report")).to_contain_text("1 changed, 1 set aside")
    picture(alice, "bulk")
    alice.click("a:has-text('Choose which value counts')")
    expect(alice.locator("[data-settle]")).to_contain_text("Bob saved this while you were editing it")
    alice.check("input[name=pick-owner][value=mine]", force=True)
    alice.click("[data-settle] footer button.primary")
    alice.wait_for_url(f"**/companies/{second.pk}/")
    expect(alice.locator("#fact-owner")).to_contain_text("Manuela Moraes")
    assert {row.owner for row in Company.objects.all()} == {manager}
    assert not Conflict.objects.waiting().exists()


def test_a_files_clash_is_read_and_settled_and_of_two_who_settle_it_one_does(visit: Visit, tmp_path: Path) -> None:
    firm = company("Cold Chain", sector="Food", employees=10)
    assert cast.propose("company.edit", firm, by=cast.alice(), sector="Cheese").written
    report = bring(csv_file(tmp_path, HEAD, "Cold Chain,Wine,12,1"), "companies")
    assert (report.changed, len(report.to_settle)) == (1, 1)

    alice, bob = visit(cast.alice(), "/"), visit(cast.bob(), "/imports/", viewport={"width": 360, "height": 740})
    alice.click("main a:has-text('Choose which value counts')")
    expect(alice.locator("main")).to_contain_text("Sector: Cheese is in force, the file says Wine.")
    picture(alice, "imports")
    picture(bob, "imports-phone")
    for page in (alice, bob):
        page.click("main a:has-text('Choose which value counts')")
        expect(page.locator("[data-settle]")).to_contain_text("and the file file.csv, line 2, say different things")
        expect(page.locator("[data-settle] input[value=theirs]")).to_be_checked()
    expect(alice.locator(".fork")).not_to_contain_text("2 times")  # what the file itself wrote is no save of hers
    picture(alice, "settle-file")
    picture(bob, "settle-file-phone")
    assert bob.evaluate("document.documentElement.scrollWidth") <= 360

    alice.keyboard.press("m")
    expect(alice.locator("[data-settle] input[value=mine]")).to_be_checked()
    alice.keyboard.press("Enter")
    alice.wait_for_url("**/imports/")
    expect(alice.locator("main")).to_contain_text("Nothing from imports waits for a choice")

    bob.click("[data-settle] footer button.primary")
    expect(bob.locator("#toasts")).to_contain_text("This is settled already.")
    now = Company.objects.get()
    assert (now.sector, now.employees, now.author.name) == ("Wine", 12, "Alice Amaral")
