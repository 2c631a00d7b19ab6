"""Three edits of one customer's record: a routine corrects the phone, another adds a tag, a third moves the contract.

All three land, each as a version of its own, whatever the order; where two meet on one record the merge is written
down; and the third, which can change what everything else rests on, is not merged away into anything.
"""

from collections.abc import Callable
from itertools import permutations

import pytest

from conflicts import actors, gate, history
from conflicts.actors import Actor
from conflicts.models import Conflict
from conflicts.outcomes import Outcome, Result
from conflicts.refs import Ref
from crm.models import Contact, Contract
from tests import cast, papers
from tests.conflicts.wishes import wish
from tests.races.threads import together

pytestmark = pytest.mark.django_db(transaction=True)

ROUTINE = actors.integration("number-check", "Number check")
TAGGER = actors.agent("tagger", "Tagging agent")
OLD, NEW = "+55 11 98765-4321", "+55 11 98765-4300"

type Edit = Callable[[], Outcome]


def the_customer() -> tuple[Contact, Contract]:
    contact = cast.contact(
        company=papers.company().pk, tags=["cold"], addresses=[{"kind": "phone", "value": OLD, "is_primary": True}]
    )
    return contact, papers.offered()


def three_edits(contact: Contact, contract: Contract) -> dict[str, Edit]:
    """Each prepared on what its author has read before any of the others has written."""
    phone = wish("contact.add_address", contact, by=ROUTINE, kind="phone", value=NEW, is_primary=True)
    tag = wish("contact.edit", contact, by=TAGGER, tags=["cold", "key account"])
    said = {"document": contract.document, "fingerprint": contract.fingerprint}
    status = wish("contract.approve", contract, by=cast.manager(), **said)
    return {"phone": lambda: gate.commit(phone), "tag": lambda: gate.commit(tag), "status": lambda: gate.commit(status)}


def all_three_landed(contact: Contact, contract: Contract) -> None:
    person, paper = Contact.objects.get(pk=contact.pk), papers.again(contract)
    assert set(person.tags) == {"cold", "key account"}
    assert person.points.filter(value=NEW, removed=False).exists()
    assert (paper.state, paper.approved) == ("approved", contract.document)
    assert person.version == contact.version + 2
    assert paper.version == contract.version + 1


@pytest.mark.parametrize("order", list(permutations(("phone", "tag", "status"))), ids="-".join)
def test_in_every_order_all_three_land_each_with_a_version_of_its_own(order: tuple[str, ...]) -> None:
    contact, contract = the_customer()
    edits = three_edits(contact, contract)

    outcomes = {name: edits[name]() for name in order}

    assert all(outcome.written for outcome in outcomes.values())
    all_three_landed(contact, contract)
    assert outcomes["status"].result is Result.APPLIED  # another record: nothing to merge with
    first, second = [outcomes[name] for name in order if name != "status"]
    assert (first.result, second.result) == (Result.APPLIED, Result.REBASED)
    record = Conflict.objects.get()
    assert record.pk == second.record
    assert (record.version_read, record.closed_at is not None) == (contact.version, True)


@pytest.mark.parametrize("attempt", range(3))
def test_at_the_same_moment_all_three_land(attempt: int) -> None:
    contact, contract = the_customer()
    edits = three_edits(contact, contract)

    outcomes = together(*edits.values())

    assert all(outcome.written for outcome in outcomes)
    all_three_landed(contact, contract)


def test_where_two_of_them_meet_on_the_contract_the_tag_merges_and_the_status_stands() -> None:
    """The same three on one record: a note for the phone, a tag, and the move."""
    contract = papers.offered(tags=["cold"], note="Phone: 4321")
    said = {"document": contract.document, "fingerprint": contract.fingerprint}
    mine = wish("contract.edit", contract, by=cast.alice(), tags=["cold", "key account"])
    theirs = wish("contract.edit", contract, by=cast.bob(), tags=["cold", "urgent"], note="Phone: 4321\nPhone: 4300")
    status = wish("contract.approve", contract, by=cast.manager(), **said)

    results = [gate.commit(one).result for one in (mine, theirs, status)]

    assert results == [Result.APPLIED, Result.MERGED, Result.REBASED]
    paper = papers.again(contract)
    assert set(paper.tags) == {"cold", "key account", "urgent"}
    assert (paper.state, paper.note, paper.version) == ("approved", "Phone: 4321\nPhone: 4300", contract.version + 3)
    assert sorted(Conflict.objects.values_list("result", flat=True)) == ["merged", "rebased"]
    who = {change.version: Actor.parse(change.by).name for change in history.changes_since(Ref.of(contract), 1)}
    assert [who[contract.version + n] for n in (1, 2, 3)] == ["Alice Amaral", "Bob Borges", "Manuela Moraes"]


def test_the_third_changes_what_an_agent_may_do_with_the_whole() -> None:
    """A tag of an agent's that rested on an open contract is not put on one that somebody has ended meanwhile."""
    contract = papers.offered()
    tag = wish("contract.edit", contract, by=TAGGER, tags=["renew soon"])
    assert cast.propose("contract.cancel", contract, by=cast.alice(), reason="No money").written

    late = gate.commit(tag)

    assert not late.written
    assert papers.again(contract).tags == []
    record = Conflict.objects.get(pk=late.record)
    assert record.overtaken_by is not None
    assert record.overtaken_by.name == "Alice Amaral"
