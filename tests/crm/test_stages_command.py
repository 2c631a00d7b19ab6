"""`manage.py stages`: a workspace without a file of deals gets its stages, once."""

import pytest
from django.core.management import CommandError, call_command

from crm.models import Pipeline

pytestmark = pytest.mark.django_db


def test_stages_are_made_in_order_and_once(capsys):
    call_command("stages", "New, Proposal,Won,  Lost,")
    pipeline = Pipeline.objects.get()
    assert pipeline.is_default
    assert list(pipeline.stages.order_by("position").values_list("name", "kind")) == [
        ("New", "open"), ("Proposal", "open"), ("Won", "won"), ("Lost", "lost"),
    ]  # fmt: skip
    call_command("stages", "New, Proposal, Won, Lost")
    assert Pipeline.objects.get().version == pipeline.version
    assert capsys.readouterr().out.endswith("Sales: New, Proposal, Won, Lost.\n")


@pytest.mark.parametrize("names", [" , ", "x" * 121])
def test_names_that_are_none_or_too_long_are_one_clear_line(names):
    with pytest.raises(CommandError):
        call_command("stages", names)
    assert not Pipeline.objects.exists()
