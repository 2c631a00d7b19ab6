"""What the tests of the board read of a page: its columns, its cards, and what a card says."""

import html
import re
from typing import Any

from crm.models import Company, Opportunity
from tests import cast

HTMX = {"HX-Request": "true"}


def shown(response: Any) -> dict[str, list[str]]:
    """Stage -> titles of its cards, from the page's HTML, in their order."""
    found: dict[str, list[str]] = {}
    for name, column in re.findall(
        r'<section class="column".*?data-name="([^"]*)".*?>(.*?)</section>', text(response), re.S
    ):
        found[html.unescape(name)] = titles(column)
    return found


def titles(page: str) -> list[str]:
    return [html.unescape(title).strip() for title in re.findall(r"<h3[^>]*><a[^>]*>(.*?)</a></h3>", page, re.S)]


def card(response: Any, deal: Opportunity) -> str:
    """The HTML of one card; empty if it is not on the page."""
    found = re.search(rf'<li class="card deal" id="deal-{deal.pk}".*?</li>', text(response), re.S)
    return found.group(0) if found else ""


def head(response: Any, stage_name: str) -> str:
    """The words above a column: name, number, sums."""
    found = re.search(rf'<header id="head-{cast.stage(stage_name).pk}">(.*?)</header>', text(response), re.S)
    assert found, stage_name
    return words(found.group(1))


def words(page: str) -> str:
    """The text of a piece of page, with plain spaces."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).replace("\u00a0", " ").split())


def text(response: Any) -> str:
    return str(response.content.decode())


def company(name: str) -> Company:
    outcome = cast.propose("company.create", by=cast.alice(), name=name)
    assert outcome.written, outcome
    return Company.objects.get(pk=outcome.subject.pk)  # type: ignore[union-attr]


def at(stage_name: str, name: str, **params: Any) -> Opportunity:
    """A deal of Alice's in that stage."""
    return cast.deal(name, stage=cast.stage(stage_name).pk if cast.pipeline() else 0, **params)
