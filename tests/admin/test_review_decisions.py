"""Deciding from the review queue: one form for one state, held by one, told in words, nothing typed lost."""

import datetime as dt
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conflicts import actors, claims
from conflicts.models import Conflict, Decision, DecisionKind, Lease
from conflicts.outcomes import Result
from crm.models import Opportunity
from tests import cast
from tests.admin.conftest import signed_in
from tests.admin.test_review_queue import clash

pytestmark = pytest.mark.django_db


def url(page: str, record: Conflict) -> str:
    return reverse(f"admin:conflicts_conflict_{page}", args=[record.pk])


def form_of(client: Client, record: Conflict) -> dict[str, str]:
    """The hidden fields of the form, as the page shows them now."""
    page = client.get(url("change", record)).content.decode()
    form = page[page.index('class="v-decision"') :]
    return dict(re.findall(r'<input type="hidden" name="(revision|version|form|claim)" value="([^"]*)"', form))


def decide(client: Client, record: Conflict, kind: str, **more: Any) -> Any:
    form = more.pop("form", None) or form_of(client, record)
    return client.post(url("decide", record), {**form, "decision": kind, "reason": "still_right", **more})


def amount(deal: Opportunity) -> str:
    return str(Opportunity.objects.get(pk=deal.pk).amount)


def words(answer: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).replace("&#x27;", "'").split())


def test_applying_from_the_page_writes_it_and_says_so(ada: Client) -> None:
    deal, record = clash()
    assert "not written" in words(ada.get(f"/admin/conflicts/conflict/{record.pk}/change/"))
    answer = decide(ada, record, "apply", note="Rui agreed on the phone")
    assert answer.status_code == 302
    page = words(ada.get(answer.url))
    assert "In force then" in page
    assert "written later" in page
    assert "not written" not in page
    assert "Done, as v" in page
    assert "Applied on the version in force looked at it: still right · Rui agreed on the phone" in page
    assert amount(deal) == "120.00"


def test_a_decision_without_a_reason_asks_for_one_and_keeps_what_was_typed(ada: Client) -> None:
    _, record = clash()
    answer = decide(ada, record, "drop", reason="", note="because Rui said so")
    assert answer.status_code == 422
    assert "Say why: one click." in words(answer)
    assert "because Rui said so" in answer.content.decode()
    assert Conflict.objects.get(pk=record.pk).closed_at is None
    assert decide(ada, record, "drop", reason="overdue").status_code == 422, "that is time's own reason"


@pytest.mark.parametrize(
    ("spoilt", "status"),
    [({"revision": ""}, 428), ({"form": ""}, 428), ({"decision": "escalate"}, 400), ({"decision": "nonsense"}, 400)],
)
def test_a_form_that_does_not_say_what_it_was_made_for_does_nothing(
    ada: Client, spoilt: dict[str, str], status: int
) -> None:
    deal, record = clash()
    form = {**form_of(ada, record), "decision": "apply", "reason": "agreed", **spoilt}
    assert ada.post(url("decide", record), form).status_code == status
    assert amount(deal) == "110.00"
    assert Decision.objects.count() == 0


def test_two_reviewers_with_the_page_open_one_decides_and_the_other_is_told(ada: Client, manuela: Client) -> None:
    deal, record = clash()
    theirs = form_of(manuela, record)
    assert decide(ada, record, "drop", reason="overtaken").status_code == 302
    answer = decide(manuela, record, "apply", form=theirs, note="mine")

    assert answer.status_code == 409
    assert "Ada Alves settled this already (dropped). Nothing was written." in words(answer)
    assert amount(deal) == "110.00"
    assert Decision.objects.count() == 1


def test_whoever_has_it_is_shown_to_the_others_whose_buttons_say_why_not(ada: Client, manuela: Client) -> None:
    deal, record = clash()
    stale = form_of(manuela, record)
    ada.post(url("claim", record))
    page = manuela.get(url("change", record)).content.decode()
    assert "Ada Alves" in page[page.index("v-decide") :][:900]
    assert re.search(r'value="apply"[^>]* disabled title="Ada Alves is deciding about this until ', page)
    assert "Take it away" in page
    assert "You have it until" in ada.get(url("change", record)).content.decode()
    listed = words(manuela.get(reverse("admin:conflicts_conflict_changelist")))
    assert "Ada Alves has it until" in listed

    answer = decide(manuela, record, "apply", form=stale)
    assert answer.status_code == 409
    assert "Ada Alves is deciding about this until" in words(answer)
    assert amount(deal) == "110.00"


def test_given_back_it_is_anybodys_again(ada: Client, manuela: Client) -> None:
    deal, record = clash()
    ada.post(url("claim", record))
    manuela.post(url("give_back".replace("_", ""), record))
    assert claims.holder(record.pk) is not None, "nobody gives back what somebody else has"
    ada.post(url("giveback", record))
    assert decide(manuela, record, "apply").status_code == 302
    assert amount(deal) == "120.00"


def test_a_manager_takes_it_away_from_who_has_it(ada: Client, manuela: Client) -> None:
    deal, record = clash()
    ada.post(url("claim", record))
    held = claims.holder(record.pk)
    assert held is not None
    mine = form_of(ada, record)
    lease = reverse("admin:conflicts_lease_decide", args=[held.lease])
    manuela.post(lease, {"seen": held.claim.fence, "why": "Ada is on holiday"})

    answer = decide(ada, record, "apply", form=mine)
    assert answer.status_code == 409
    assert amount(deal) == "110.00"
    assert "Ada is on holiday" in words(manuela.get(url("change", record)))


def test_a_decision_after_the_claim_ran_out_does_nothing_and_loses_nothing(ada: Client, manuela: Client) -> None:
    deal, record = clash()
    ada.post(url("claim", record))
    mine = form_of(ada, record)
    assert mine["claim"]
    Lease.objects.update(expires_at=timezone.now() - dt.timedelta(seconds=1))

    typed = {"note": "I asked Rui twice", "pick-amount": "other", "value-amount": "117"}
    answer = decide(ada, record, "edit", form=mine, **typed)

    assert answer.status_code == 409
    assert "The time reserved for this work had run out" in words(answer)
    page = answer.content.decode()
    for kept in ("I asked Rui twice", 'value="117"', '<option value=""'):
        assert kept in page
    assert re.search(r'name="reason" value="still_right"\s+checked', page)
    assert re.search(r'name="pick-amount" value="other"\s+checked', page)
    assert "<details open>" in page
    assert amount(deal) == "110.00"

    again = dict(re.findall(r'<input type="hidden" name="(revision|version|form|claim)" value="([^"]*)"', page))
    assert decide(ada, record, "edit", form=again, **typed).status_code == 302
    assert amount(deal) == "117.00"


def test_the_three_way_choice_is_offered_for_the_field_that_clashes_only(ada: Client) -> None:
    deal = cast.deal(amount="100", decision="Ana")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110")
    outcome = cast.propose("opportunity.edit", deal, by=cast.bob(), amount="120", decision="Rui")
    record = Conflict.objects.get(pk=outcome.record)
    page = ada.get(url("change", record)).content.decode()
    assert re.search(r'name="pick-amount" value="current"\s+checked', page), "the value in force is the safe choice"
    assert "pick-decision" not in page
    assert 'name="value-decision" value="Rui"' in page

    answer = decide(ada, record, "edit", **{"pick-amount": "current", "value-decision": "Rui and Inês"})
    assert answer.status_code == 302
    now = Opportunity.objects.get(pk=deal.pk)
    assert (str(now.amount), now.decision) == ("110.00", "Rui and Inês")


def test_what_was_typed_wrongly_is_said_beside_its_field(ada: Client) -> None:
    deal, record = clash()
    answer = decide(ada, record, "edit", **{"pick-amount": "other", "value-amount": "a lot"})
    assert answer.status_code == 422
    assert "has letters in it" in words(answer)
    assert amount(deal) == "110.00"


def test_what_moved_since_the_record_was_made_is_on_the_page_before_anybody_decides(ada: Client) -> None:
    deal, record = clash()
    cast.propose("opportunity.edit", Opportunity.objects.get(pk=deal.pk), by=cast.alice(), amount="130")
    page = ada.get(url("change", record)).content.decode()
    side = page[page.index('data-side="current"') :][:400]
    assert "R$130.00" in side
    assert decide(ada, record, "apply").status_code == 302
    assert amount(deal) == "120.00"


def test_without_the_authority_the_button_is_off_and_the_address_by_hand_is_a_403_that_names_who_can(
    ada: Client, manuela: Client
) -> None:
    deal = cast.deal(amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110")
    outcome = cast.propose("opportunity.edit", deal, by=cast.bob(), amount="2000000")
    record = Conflict.objects.get(pk=outcome.record)

    page = manuela.get(url("change", record)).content.decode()
    reason = re.search(r'value="apply"[^>]* disabled title="([^"]+)"', page)
    assert reason is not None
    assert "Ada Alves can" in reason[1]

    answer = decide(manuela, record, "apply")
    assert answer.status_code == 403
    assert reason[1] in answer.content.decode(), "button and refusal say the same: it is one rule"
    assert amount(deal) == "110.00"
    evidence = Conflict.objects.latest("pk")
    assert (evidence.rule, evidence.actor, evidence.result) == (
        "beyond_amount",
        str(actors.person(cast.manager())),
        Result.REFUSED,
    )

    answer = decide(manuela, record, "hand_over", reason="knows_more", to=cast.administrator().pk)
    assert answer.status_code == 302
    assert Conflict.objects.get(pk=record.pk).responsible == cast.administrator()
    assert decide(ada, record, "apply").status_code == 302
    assert amount(deal) == "2000000.00"


def test_handing_over_asks_to_whom(ada: Client) -> None:
    cast.manager()
    _, record = clash()
    answer = decide(ada, record, "hand_over")
    assert answer.status_code == 422
    assert "Choose who it goes to." in words(answer)
    assert decide(ada, record, "hand_over", to=cast.charlie().pk).status_code == 409


def test_who_may_not_decide_meets_a_403_and_who_is_not_signed_in_a_form_to_sign_in() -> None:
    deal, record = clash()
    form = {"decision": "apply", "reason": "agreed", "revision": 1, "form": "x", "version": 2}
    for address in (url("decide", record), reverse("admin:conflicts_conflict_many")):
        assert signed_in(cast.alice()).post(address, form).status_code == 403
        assert Client().post(address, form).status_code == 401
    for address in (url("claim", record), url("giveback", record)):
        assert signed_in(cast.alice()).post(address).status_code in (302, 403)
    assert claims.holder(record.pk) is None
    assert amount(deal) == "110.00"


def test_a_manager_decides_nothing_of_another_team(manuela: Client) -> None:
    deal, record = clash("Theirs", owner=cast.charlie())
    form = {"decision": "apply", "reason": "agreed", "revision": 1, "form": "x", "version": 2}
    assert manuela.post(url("decide", record), form).status_code == 404
    assert manuela.post(url("claim", record)).status_code == 404
    assert amount(deal) == "110.00"


def test_deciding_is_a_post(ada: Client) -> None:
    _, record = clash()
    for page in ("claim", "giveback", "decide"):
        assert ada.get(url(page, record)).status_code == 405
    assert ada.get(reverse("admin:conflicts_conflict_many")).status_code == 405


def test_an_agents_wish_can_be_sent_back_to_the_agent_and_a_persons_cannot(ada: Client) -> None:
    deal = cast.deal(amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110")
    outcome = cast.propose("opportunity.edit", deal, by=cast.AGENT, amount="120")
    record = Conflict.objects.get(pk=outcome.record)
    assert decide(ada, record, "ask_again").status_code == 302
    assert Decision.objects.get().kind == DecisionKind.ASK_AGAIN

    _, other = clash("Another")
    page = ada.get(url("change", other)).content.decode()
    assert re.search(r'value="ask_again"[^>]* disabled title="No agent can be asked', page)


# ---- many at once


def in_between(client: Client, records: list[Conflict], action: str) -> Any:
    picked = {"action": action, "_selected_action": [record.pk for record in records]}
    return client.post(reverse("admin:conflicts_conflict_changelist"), picked)


def many(client: Client, page: Any, **more: Any) -> Any:
    text = page.content.decode()
    seen = re.findall(r'name="seen" value="([^"]+)"', text)
    [form] = re.findall(r'name="form" value="([^"]+)"', text)
    [kind] = re.findall(r'name="decision" value="([^"]+)"', text)
    wish = {"seen": seen, "form": form, "decision": kind, "reason": "still_right", **more}
    return client.post(reverse("admin:conflicts_conflict_many"), wish)


def test_many_are_applied_and_what_moved_was_settled_or_is_held_is_set_aside_with_its_reason(
    ada: Client, manuela: Client
) -> None:
    pairs = [clash(f"deal-{number}") for number in range(5)]
    deals, records = [deal for deal, _ in pairs], [record for _, record in pairs]
    page = in_between(ada, records, "apply_many")
    assert "5 will be decided" in words(page)

    cast.propose("opportunity.edit", Opportunity.objects.get(pk=deals[0].pk), by=cast.alice(), amount="130")
    decide(manuela, records[1], "drop")
    manuela.post(url("claim", records[2]))
    answer = words(many(ada, page))

    assert "2 are decided" in answer
    assert "3 are set aside" in answer
    assert "There are two values now for amount" in answer
    assert "Manuela Moraes settled this already (dropped)." in answer
    assert "Manuela Moraes is deciding about this until" in answer
    assert [amount(deal) for deal in deals] == ["130.00", "110.00", "110.00", "120.00", "120.00"]
    assert Decision.objects.filter(kind="apply").count() == 2


def test_what_cannot_go_along_is_set_aside_before_anybody_presses(ada: Client, manuela: Client) -> None:
    _, mine = clash("mine")
    deal = cast.deal("big", amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110")
    big = Conflict.objects.get(pk=cast.propose("opportunity.edit", deal, by=cast.bob(), amount="2000000").record)
    page = in_between(manuela, [mine, big], "drop_many")
    assert "One will be decided" in words(page)
    assert "One is set aside" in words(page)
    assert "Ada Alves can" in words(page)
    many(manuela, page)
    assert Conflict.objects.get(pk=mine.pk).resolution == "drop"
    assert Conflict.objects.get(pk=big.pk).closed_at is None


def test_many_need_one_reason(ada: Client) -> None:
    _, record = clash()
    page = in_between(ada, [record], "drop_many")
    answer = many(ada, page, reason="")
    assert answer.status_code == 422
    assert "Say why: one click." in words(answer)
    assert many(ada, answer).status_code == 200
    assert Conflict.objects.get(pk=record.pk).resolution == "drop"


def test_many_by_hand_reach_nothing_that_is_not_in_ones_queue(manuela: Client) -> None:
    deal, record = clash("Theirs", owner=cast.charlie())
    wish = {"seen": [f"{record.pk}.1.2"], "form": "x", "decision": "apply", "reason": "agreed"}
    answer = manuela.post(reverse("admin:conflicts_conflict_many"), wish)
    assert "Theirs" not in words(answer)
    assert amount(deal) == "110.00"


# ---- the list


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"amount": "0"}, {"small"}),
        ({"amount": "100000"}, {"large"}),
        ({"amount": "none"}, {"none"}),
        ({"held": "me"}, {"small"}),
        ({"held": "free"}, {"large", "none"}),
        ({"held": "others"}, set()),
        ({"deadline": "up"}, {"none"}),
    ],
)
def test_by_amount_by_holder_and_what_moved_up(ada: Client, query: dict[str, str], found: set[str]) -> None:
    _, small = clash("small")
    large = cast.deal("large", amount="200000")
    cast.propose("opportunity.edit", large, by=cast.alice(), amount="210000")
    cast.propose("opportunity.edit", large, by=cast.bob(), amount="220000")
    none = cast.deal("none")
    cast.propose("opportunity.edit", none, by=cast.alice(), decision="Rui")
    cast.propose("opportunity.edit", none, by=cast.bob(), decision="Inês")
    claims.take(small.pk, by=actors.person(cast.administrator()))
    Conflict.objects.filter(subject_label="none").update(level=1, escalated_at=timezone.now())

    rows = ada.get(reverse("admin:conflicts_conflict_changelist"), query).context["cl"].result_list
    assert {row.subject_label for row in rows} == found
