"""What the tests of the deal page share: a signed-in person without JavaScript, forms, and the words on a page."""

import html
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

from django.test import Client
from django.urls import reverse

from crm.models import Opportunity, User

HTMX = {"HX-Request": "true"}


def signed_in(user: User) -> Client:
    client = Client(headers={"accept-language": "en"})
    client.force_login(user)
    return client


def text(response: Any) -> str:
    return str(response.content.decode())


def words(response: Any) -> str:
    """What a person reads: no tags, plain spaces."""
    page = response if isinstance(response, str) else text(response)
    page = re.sub(r"<(template|script|style|svg).*?</\1>", " ", page, flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).replace("\u00a0", " ").split())


class _Forms(HTMLParser):
    """Every form of a page with its action and the fields a browser would send."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, Any]] = []
        self.inside: dict[str, Any] | None = None
        self.select = ""
        self.area = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        a = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.inside = {"action": a.get("action", ""), "fields": {}}
            self.found.append(self.inside)
        if self.inside is None:
            return
        fields = self.inside["fields"]
        name = a.get("name", "")
        if tag == "input" and name:
            if a.get("type") in ("radio", "checkbox"):
                if "checked" in a:
                    fields[name] = a.get("value", "on")
            else:
                fields[name] = a.get("value", "")
        elif tag == "select":
            self.select = name
            fields.setdefault(name, "")
        elif tag == "option" and self.select and "selected" in a:
            fields[self.select] = a.get("value", "")
        elif tag == "textarea":
            self.area = name
            fields[name] = ""

    def handle_data(self, data: str) -> None:
        if self.inside is not None and self.area:
            self.inside["fields"][self.area] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.inside = None
        elif tag == "select":
            self.select = ""
        elif tag == "textarea":
            self.area = ""


def forms(response: Any) -> Iterator[dict[str, Any]]:
    parser = _Forms()
    parser.feed(text(response))
    yield from parser.found


def form(response: Any, action: str, **holding: str) -> dict[str, str]:
    """The fields of the form that goes to `action` (and holds the given values), as a browser would send them."""
    for found in forms(response):
        fields = found["fields"]
        if found["action"] == action and all(fields.get(name) == value for name, value in holding.items()):
            return {name: value for name, value in fields.items() if name != "csrfmiddlewaretoken"}
    raise AssertionError(f"No form for {action} with {holding}.")


def url(name: str, deal: Opportunity, *more: Any) -> str:
    return reverse(name, args=[deal.pk, *more])


def opened(client: Client, deal: Opportunity, *, edit: str = "all") -> dict[str, str]:
    """The fields of the deal's edit form as the person sees it now."""
    return form(client.get(f"{url('deal', deal)}?edit={edit}"), url("deal_edit", deal))
