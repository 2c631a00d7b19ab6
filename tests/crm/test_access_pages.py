"""Access on screen: asking, examining, and coming back with the difference when it was changed meanwhile."""

import pytest
from django.urls import reverse

from conflicts import actors, decisions, resolving
from conflicts.models import Conflict, Why
from crm.models import AccessRequest, User
from tests import cast
from tests.crm.deal_pages import HTMX, signed_in, text, words
from tests.governed import ask, company, grant, soon

pytestmark = pytest.mark.django_db


def at(name: str, *args: object) -> str:
    return reverse(name, args=args)


def do(who: User, request: AccessRequest, verb: str, **sent: object) -> object:
    """On the version, and with the fingerprint, of the page that was shown."""
    shown = {"version": request.version, "fingerprint": request.fingerprint, "form": verb}
    return signed_in(who).post(at("access_act", request.pk, verb), {**shown, **sent}, follow=True)


def fresh(of: AccessRequest) -> AccessRequest:
    return AccessRequest.objects.get(pk=of.pk)


def day(days: float = 10) -> str:
    return soon(days).date().isoformat()


def test_asking_on_the_page() -> None:
    cast.team("North")
    sent = {"kind": "team", "team": cast.team().pk, "reason": "I cover for Bob", "wanted_until": day(), "key": "k"}
    answer = signed_in(cast.charlie()).post(at("access_new"), sent)
    made = AccessRequest.objects.get()
    assert answer["Location"] == at("access_request", made.pk)
    assert (made.person, made.team, made.may_change) == (cast.charlie(), cast.team(), False)


def test_what_was_chosen_for_another_kind_does_not_count() -> None:
    sent = {"kind": "export", "team": cast.team().pk, "reason": "A list", "wanted_until": day(), "key": "k"}
    signed_in(cast.charlie()).post(at("access_new"), sent)
    assert AccessRequest.objects.get().team is None


def test_asking_for_nothing_in_particular_comes_back_with_what_was_typed() -> None:
    sent = {"kind": "team", "team": "", "reason": "I cover for Bob", "wanted_until": day(), "key": "k"}
    answer = signed_in(cast.charlie()).post(at("access_new"), sent)
    assert answer.status_code == 422
    assert "Say to what: one team, or one company." in words(answer)
    assert "I cover for Bob" in text(answer)


def test_the_examiner_grants_and_charlie_meets_the_deal() -> None:
    deal, request = cast.deal(company=company().pk), ask()
    charlie = signed_in(cast.charlie())
    assert charlie.get(at("deal", deal.pk)).status_code == 404
    answer = do(cast.manager(), request, "grant", expires=day(), note="For July")
    assert "Granted." in words(answer)
    assert charlie.get(at("deal", deal.pk)).status_code == 200
    assert deal.name in text(charlie.get(at("board")))
    do(cast.manager(), fresh(request), "take-back", note="Bob is back")
    assert charlie.get(at("deal", deal.pk)).status_code == 404


def test_sight_alone_does_not_open_the_forms_of_the_deal() -> None:
    deal = cast.deal()
    grant(ask())
    sent = {"version": deal.version, "decision": "Mine"}
    answer = signed_in(cast.charlie()).post(at("deal_edit", deal.pk), sent)
    assert "You were given sight of the deals of North, not leave to change them." in words(answer)
    deal.refresh_from_db()
    assert deal.decision == ""


@pytest.mark.parametrize("verb", ["grant", "decline"])
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["form", "htmx"])
def test_what_was_changed_meanwhile_comes_back_with_the_difference(verb: str, headers: dict[str, str]) -> None:
    read = ask()
    cast.propose("access.edit", fresh(read), by=cast.charlie(), may_change=True, reason="Both of us do")
    shown = {"version": read.version, "fingerprint": read.fingerprint, "expires": day(), "note": "For July"}
    address = at("access_act", read.pk, verb)
    answer = signed_in(cast.manager()).post(address, shown, headers=headers)

    assert answer.status_code == 409
    page = words(answer)
    assert "Charlie Castro changed" in page
    assert "You examined Asked for now" in page
    assert "no yes" in page
    assert "Covers for Bob in July Both of us do" in page
    assert fresh(read).fingerprint in text(answer), "the form is for what is asked for now"
    assert fresh(read).state == "asked"


def test_deciding_again_on_what_is_asked_for_now_settles_the_first_try() -> None:
    read = ask()
    cast.propose("access.edit", fresh(read), by=cast.charlie(), may_change=True)
    page = text(do(cast.manager(), read, "grant", expires=day(), note="For July"))
    record = Conflict.objects.waiting().get()
    assert f'name="settles" value="{record.pk}"' in page
    assert "For July" in page, "what the examiner typed is still there"
    do(cast.administrator(), fresh(read), "decline", note="x", settles=record.pk)
    record.refresh_from_db()
    assert record.resolution == "superseded", "of somebody else's try nothing is settled; it has become needless"


def test_the_second_yes_of_the_same_examiner_closes_the_record_of_the_first() -> None:
    read = ask()
    cast.propose("access.edit", fresh(read), by=cast.charlie(), may_change=True)
    do(cast.manager(), read, "grant", expires=day())
    record = Conflict.objects.waiting().get()
    do(cast.manager(), fresh(read), "grant", expires=day(), settles=record.pk)
    assert fresh(read).state == "granted"
    assert not Conflict.objects.waiting().exists()


def test_a_yes_from_the_fresh_page_leaves_no_earlier_try_waiting() -> None:
    read = ask()
    cast.propose("access.edit", fresh(read), by=cast.charlie(), may_change=True)
    do(cast.manager(), read, "grant", expires=day())
    record = Conflict.objects.waiting().get()
    do(cast.administrator(), fresh(read), "grant", expires=day())
    record.refresh_from_db()
    assert fresh(read).state == "granted"
    assert (record.closed_at is not None, record.resolution) == (True, "superseded")
    assert record.closed_by.startswith(f"person:{cast.administrator().pk}:")


@pytest.mark.parametrize("verb", ["decline", "withdraw"])
def test_a_request_that_was_declined_or_withdrawn_leaves_no_yes_waiting(verb: str) -> None:
    read = ask()
    cast.propose("access.edit", fresh(read), by=cast.charlie(), may_change=True)
    do(cast.manager(), read, "grant", expires=day())
    record = Conflict.objects.waiting().get()
    by = cast.administrator() if verb == "decline" else cast.charlie()
    do(by, fresh(read), verb, note="Not in July")
    record.refresh_from_db()
    assert fresh(read).state in ("declined", "withdrawn")
    assert not Conflict.objects.waiting().exists()
    assert record.resolution == "superseded"
    assert record.closed_by.startswith(f"person:{by.pk}:")


def test_a_change_of_the_asker_leaves_the_first_try_waiting() -> None:
    """The state is the same: somebody has still to decide."""
    read = ask()
    cast.propose("access.edit", fresh(read), by=cast.charlie(), may_change=True)
    do(cast.manager(), read, "grant", expires=day())
    cast.propose("access.edit", fresh(read), by=cast.charlie(), reason="Covers for Bob in August")
    assert Conflict.objects.waiting().count() == 1


def test_a_yes_to_what_has_passed_is_not_given_again_from_the_queue() -> None:
    read = ask()
    cast.propose("access.edit", fresh(read), by=cast.charlie(), may_change=True)
    do(cast.manager(), read, "grant", expires=day())
    record = Conflict.objects.waiting().get()
    resolution = resolving.of(record)
    assert not resolution.possible
    assert "is not in force any more" in str(resolution.why_not)
    page = words(signed_in(cast.administrator()).get(reverse("admin:conflicts_conflict_change", args=[record.pk])))
    assert "Apply as changed" not in page
    for kind in (decisions.DecisionKind.APPLY, decisions.DecisionKind.EDIT):
        told = decisions.decide(
            decisions.Wish(
                record=record.pk,
                kind=kind,
                reason=Why.STILL_RIGHT,
                by=actors.person(cast.administrator()),
                revision=record.revision,
                version=fresh(read).version,
                params={**record.params, "fingerprint": fresh(read).fingerprint},
            )
        )
        assert (told.done, told.sentence.code) == (False, "not_in_force")
    assert fresh(read).state == "asked"


def test_who_is_second_reads_who_decided() -> None:
    read = ask()
    do(cast.manager(), read, "grant", expires=day())
    answer = do(cast.administrator(), read, "decline", note="No")
    assert answer.status_code == 422  # type: ignore[attr-defined]
    assert "Manuela Moraes was first: this is granted." in words(answer)
    assert "Waits for a decision" not in words(answer), "the page is of what is in force now"
    assert at("access_act", read.pk, "grant") not in text(answer)


def test_without_authority_the_button_says_who_has_it_and_the_url_does_not_help() -> None:
    request = ask(by=cast.alice(), team=cast.team("South").pk)
    page = words(signed_in(cast.manager()).get(at("access_request", request.pk)))
    assert "Only a manager of South or an administrator can decide on this." in page
    answer = do(cast.manager(), request, "grant", expires=day())
    assert "Only a manager of South or an administrator can decide on this." in words(answer)
    assert fresh(request).state == "asked"


@pytest.mark.parametrize("sent", [{"fingerprint": "f" * 64}, {"fingerprint": ""}, {"fingerprint": "<script>"}])
def test_a_forged_content_decides_nothing(sent: dict[str, str]) -> None:
    request = ask()
    answer = do(cast.manager(), request, "grant", expires=day(), **sent)
    assert 400 <= answer.status_code < 500  # type: ignore[attr-defined]
    assert fresh(request).state == "asked"


def test_a_request_is_seen_by_who_asked_and_by_who_may_decide() -> None:
    request = ask()
    for who, status in ((cast.charlie, 200), (cast.manager, 200), (cast.administrator, 200), (cast.bob, 404)):
        assert signed_in(who()).get(at("access_request", request.pk)).status_code == status
        assert ("Covers for Bob" in text(signed_in(who()).get(at("access")))) is (status == 200)
    assert do(cast.bob(), request, "withdraw").status_code == 404  # type: ignore[attr-defined]


def test_who_asked_changes_the_wish_in_place() -> None:
    request = ask()
    charlie = signed_in(cast.charlie())
    assert "Edit all" in words(charlie.get(at("access_request", request.pk)))
    sent = {"fact": "reason", "reason": "Only two deals", "version": request.version}
    charlie.post(at("access_edit", request.pk), sent)
    assert fresh(request).reason == "Only two deals"
    assert "Edit all" not in words(signed_in(cast.manager()).get(at("access_request", request.pk)))


def test_the_pages_cost_a_fixed_number_of_queries(django_assert_max_num_queries) -> None:  # type: ignore[no-untyped-def]
    for number in range(8):
        ask(by=cast.user(f"u{number}", "U", str(number), of=cast.team("South")))
    request = ask()
    ada = signed_in(cast.administrator())
    ada.get(at("access"))
    for address in (at("access"), at("access_request", request.pk)):
        with django_assert_max_num_queries(15):
            assert ada.get(address).status_code == 200
