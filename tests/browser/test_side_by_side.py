"""Two people on one deal at the same time: each sees the other, a clash is settled, and nobody's work is lost."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from conflicts import history
from conflicts.models import Conflict
from conflicts.refs import Ref
from crm.models import Activity, Opportunity, Task
from tests import cast
from tests.browser.conftest import wait_live

Visit = Callable[..., Page]


def reload(deal: Opportunity) -> Opportunity:
    return Opportunity.objects.get(pk=deal.pk)


def edit(page: Page, field: str, value: str) -> None:
    page.click(f"#edit-{field}")
    page.fill(f"#f-{field}", value)


def save(page: Page, field: str) -> None:
    page.click(f"#fact-{field} button.primary")


def test_two_people_edit_the_same_deal_and_lose_nothing(visit: Visit) -> None:
    deal = cast.deal(amount="48000", currency="BRL")
    path = f"/deals/{deal.pk}/"
    alice, bob = visit(cast.alice(), path), visit(cast.bob(), path)
    wait_live(alice)
    wait_live(bob)

    # Alice has an edit open and a note half written.
    edit(alice, "amount", "45500")
    alice.click("#log summary")
    alice.fill("#log-text", "Rui asks for one price per room")

    # Bob moves the stage: she hears it in a sentence, and what she has open stays as it is.
    bob.click("#path button:has-text('Proposal')")
    bar = alice.locator("[data-news]")
    expect(bar).to_contain_text("Bob Borges changed stage")
    expect(bar).to_contain_text("New → Proposal")
    expect(bar).to_contain_text("The amount you are editing is untouched.")
    expect(alice.locator("#fact-stage")).to_contain_text("Proposal")
    expect(alice.locator("#head")).to_contain_text("v2")
    assert alice.input_value("#f-amount") == "45500"
    assert alice.input_value("#fact-amount [name=version]") == "1"
    assert alice.input_value("#log-text") == "Rui asks for one price per room"

    # Bob changes the amount too: now she is told that she will have to choose.
    edit(bob, "amount", "51,000")
    save(bob, "amount")
    expect(bob.locator("#toasts")).to_contain_text("Amount saved.")
    expect(bar).to_contain_text("You are editing amount too: when you save, you choose.")
    assert alice.input_value("#fact-amount [name=version]") == "1"

    save(alice, "amount")
    settle = alice.locator("[data-settle]")
    expect(settle).to_contain_text("Bob saved this while you were editing it")
    expect(settle).to_contain_text("R$ 51,000")
    expect(settle).to_contain_text("R$ 45,500")
    expect(settle.locator("input[value=theirs]")).to_be_checked()
    expect(alice.locator(".deal-page")).to_be_hidden()
    alice.keyboard.press("m")
    expect(settle.locator("input[value=mine]")).to_be_checked()
    alice.keyboard.press("Enter")

    expect(alice.locator("#fact-amount")).to_contain_text("R$ 45,500")
    expect(alice.locator("#settle")).to_be_empty()
    expect(alice.locator("#f-amount")).to_have_count(0)
    assert alice.input_value("#log-text") == "Rui asks for one price per room"
    expect(bob.locator("#fact-amount")).to_contain_text("R$ 45,500")

    # The half-written note is still hers to save.
    alice.click("#log button.primary")
    expect(alice.locator("#line")).to_contain_text("Rui asks for one price per room")

    now = reload(deal)
    assert (now.amount, now.stage.name, now.version) == (45500, "Proposal", 5)
    amounts = [(c.by.split(":")[-1], c.new) for c in history.changes_since(Ref.of(deal), 1) if c.aspect == "amount"]
    assert amounts == [("Bob Borges", "51000.00"), ("Alice Amaral", "45500.00")]
    assert not Conflict.objects.waiting().exists()


def test_keep_editing_gives_the_open_form_back_as_it_was(visit: Visit) -> None:
    deal = cast.deal(amount="48000", currency="BRL")
    alice = visit(cast.alice(), f"/deals/{deal.pk}/")
    edit(alice, "amount", "45500")
    cast.propose("opportunity.edit", deal, by=cast.bob(), amount="51000")
    save(alice, "amount")
    cast.propose("opportunity.edit", reload(deal), by=cast.bob(), decision="Partners meet")
    expect(alice.locator("#fact-decision")).to_contain_text("Partners meet")
    alice.click("[data-settle] [data-keep]")
    expect(alice.locator(".deal-page")).to_be_visible()
    assert alice.input_value("#f-amount") == "45500"
    save(alice, "amount")
    expect(alice.locator("[data-settle]")).to_be_visible()
    alice.keyboard.press("Enter")
    expect(alice.locator("#fact-amount")).to_contain_text("R$ 51,000")
    assert reload(deal).amount == 51000


def test_each_sees_that_the_other_is_there_and_what_they_write(visit: Visit) -> None:
    deal = cast.deal(amount="48000")
    path = f"/deals/{deal.pk}/"
    alice = visit(cast.alice(), path)
    wait_live(alice)
    bob = visit(cast.bob(), path)
    expect(alice.locator("#presence [aria-label='Bob Borges has this open']")).to_be_visible()
    bob.click("#edit-amount")
    expect(alice.locator("#presence [aria-label='Bob Borges is editing: amount']")).to_be_visible()
    bob.close()
    expect(alice.locator("#presence .avatar")).to_have_count(0)


def test_saving_twice_in_a_row_works_on_one_page(visit: Visit) -> None:
    deal = cast.deal(amount="1", currency="BRL")
    page = visit(cast.alice(), f"/deals/{deal.pk}/")
    for number, amount in enumerate(("2", "3"), start=2):
        edit(page, "amount", amount)
        save(page, "amount")
        expect(page.locator("#fact-amount .value")).to_contain_text(f"R$ {amount}")
        expect(page.locator("#head")).to_contain_text(f"v{number}")
    assert (reload(deal).amount, reload(deal).version) == (3, 3)


def test_a_double_click_does_it_once(visit: Visit) -> None:
    deal = cast.deal()
    page = visit(cast.alice(), f"/deals/{deal.pk}/")
    page.fill("#quick [name=title]", "Call Rui")
    page.dblclick("#quick-set")
    expect(page.locator("#task-list")).to_contain_text("Call Rui")
    expect(page.locator("#task-count")).to_contain_text("1 open")
    assert Task.objects.filter(opportunity=deal).count() == 1
    assert reload(deal).version == 2


def test_a_fault_comes_back_beside_its_field_and_other_forms_stay(visit: Visit) -> None:
    deal = cast.deal(amount="1")
    page = visit(cast.alice(), f"/deals/{deal.pk}/")
    page.fill("#quick [name=title]", "Half a thought")
    edit(page, "amount", "57.3OO")
    save(page, "amount")
    expect(page.locator("#fact-amount .fault")).to_contain_text("“57.3OO” has letters in it.")
    assert page.input_value("#f-amount") == "57.3OO"
    assert page.input_value("#quick [name=title]") == "Half a thought"
    page.fill("#f-amount", "57300")
    save(page, "amount")
    expect(page.locator("#fact-amount .value")).to_contain_text("57,300")


def test_a_task_completed_while_a_colleague_plans_one_takes_nothing_away(visit: Visit) -> None:
    deal = cast.deal()
    cast.propose("opportunity.plan_task", deal, by=cast.alice(), title="First", due_on=cast.MONDAY)
    page = visit(cast.alice(), f"/deals/{deal.pk}/")
    wait_live(page)
    cast.propose("opportunity.plan_task", reload(deal), by=cast.bob(), title="Second", due_on=cast.TUESDAY)
    expect(page.locator("#task-list")).to_contain_text("Second")
    page.click("button[aria-label='Complete: First']")
    expect(page.locator("#task-list [data-done]")).to_contain_text("First")
    assert reload(deal).next_step == "Second"


def test_when_the_stream_is_cut_the_page_asks_and_still_hears(visit: Visit) -> None:
    deal = cast.deal(amount="1")
    page = visit(cast.alice(), "/preferences/")
    page.route("**/live/?*", lambda route: route.abort())
    page.goto(f"/deals/{deal.pk}/")
    page.wait_for_selector('#live[data-live="cut"]')
    expect(page.locator("#live")).to_contain_text("Paused")
    cast.propose("opportunity.edit", deal, by=cast.bob(), amount="2")
    expect(page.locator("[data-news]")).to_contain_text("Bob Borges changed amount", timeout=30_000)


def test_undo_from_the_note_and_by_key(visit: Visit) -> None:
    deal = cast.deal(amount="1", currency="BRL")
    page = visit(cast.alice(), f"/deals/{deal.pk}/")
    edit(page, "amount", "2")
    save(page, "amount")
    expect(page.locator("#fact-amount .value")).to_contain_text("R$ 2")
    page.click("#toasts button:has-text('Undo')")
    expect(page.locator("#fact-amount .value")).to_contain_text("R$ 1")
    expect(page.locator("#toasts")).to_contain_text("Taken back")
    page.reload()
    page.keyboard.press("z")
    expect(page.locator("#fact-amount .value")).to_contain_text("R$ 2")
    assert reload(deal).version == 4


def test_a_lost_connection_says_so_and_keeps_what_was_typed(visit: Visit, said: list[str]) -> None:
    deal = cast.deal()
    page = visit(cast.alice(), f"/deals/{deal.pk}/")
    page.click("#log summary")
    page.fill("#log-text", "A long talk")
    page.route("**/log/", lambda route: route.abort())
    page.click("#log button.primary")
    expect(page.locator("#toasts")).to_contain_text("Not saved: the server did not answer.")
    assert page.input_value("#log-text") == "A long talk"
    page.unroute("**/log/")
    page.click("#log button.primary")
    expect(page.locator("#line")).to_contain_text("A long talk")
    assert Activity.objects.get(opportunity=deal).text == "A long talk"
    said[:] = [line for line in said if not line.startswith("htmx:")]  # htmx notes the request that never arrived


def test_a_page_left_open_overnight_says_so_before_anybody_works_on_it(visit: Visit) -> None:
    deal = cast.deal(amount="1")
    page = visit(cast.alice(), "/preferences/")
    page.clock.install()
    page.goto(f"/deals/{deal.pk}/")
    wait_live(page)
    hide = """(hidden) => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
                            document.dispatchEvent(new Event('visibilitychange')); }"""
    page.evaluate(hide, True)
    page.clock.fast_forward("14:00:00")
    cast.propose("opportunity.edit", deal, by=cast.bob(), amount="2")
    page.evaluate(hide, False)
    expect(page.locator("[data-old]")).to_contain_text("Open since")
    expect(page.locator("[data-old]")).to_contain_text("Things have changed since.")
    page.click("[data-old] a")
    expect(page.locator("[data-old]")).to_have_count(0)
    expect(page.locator("#head")).to_contain_text("v2")


def test_the_list_of_keys_opens_from_the_palette(visit: Visit) -> None:
    page = visit(cast.alice(), "/preferences/")
    page.keyboard.press("Control+k")
    page.click("#palette button:has-text('All keys')")
    expect(page.locator("#keys")).to_be_visible()
    expect(page.locator("#palette")).to_be_hidden()
