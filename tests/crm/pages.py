"""What the tests of pages share: a signed-in browser, and the hidden fields of the forms it is shown."""

import re

from django.test import Client
from django.urls import reverse

from crm.models import User


def client(user: User) -> Client:
    browser = Client()
    browser.force_login(user)
    return browser


def htmx(**headers: str) -> dict[str, str]:
    return {"HX-Request": "true", **headers}


def hidden(html: str, name: str, *, within: str = "") -> str:
    """The value of a hidden field; `within` names the id of the element to look behind."""
    start = html.index(f'id="{within}"') if within else 0
    found = re.search(rf'name="{name}" value="([^"]*)"', html[start:])
    assert found, f"no field {name}"
    return found[1]


def at(name: str, *args: object) -> str:
    return reverse(name, args=args)
