"""The contact's page: facts, addresses, and what was agreed to, with its proof."""

import datetime as dt

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crm.models import Company, Contact
from crm.showing import language_name
from tests import cast
from tests.crm.pages import at, client, hidden, htmx

pytestmark = pytest.mark.django_db

MAIL = {"kind": "email", "value": "rui@acme.example", "is_primary": True}


def test_the_page_tells_facts_addresses_consents_deals_and_history():
    rui = cast.contact("Rui Amaro", job_title="Buyer", addresses=[MAIL], blocked=True)
    cast.propose("contact.state_consent", rui, by=cast.bob(), channel="email", status="granted", source="fair",
                 at=dt.datetime(2031, 3, 4, 12, tzinfo=dt.UTC))  # fmt: skip
    cast.deal("Sensors", contact=rui.pk)
    cast.deal("Hidden", owner=cast.charlie(), contact=rui.pk)
    html = client(cast.alice()).get(at("contact", rui.pk)).content.decode()
    for text in ("Rui Amaro", "Buyer", "rui@acme.example", "not to be contacted", "since 4 Mar 2031: fair", "not asked",
                 "Sensors", "recorded what the contact said", "added this record"):  # fmt: skip
        assert text in html, text
    assert "Hidden" not in html
    assert client(cast.alice()).get(at("contact", 99999)).status_code == 404


def test_facts_are_edited_in_place_and_clash_with_those_of_others():
    rui = cast.contact("Rui Amaro")
    bob, alice = client(cast.bob()), client(cast.alice())
    assert (
        bob.post(at("contact_edit", rui.pk), {"fact": "job_title", "job_title": "Buyer", "version": 1}).status_code
        == 302
    )
    clash = alice.post(at("contact_edit", rui.pk), {"fact": "job_title", "job_title": "Head", "version": 1})
    assert clash.status_code == 409
    rui.refresh_from_db()
    assert rui.job_title == "Buyer"
    tags = alice.post(at("contact_edit", rui.pk), {"fact": "tags", "tags": "vip", "version": 1})
    assert tags.status_code == 302
    assert client(cast.alice()).post(at("contact_edit", rui.pk), {"fact": "tags", "tags": "x"}).status_code == 428


def test_a_company_is_chosen_by_name_and_an_unknown_one_is_a_fault():
    rui = cast.contact("Rui Amaro")
    cast.propose("company.create", by=cast.alice(), name="Acme Foods")
    alice = client(cast.alice())
    assert (
        alice.post(at("contact_edit", rui.pk), {"fact": "company", "company": "acme foods", "version": 1}).status_code
        == 302
    )
    rui.refresh_from_db()
    assert str(rui.company) == "Acme Foods"
    unknown = alice.post(at("contact_edit", rui.pk), {"fact": "company", "company": "Nowhere", "version": 2})
    assert unknown.status_code == 422
    assert 'value="Nowhere"' in unknown.content.decode()


def test_a_time_zone_must_exist():
    rui = cast.contact("Rui Amaro")
    alice = client(cast.alice())
    wrong = alice.post(at("contact_edit", rui.pk), {"fact": "time_zone", "time_zone": "Mars/Base", "version": 1})
    assert wrong.status_code == 422
    assert "There is no time zone" in wrong.content.decode()
    right = alice.post(
        at("contact_edit", rui.pk), {"fact": "time_zone", "time_zone": "America/Sao_Paulo", "version": 1}
    )
    assert right.status_code == 302


def test_blocking_and_unblocking_a_contact():
    rui = cast.contact("Rui Amaro")
    alice = client(cast.alice())
    alice.post(at("contact_edit", rui.pk), {"fact": "blocked", "blocked": ["", "1"], "version": 1})
    rui.refresh_from_db()
    assert rui.blocked
    alice.post(at("contact_edit", rui.pk), {"fact": "blocked", "blocked": "", "version": 2})
    rui.refresh_from_db()
    assert not rui.blocked


def test_addresses_are_added_and_removed_and_the_history_keeps_them():
    rui = cast.contact("Rui Amaro")
    alice = client(cast.alice())
    added = alice.post(at("contact_address_add", rui.pk), {"kind": "phone", "value": "+55 11 95550-0131", "version": 1})
    assert added.status_code == 302
    point = rui.points.get()
    removed = alice.post(at("contact_address_remove", rui.pk), {"point": point.pk, "version": 2})
    assert removed.status_code == 302
    html = alice.get(at("contact", rui.pk)).content.decode()
    assert "removed an address" in html
    assert 'name="point"' not in html
    gone = alice.post(at("contact_address_remove", rui.pk), {"point": point.pk, "version": 3})
    assert gone.status_code == 409
    assert alice.post(at("contact_address_remove", rui.pk), {"point": "x", "version": 3}).status_code == 404
    assert alice.post(at("contact_address_remove", rui.pk), {"point": point.pk}).status_code == 428


def test_an_address_that_is_none_or_somebody_elses_is_said_so_and_kept_in_the_form():
    rui, vera = cast.contact("Rui Amaro", addresses=[MAIL]), cast.contact("Vera Soll")
    alice = client(cast.alice())
    wrong = alice.post(at("contact_address_add", vera.pk), {"kind": "email", "value": "nothing", "version": 1})
    assert wrong.status_code == 422
    assert 'value="nothing"' in wrong.content.decode()
    assert "is not an e-mail address" in wrong.content.decode()
    piece = alice.post(
        at("contact_address_add", vera.pk), {"kind": "email", "value": "nothing", "version": 1}, headers=htmx()
    ).content.decode()
    assert 'id="addresses"' in piece
    assert hidden(piece, "version", within="add-address") == "1"
    taken = alice.post(at("contact_address_add", vera.pk), {"kind": "email", "value": "RUI@acme.example", "version": 1})
    assert taken.status_code == 422
    assert "belongs to Rui Amaro" in taken.content.decode()
    assert 'value="RUI@acme.example"' in taken.content.decode()
    assert not vera.points.exists()
    assert rui.points.count() == 1


def test_a_consent_needs_its_proof_and_the_newest_is_in_force_with_the_older_ones_behind_it():
    rui = cast.contact("Rui Amaro")
    alice = client(cast.alice())
    without = alice.post(
        at("contact_consent", rui.pk), {"channel": "email", "status": "granted", "source": " ", "version": 1}
    )
    assert without.status_code == 422
    assert "Say how we know" in without.content.decode()
    alice.post(at("contact_consent", rui.pk), {"channel": "email", "status": "granted", "source": "form", "version": 1})
    alice.post(
        at("contact_consent", rui.pk), {"channel": "email", "status": "refused", "source": "a call", "version": 2}
    )
    [email] = [c for c in alice.get(at("contact", rui.pk)).context["channels"] if c["channel"] == "email"]
    assert (email["now"].status, email["now"].source) == ("refused", "a call")
    assert [old.source for old in email["before"]] == ["form"]
    assert "1 earlier" in alice.get(at("contact", rui.pk)).content.decode()
    assert (
        alice.post(
            at("contact_consent", rui.pk), {"channel": "fax", "status": "granted", "source": "x", "version": 3}
        ).status_code
        == 422
    )


def test_two_people_who_add_addresses_at_the_same_time_both_succeed():
    rui = cast.contact("Rui Amaro")
    for browser, value in ((client(cast.alice()), "a@x.example"), (client(cast.bob()), "b@x.example")):
        posted = {"kind": "email", "value": value, "version": 1}
        assert browser.post(at("contact_address_add", rui.pk), posted).status_code == 302
    assert rui.points.count() == 2


def test_a_new_contact_is_added_once_with_its_addresses():
    cast.propose("company.create", by=cast.alice(), name="Acme")
    acme = Company.objects.get()
    alice = client(cast.alice())
    form = alice.get(at("contact_new"), {"company": acme.pk}).content.decode()
    assert 'value="Acme"' in form
    posted = {"key": hidden(form, "key"), "name": "Rui Amaro", "company": "Acme", "job_title": "Buyer",
              "owner": cast.alice().pk, "email": "rui@acme.example", "phone": "(11) 95550-0131"}  # fmt: skip
    first, second = alice.post(at("contact_new"), posted), alice.post(at("contact_new"), posted)
    rui = Contact.objects.get()
    assert first["Location"] == second["Location"] == at("contact", rui.pk)
    assert (rui.company, rui.owner, rui.version) == (acme, cast.alice(), 1)
    assert set(rui.points.values_list("value_key", flat=True)) == {"rui@acme.example", "+5511955500131"}


def test_a_fault_in_a_new_contact_stands_beside_the_field_it_is_about():
    cast.contact("Vera Soll", addresses=[MAIL])
    alice = client(cast.alice())
    wrong = alice.post(at("contact_new"), {"name": "Rui", "email": "rui(at)x", "phone": "+55 11 95550-0131"})
    assert wrong.status_code == 422
    assert wrong.context["reach"]["email"].fault
    assert not wrong.context["reach"]["phone"].fault
    taken = alice.post(at("contact_new"), {"name": "Rui", "email": "rui@acme.example"})
    assert taken.status_code == 422
    assert "belongs to Vera Soll" in taken.content.decode()
    assert alice.post(at("contact_new"), {"name": "--"}).status_code == 422
    assert Contact.objects.count() == 1


def test_html_in_a_contact_is_text():
    rui = cast.contact("<script>alert(1)</script>", job_title="<b>x</b>", note="<i>y</i>")
    cast.propose("contact.state_consent", rui, by=cast.bob(), channel="email", status="granted", source="<u>z</u>")
    html = client(cast.alice()).get(at("contact", rui.pk)).content.decode()
    for piece in ("<script>alert", "<b>x", "<i>y", "<u>z"):
        assert piece not in html


def test_the_page_costs_a_fixed_number_of_queries():
    rui = cast.contact("Rui Amaro", addresses=[MAIL])
    for number in range(12):
        cast.deal(f"Deal {number}", contact=rui.pk)
        rui.refresh_from_db()
        cast.propose("contact.state_consent", rui, by=cast.bob(), channel="email", status="granted", source=str(number))
    alice = client(cast.alice())
    alice.get(at("contact", rui.pk))
    with CaptureQueriesContext(connection) as queries:
        assert alice.get(at("contact", rui.pk)).status_code == 200
    assert len(queries) <= 15, [query["sql"][:120] for query in queries]


def test_an_empty_fact_offers_to_add_it_and_a_language_goes_by_its_name():
    rui = cast.contact("Rui Amaro", language="pt-br")
    html = client(cast.alice()).get(at("contact", rui.pk)).content.decode()
    language = html[html.index('id="fact-language"') : html.index('id="fact-time_zone"')]
    zone = html[html.index('id="fact-time_zone"') : html.index('id="fact-blocked"')]
    assert "Portuguese (Brazil)" in language
    assert "pt-br" not in language
    assert '<span class="muted">Add</span>' in zone
    assert "Add" not in language
    assert language_name("no such code") == "no such code"
