"""Steps that wait for others."""

import pytest

from config.lab import steps


@pytest.mark.django_db(transaction=True)
def test_each_step_is_run_once_and_after_what_it_waits_for() -> None:
    done: list[int] = []
    todo = {number: (lambda number=number: done.append(number)) for number in range(40)}
    steps.run(todo, {number: {number - 1} for number in range(1, 40)})  # type: ignore[arg-type]
    assert done == list(range(40))


@pytest.mark.django_db(transaction=True)
def test_the_first_failure_ends_the_run_and_is_raised() -> None:
    def fails() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        steps.run({"a": fails, "b": lambda: None}, {"b": {"a"}})


def test_nothing_to_do_is_nothing_done() -> None:
    steps.run({}, {})
