"""Signing in and out, and one's own language, zone and colours."""

import pytest
from django.test import Client

from tests import cast
from tests.crm.deal_pages import HTMX, form, signed_in, text, words

pytestmark = pytest.mark.django_db


def person() -> Client:
    alice = cast.alice()
    alice.set_password("long-enough-7")
    alice.save()
    return Client()


def test_a_person_signs_in_and_comes_to_the_page_that_was_asked_for() -> None:
    client = person()
    deal = cast.deal()
    asked = client.get(f"/deals/{deal.pk}/", follow=True)
    fields = form(asked, "")
    answer = client.post("/sign-in/", {**fields, "username": "alice", "password": "long-enough-7"})
    assert answer.headers["Location"] == f"/deals/{deal.pk}/"


@pytest.mark.parametrize("wanted", ["https://example.org/", "//example.org/", "javascript:alert(1)", ""])
def test_it_never_leads_to_another_site(wanted: str) -> None:
    answer = person().post("/sign-in/", {"username": "alice", "password": "long-enough-7", "next": wanted})
    assert answer.headers["Location"] == "/"


def test_a_wrong_password_is_told_and_the_name_stays() -> None:
    answer = person().post("/sign-in/", {"username": "alice", "password": "wrong"})
    assert answer.status_code == 422
    assert 'value="alice"' in text(answer)
    assert 'role="alert"' in text(answer)


def test_an_empty_form_is_told() -> None:
    answer = person().post("/sign-in/", {})
    assert "Fill in your user name and your password." in words(answer)


def test_signing_out_takes_a_post_and_closes_every_page() -> None:
    client = signed_in(cast.alice())
    assert client.get("/sign-out/").status_code == 405
    assert client.post("/sign-out/").headers["Location"] == "/sign-in/"
    assert client.get("/preferences/").status_code == 302


def test_a_form_sent_after_signing_out_says_so_beside_what_was_typed() -> None:
    deal = cast.deal()
    answer = Client().post(f"/deals/{deal.pk}/plan/", {"version": "1", "title": "x"}, headers=HTMX)
    assert answer.status_code == 401
    assert answer.headers["HX-Retarget"] == "#toasts"
    assert "You have been signed out." in words(answer)


def test_a_whole_form_sent_after_signing_out_is_not_led_to_an_address_that_only_takes_forms() -> None:
    deal = cast.deal()
    answer = Client().post(f"/deals/{deal.pk}/edit/", {"version": "1", "decision": "x"})
    assert answer.status_code == 401
    assert "You have been signed out. Nothing was written" in words(answer)


def test_an_address_that_only_takes_forms_says_so_in_words() -> None:
    answer = signed_in(cast.alice()).get(f"/deals/{cast.deal().pk}/edit/")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
    assert "This address only takes a form" in words(answer)


def test_preferences_are_saved_and_hold_at_once() -> None:
    client = signed_in(cast.alice())
    fields = {"language": "pt-br", "time_zone": "America/Manaus", "theme": "dark"}
    answer = client.post("/preferences/", fields, follow=True)
    alice = cast.alice()
    assert (alice.language, alice.time_zone, alice.theme) == ("pt-br", "America/Manaus", "dark")
    assert '<html lang="pt-BR" data-theme="dark">' in text(answer)


def test_a_zone_that_is_none_is_told_and_what_is_unknown_is_left_out() -> None:
    client = signed_in(cast.alice())
    answer = client.post("/preferences/", {"time_zone": "Mars/Olympus"})
    assert answer.status_code == 422
    assert "“Mars/Olympus” is not a time zone." in words(answer)
    client.post("/preferences/", {"language": "xx", "theme": "<b>", "time_zone": ""})
    assert (cast.alice().language, cast.alice().theme) == ("", "")


def test_a_form_without_its_token_is_answered_in_words() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.alice())
    answer = client.post("/preferences/", {"theme": "dark"})
    assert answer.status_code == 403
    assert "This form is too old to be sent" in words(answer)


def test_an_address_that_is_none_is_answered_in_words_for_everybody() -> None:
    for client in (Client(), signed_in(cast.alice())):
        answer = client.get("/nowhere/at/all/")
        assert answer.status_code == 404
        assert "Nothing to see at this address" in words(answer)


def test_what_breaks_is_told_without_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError("the inside of things")

    monkeypatch.setattr("crm.views.preferences.zones", broken)
    client = signed_in(cast.alice())
    client.raise_request_exception = False
    answer = client.get("/preferences/")
    assert answer.status_code == 500
    assert "it is not your doing" in words(answer)
    assert "inside of things" not in text(answer)


def test_no_page_of_the_frame_holds_a_script_or_a_style_of_its_own() -> None:
    client = signed_in(cast.alice())
    for address in ("/preferences/", "/search/?q=xy", "/sign-in/", f"/deals/{cast.deal().pk}/"):
        page = client.get(address, follow=True)
        assert (
            "script-src" in page.headers["Content-Security-Policy"]
            or "default-src 'self'" in (page.headers["Content-Security-Policy"])
        )
        assert " style=" not in text(page)
        assert " onclick=" not in text(page)
        assert "<style" not in text(page)
        assert "<script>" not in text(page)
