"""Authority levels: kept by administrators through the gate; who has not enough is told who has."""

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from conflicts import actors, history
from conflicts.models import AuthorityLevel
from conflicts.refs import Ref
from crm import authority
from crm.authority import Need, has_authority, limit_of, refusal, who_can
from crm.models.user import Role
from tests import cast

pytestmark = pytest.mark.django_db

LIST = "admin:conflicts_authoritylevel_changelist"


def url(role: str = "manager") -> str:
    return reverse("admin:conflicts_authoritylevel_set", args=[role])


def send(client: Client, **values: Any) -> Any:
    level = AuthorityLevel.objects.filter(role="manager").first()
    form = {"amount": "5000", "currency": "BRL", "discount": "12", "legal": "1", "note": "", "version": ""}
    return client.post(url(), {**form, **({"version": level.version} if level else {}), **values})


def test_every_role_is_listed_with_its_level_before_anybody_has_set_one(ada: Client) -> None:
    page = ada.get(reverse(LIST)).content.decode()
    for words in ("Salesperson", "Manager", "Administrator", "R$100,000.00", "without limit", "as delivered"):
        assert words in page, words


def test_an_administrator_sets_a_level_and_its_history_stays(ada: Client) -> None:
    assert send(ada).status_code == 302
    assert send(ada, amount="7,500").status_code == 302
    level = AuthorityLevel.objects.get()
    assert (level.role, level.amount, level.discount, level.legal, level.version) == (
        "manager",
        Decimal(7500),
        Decimal(12),
        True,
        2,
    )
    assert history.values_at(Ref.of(level), 1)["amount"] == "5000.00"  # type: ignore[index]
    assert level.author.name == "Ada Alves"
    assert limit_of(cast.manager()).amount == 7500
    assert "R$7,500.00" in ada.get(reverse(LIST)).content.decode()


def test_an_empty_amount_is_no_limit(ada: Client) -> None:
    send(ada, amount="")
    assert limit_of(cast.manager()).amount is None


def test_of_two_administrators_the_second_is_told_and_keeps_what_was_typed(ada: Client) -> None:
    send(ada)
    cast.propose("authority.edit", AuthorityLevel.objects.get(), by=cast.other_administrator(), amount="6000")
    answer = send(ada, amount="8000", version=1)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "There are two values now for amounts up to" in page
    assert 'value="8000"' in page
    assert "R$6,000.00" in page
    assert AuthorityLevel.objects.get().amount == 6000


def test_a_form_from_before_somebody_set_it_first_does_nothing(ada: Client) -> None:
    cast.propose("authority.create", by=cast.other_administrator(), role="manager", amount="6000")
    assert send(ada, version="").status_code == 428
    assert AuthorityLevel.objects.get().amount == 6000


@pytest.mark.parametrize("typed", [{"amount": "lots"}, {"discount": "200"}, {"currency": "XQX"}])
def test_what_fits_no_level_is_said_beside_its_field(ada: Client, typed: dict[str, str]) -> None:
    answer = send(ada, **typed)
    [(name, value)] = typed.items()
    assert answer.status_code == 422
    assert f'aria-describedby="f-{name}-fault"' in answer.content.decode()
    assert f'value="{value}"' in answer.content.decode()
    assert not AuthorityLevel.objects.exists()


def test_a_manager_may_look_and_not_set(manuela: Client) -> None:
    assert manuela.get(reverse(LIST)).status_code == 200
    assert manuela.get(url()).status_code == 403
    assert send(manuela).status_code == 403
    assert cast.propose("authority.create", by=cast.manager(), role="manager", amount="9").result == "refused"
    assert cast.propose("authority.create", by=cast.AGENT, role="manager", amount="9").result == "refused"


def test_no_such_role(ada: Client) -> None:
    assert ada.get(url("emperor")).status_code == 404


# ---- the rule


def need(amount: str = "", **more: Any) -> Need:
    return Need(amount=Decimal(amount) if amount else None, **{"currency": "BRL" if amount else "", **more})


@pytest.mark.parametrize(
    ("wanted", "who"),
    [
        (Need(), "alice bob manager ada"),
        (need("100000"), "alice bob manager ada"),
        (need("100000.01"), "manager ada"),
        (need("1000000.01"), "ada"),
        (need("1", currency="USD"), "ada"),
        (Need(discount=Decimal(10)), "alice bob manager ada"),
        (Need(discount=Decimal("10.01")), "manager ada"),
        (Need(discount=Decimal(26)), "ada"),
        (Need(legal=True), "ada"),
        (need("5", legal=True), "ada"),
    ],
)
def test_who_may_decide_what(wanted: Need, who: str) -> None:
    people = {"alice": cast.alice(), "bob": cast.bob(), "manager": cast.manager(), "ada": cast.administrator()}
    assert " ".join(name for name, user in people.items() if has_authority(user, wanted)) == who
    for user in people.values():
        assert (refusal(actors.person(user), wanted) is None) is has_authority(user, wanted)


def test_the_refusal_names_the_nearest_who_can_and_only_people_decide() -> None:
    manuela, ada = cast.manager(), cast.administrator()
    assert who_can(need("500000")) == [manuela, ada]
    assert str(refusal(cast.alice(), need("500000"))) == (
        "R$\u00a0500,000 is more than you may decide about (R$\u00a0100,000). Manuela Moraes or Ada Alves can."
    )
    assert str(refusal(cast.AGENT, need("1"))) == "Only a person may decide this: Manuela Moraes or Ada Alves."
    assert refusal(cast.SYSTEM, need("1")) is None, "time moves things up, it decides nothing"


def test_a_manager_of_another_team_and_a_closed_account_are_not_named() -> None:
    cast.user("marta", "Marta", "Melo", of=cast.team("South"), role=Role.MANAGER)
    gone = cast.administrator()
    gone.is_active = False
    gone.save()
    assert who_can(need("500000"), team=cast.team().pk) == []
    assert str(refusal(cast.alice(), need("500000"), team=cast.team().pk)).endswith("Nobody here yet can.")
    assert limit_of(gone) == authority.NONE
    assert not has_authority(gone, need("1"))
