"""A page that one person opened sends nothing in the name of whoever signed in since."""

import pytest

from crm.models import Opportunity
from tests import cast
from tests.crm.pages import at, client, htmx

pytestmark = pytest.mark.django_db


def test_a_form_of_another_person_is_refused_in_words_and_writes_nothing() -> None:
    deal, alice, bob = cast.deal(), cast.alice(), cast.bob()
    fields = {"kind": "note", "text": "Rui agrees", "version": "1"}
    plain = client(bob).post(at("deal_log", deal.pk), {**fields, "opened_by": str(alice.pk)})
    part = client(bob).post(at("deal_log", deal.pk), fields, headers=htmx(**{"X-Opened-By": str(alice.pk)}))
    for answer in (plain, part):
        assert answer.status_code == 403
        assert "Somebody else is signed in now" in answer.text
        assert "you are signed in as Bob Borges. Nothing was written" in answer.text
    assert part["HX-Retarget"] == "#toasts"
    assert Opportunity.objects.get(pk=deal.pk).version == 1


def test_ones_own_form_is_sent_and_anybody_may_sign_out() -> None:
    deal, alice, bob = cast.deal(), cast.alice(), cast.bob()
    fields = {"kind": "note", "text": "Rui agrees", "version": "1", "opened_by": str(alice.pk)}
    assert client(alice).post(at("deal_log", deal.pk), fields).status_code == 302
    assert Opportunity.objects.get(pk=deal.pk).version == 2
    left = client(bob).post(at("sign_out"), {"opened_by": str(alice.pk)})
    assert left["Location"] == at("sign_in")
