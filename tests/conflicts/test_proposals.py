"""A proposal that could never be carried out is a mistake of the caller, said at once; nothing is written."""

import pytest

from conflicts import actions, gate
from conflicts.actions import Action
from conflicts.exceptions import BadParams, MissingVersion, UnknownAction
from conflicts.models import Conflict
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from crm.actions.fields import Params
from crm.models import Company
from tests import cast
from tests.conflicts.wishes import now, wish


@pytest.mark.parametrize("version", [0, -2])
def test_a_basis_without_a_version_is_no_basis(version: int) -> None:
    with pytest.raises(MissingVersion):
        Proposal(action="company.edit", by=cast.AGENT, basis=(Read(subject=Ref("crm.company", 1), version=version),))


@pytest.mark.django_db
def test_an_action_that_is_not_registered_does_not_exist() -> None:
    with pytest.raises(UnknownAction):
        gate.commit(wish("opportunity.delete", cast.deal(), by=cast.alice()))


def test_a_registered_name_never_changes_its_meaning() -> None:
    taken = Action(name="company.edit", subject=Company, params=Params, words="", apply=lambda work: None)
    with pytest.raises(ValueError, match="already registered"):
        actions.register(taken)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"colour": "red"}, "colour"),
        ({"amount": -1}, "amount"),
        ({"amount": "1e30"}, "amount"),
        ({"amount": "NaN"}, "amount"),
        ({"amount": "ten"}, "amount"),
        ({"currency": "XYZ"}, "currency"),
        ({"expected_close": "2031-02-30"}, "expected_close"),
        ({"name": "n" * 201}, "name"),
        ({"owner": 0}, "owner"),
    ],
)
def test_params_that_do_not_fit_are_refused_field_by_field(params: dict[str, object], field: str) -> None:
    deal = cast.deal()
    with pytest.raises(BadParams) as raised:
        gate.commit(wish("opportunity.edit", deal, by=cast.alice(), **params))

    assert list(raised.value.errors) == [field]
    assert all(raised.value.errors[field])
    assert now(deal).version == deal.version
    assert not Conflict.objects.exists()


@pytest.mark.django_db
def test_one_proposal_with_bad_params_writes_nothing_of_the_others() -> None:
    """Params are checked before the first statement: a caller's mistake never leaves half a batch."""
    deal = cast.deal()
    good = wish("opportunity.edit", deal, by=cast.alice(), decision="Rui")
    with pytest.raises(BadParams):
        gate.commit_many([good, wish("opportunity.edit", deal, by=cast.alice(), amount=-1)])
    assert now(deal).version == deal.version


@pytest.mark.django_db
def test_the_same_wish_has_the_same_fingerprint_and_another_has_not() -> None:
    deal = cast.deal()
    first = wish("opportunity.edit", deal, by=cast.alice(), amount="10")
    assert first.fingerprint == wish("opportunity.edit", deal, by=cast.bob(), amount="10").fingerprint
    assert first.fingerprint != wish("opportunity.edit", deal, by=cast.alice(), amount="11").fingerprint
    moved = cast.at_version(now(deal), deal.version + 1)
    assert first.fingerprint != wish("opportunity.edit", moved, by=cast.alice(), amount="10").fingerprint


@pytest.mark.django_db
def test_a_read_and_an_outcome_survive_being_stored() -> None:
    deal = cast.deal(amount="100.50")
    read = Read.of(deal, "amount", "owner", "tasks")
    assert Read.from_json(read.as_json()) == read
    assert read.values == {"amount": "100.50", "owner": cast.alice().pk}
    assert read.aspects == {"tasks"}

    outcome = gate.commit(wish("opportunity.edit", deal, by=cast.alice(), amount="200"))
    assert type(outcome).from_json(outcome.as_json()) == outcome


def test_only_a_fact_may_rest_on_what_nobody_read() -> None:
    unread = Read.unread(Ref("crm.opportunity", 1))
    with pytest.raises(MissingVersion):
        gate.commit(Proposal(action="opportunity.edit", by=cast.AGENT, basis=(unread,), params={"amount": "1"}))
