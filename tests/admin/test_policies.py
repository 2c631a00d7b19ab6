"""The page of the rules: every governed model stands on it as the gate reads it, its states as picture and list."""

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from conflicts.admin import diagram, policies
from conflicts.models import VersionedModel
from crm.models import Opportunity
from tests import cast
from tests.admin.conftest import signed_in

pytestmark = pytest.mark.django_db


def page(client: Client) -> str:
    answer = client.get(reverse("policies"))
    assert answer.status_code == 200
    return answer.content.decode()


def test_every_model_under_version_control_stands_on_it_by_itself(manuela: Client) -> None:
    shown = page(manuela)
    for model in policies.models():
        assert f'id="{model._meta.label_lower.replace(".", "-")}"' in shown
    assert set(policies.models()) == set(VersionedModel.__subclasses__())


def test_a_deals_rules_say_what_merges_what_is_recalculated_and_what_voids_a_yes(manuela: Client) -> None:
    deal = policies.shown(Opportunity)
    by_slug = {line.slug: line for line in deal.lines}
    assert by_slug["tags"].merges == "both are kept"
    assert by_slug["next_step_on"].merges == "recalculated from tasks"
    assert by_slug["owner"].voids
    assert by_slug["owner"].rereads
    assert by_slug["amount"].authority == "amounts"
    assert by_slug[""].merges == "a person decides"
    assert "Agreed with: head of sales." in page(manuela)


@pytest.mark.parametrize("model", [model for model in policies.models() if model.transitions], ids=lambda m: m.__name__)
def test_the_picture_has_each_state_once_and_each_move_once(model: type[VersionedModel]) -> None:
    picture = policies.shown(model).picture
    assert picture is not None
    assert sorted(node.slug for node in picture.nodes) == sorted(str(state) for state in model.transitions)
    assert len(picture.edges) == sum(len(after) for after in model.transitions.values())
    assert {node.slug for node in picture.nodes if node.terminal} == model.terminal_states()
    for node in picture.nodes:
        assert 0 <= node.x < node.right <= picture.width
        assert 0 <= node.y < node.y + node.height <= picture.height
    boxes = [(node.x, node.y) for node in picture.nodes]
    assert len(boxes) == len(set(boxes)), "no state hides another"


def test_the_picture_is_told_in_words_too_and_brings_no_style_or_script(manuela: Client) -> None:
    shown = page(manuela)
    pictures = re.findall(r"<svg class=\"v-states\".*?</svg>", shown, re.S)
    assert pictures
    for picture in pictures:
        assert "<title" in picture
        assert "<desc" in picture
        assert "style=" not in picture
        assert "<script" not in picture
    assert "may become won or lost" in shown


def test_what_no_move_reaches_is_drawn_all_the_same() -> None:
    moves = {"a": ["b"], "b": [], "lonely": []}
    picture = diagram.draw(moves, labels={slug: slug for slug in moves}, first="a", terminal=frozenset({"b"}))
    assert {node.slug for node in picture.nodes} == set(moves)


def test_it_is_read_in_portuguese(manuela: Client) -> None:
    with translation.override("pt-br"):
        assert policies.shown(Opportunity).name


def test_a_salesperson_does_not_enter() -> None:
    assert signed_in(cast.alice()).get(reverse("policies")).status_code == 302


def test_nothing_can_be_posted_to_it(manuela: Client) -> None:
    assert manuela.post(reverse("policies"), {"crm-opportunity": "everything merges"}).status_code == 405
