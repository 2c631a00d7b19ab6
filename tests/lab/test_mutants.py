"""Every mutant fits the code as it is now, and leaves it as it was. That each is caught is said by `race --mutate`."""

import pytest

from config.lab import mutation
from config.lab.mutants import MUTANTS
from config.lab.mutation import Catch
from config.lab.taking_out import DoesNotFit, Mutant, rewritten
from conflicts import judging, leases

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_it_can_be_taken_out_and_put_back(mutant: Mutant) -> None:
    before = (judging.judge, judging.look, judging.merge_writes, leases.in_force)
    with mutant.out():
        pass
    assert (judging.judge, judging.look, judging.merge_writes, leases.in_force) == before


def test_what_is_not_in_the_code_cannot_be_taken_out() -> None:
    with pytest.raises(DoesNotFit, match="0 times, not once"), rewritten(judging, ("judge", "no such words", "")):
        pass


def catch(name: str, wrong: int, problem: str = "") -> Catch:
    return Catch(mutant=name, takes_out="", scenarios=(), wrong=wrong, problem=problem)


def test_a_mutant_counts_as_caught_only_if_something_went_wrong_by_a_judges_word() -> None:
    assert mutation.all_caught([catch("", 0), catch("lock", 3)])
    assert not mutation.all_caught([catch("", 0), catch("lock", 0)])
    assert not mutation.all_caught([catch("", 0), catch("lock", 3, "died without a word")])
    assert not mutation.all_caught([catch("", 1), catch("lock", 3)]), "the house itself must be clean"
