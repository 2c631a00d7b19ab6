"""Two reviewers, one conflict, side by side: who has it is seen, one decides, and the other loses nothing typed."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from conflicts.models import Conflict, Decision
from crm.models import Opportunity, User
from tests import cast

Visit = Callable[..., Page]


def clash(amount: str = "52000") -> tuple[Opportunity, Conflict]:
    deal = cast.deal(amount="48000")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="50000")
    outcome = cast.propose("opportunity.edit", deal, by=cast.bob(), amount=amount)
    return deal, Conflict.objects.get(pk=outcome.record)


def manager() -> User:
    found = cast.manager()
    found.is_staff = True
    found.save()
    return found


def amount(deal: Opportunity) -> str:
    return str(Opportunity.objects.get(pk=deal.pk).amount)


def page_of(record: Conflict) -> str:
    return f"/admin/conflicts/conflict/{record.pk}/change/"


def test_two_reviewers_at_one_conflict(visit: Visit) -> None:
    deal, record = clash()
    manuela, ada = visit(manager(), page_of(record)), visit(cast.administrator(), page_of(record))
    for page in (manuela, ada):
        expect(page.locator('[data-side="current"]')).to_contain_text("R$50,000.00")
        expect(page.locator('[data-side="current"]')).to_contain_text("Alice Amaral")
        expect(page.locator('[data-side="proposed"]')).to_contain_text("R$52,000.00")

    # Ada takes it; Manuela, whose page is older, presses and is told who has it. What she typed is still there.
    ada.click("text=Take it for ten minutes")
    expect(ada.locator(".v-decide")).to_contain_text("You have it until")
    manuela.check("text=Agreed with those concerned")
    manuela.fill("#note", "Rui said so on the phone")
    manuela.click("button:has-text('Apply it now')")
    expect(manuela.locator("[role=alert]")).to_contain_text("Ada Alves is deciding about this until")
    expect(manuela.locator(".v-decide")).to_contain_text("Ada Alves has it since")
    expect(manuela.locator("#note")).to_have_value("Rui said so on the phone")
    expect(manuela.locator("input[value=agreed]")).to_be_checked()
    expect(manuela.locator("button:has-text('Apply it now')")).to_be_disabled()
    assert amount(deal) == "50000.00"

    # Ada changes the content and applies it.
    ada.check("text=Agreed with those concerned")
    ada.click("summary:has-text('Change it and apply')")
    ada.check("input[name=pick-amount][value=other]")
    ada.fill("#value-amount", "51,000")
    ada.click("button:has-text('Apply as changed')")
    expect(ada.locator("body")).to_contain_text("Done, as v3.")
    expect(ada.locator("article")).to_contain_text("Changed and applied")
    assert amount(deal) == "51000.00"

    # Manuela's page is from before: she learns how it ended.
    manuela.goto(page_of(record))
    expect(manuela.locator("article")).to_contain_text("Settled by")
    expect(manuela.locator("article")).to_contain_text("Ada Alves: changed and applied")
    expect(manuela.locator(".v-decide")).to_have_count(0)
    assert Decision.objects.count() == 1


def test_who_has_not_the_authority_sees_who_can_before_and_hands_it_over(visit: Visit) -> None:
    deal, record = clash(amount="2000000")
    ada, manuela = cast.administrator(), visit(manager(), page_of(record))
    apply = manuela.locator("button:has-text('Apply it now')")
    expect(apply).to_be_disabled()
    expect(manuela.locator("#no-apply")).to_contain_text("is more than you may decide about")
    expect(manuela.locator("#no-apply")).to_contain_text("Ada Alves can.")

    manuela.check("text=Somebody else knows more")
    manuela.click("summary:has-text('Hand it to somebody')")
    manuela.select_option("#to", label="Ada Alves")
    manuela.click("button:has-text('Hand it over')")
    expect(manuela.locator("body")).to_contain_text("Handed to Ada Alves, with a day to decide.")
    assert Conflict.objects.get(pk=record.pk).responsible == ada
    assert amount(deal) == "50000.00"


def test_many_at_once_on_a_phone(visit: Visit) -> None:
    pairs = [clash() for _ in range(3)]
    ada = visit(cast.administrator(), "/admin/conflicts/conflict/", viewport={"width": 360, "height": 740})
    assert ada.evaluate("document.documentElement.scrollWidth") <= 360
    table = ada.locator("#result_list")
    assert table.evaluate("one => one.parentElement.scrollWidth <= one.parentElement.clientWidth"), "cards, no table"
    for name in ("happened", "record", "shown_state", "both", "who", "waits"):
        expect(table.locator(f".field-{name}").first).to_be_in_viewport(ratio=0.9)
    for box in ada.locator("input[name=_selected_action]").all():
        box.check()
    ada.select_option("select[name=action]", "drop_many")
    ada.click("button:has-text('Run')")
    expect(ada.locator("body")).to_contain_text("3 will be decided")
    assert ada.evaluate("document.documentElement.scrollWidth") <= 360
    ada.check("text=Overtaken by what happened")
    ada.click("button:has-text('Drop these')")
    expect(ada.locator("body")).to_contain_text("3 are decided")
    assert Conflict.objects.filter(resolution="drop").count() == len(pairs)
