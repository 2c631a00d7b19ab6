"""What the WhatsApp Cloud API tells us: one post, many numbers, many messages, in one form for all channels.

Guarantees that whatever a signed post holds becomes events or is passed over, entry by entry: one odd entry never hides
its neighbours, and a kind of message that is not known here is still a line in the thread.
Next in the flow: `crm/views/webhooks.py`, then `crm/accepting.py`.
"""

import datetime as dt
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from crm.channels import media
from crm.channels.events import Echo, Event, Incoming, Reported
from crm.channels.registry import Unreadable

STATES: Mapping[str, str] = {
    "sent": "sent",
    "delivered": "delivered",
    "read": "read",
    "played": "read",
    "failed": "failed",
}
"""Their word for what became of a message of ours -> ours. Others (`deleted`) tell nothing of the way."""

NAMED = ("image", "video", "audio", "document", "sticker")


def read(post: Any) -> list[tuple[str, Event]]:
    """(the number's id, event), in the order of the post. Raises Unreadable if it is no post of this provider."""
    if not isinstance(post, dict) or not isinstance(post.get("entry"), list):
        raise Unreadable("there is no list of entries")
    return [found for entry in _dicts(post["entry"]) for found in _of_entry(entry)]


def numbers(post: Any) -> list[str]:
    """The ids of the numbers that a readable post speaks of."""
    changes = [change for entry in _dicts(post["entry"]) for change in _dicts(entry.get("changes"))]
    found = [_text(_dict(_dict(change.get("value")).get("metadata")).get("phone_number_id")) for change in changes]
    return list(dict.fromkeys(number for number in found if number))


def _of_entry(entry: dict[str, Any]) -> Iterator[tuple[str, Event]]:
    for change in _dicts(entry.get("changes")):
        value = _dict(change.get("value"))
        number = _text(_dict(value.get("metadata")).get("phone_number_id"))
        if number:  # else it is about the account: a template was approved, for instance
            yield from ((number, event) for event in _events(value))


def _events(value: dict[str, Any]) -> Iterator[Event]:
    names = _names(value)
    for message in _dicts(value.get("messages")):
        yield from _incoming(message, names)
    for echo in _dicts(value.get("message_echoes")):
        yield from _echo(echo)
    for status in _dicts(value.get("statuses")):
        yield from _reported(status)
    for history in _dicts(value.get("history")):
        for thread in _dicts(history.get("threads")):
            for message in _dicts(thread.get("messages")):
                yield from _of_old(message, customer=_text(thread.get("id")), names=names)


def _names(value: dict[str, Any]) -> dict[str, str]:
    """Whatever a customer may be called by -> the name in their profile."""
    found: dict[str, str] = {}
    for contact in _dicts(value.get("contacts")):
        profile = _dict(contact.get("profile"))
        name = _text(profile.get("name")) or _text(profile.get("username"))
        found |= {_text(contact.get(key)): name for key in ("wa_id", "user_id")}
    found.pop("", None)
    return found


def _incoming(message: dict[str, Any], names: Mapping[str, str], *, imported: bool = False) -> Iterator[Incoming]:
    # Who has a user name may have no number: then the id by which this business knows them is the address.
    sender, user = _text(message.get("from")), _text(message.get("from_user_id"))
    number = _id(message.get("id"))
    if not number or not (sender or user):
        return
    text, attached = _content(message)
    yield Incoming(
        provider_id=number,
        peer=sender or user,
        name=names.get(sender, "") or names.get(user, ""),
        text=text,
        media=attached,
        sent_at=_time(message.get("timestamp")),
        automatic=message.get("type") in ("system", "reaction"),  # nobody wrote anything
        imported=imported,
        phone=phone_of(sender),
    )


def _echo(echo: dict[str, Any]) -> Iterator[Echo]:
    """A person of ours wrote it in the app on the phone."""
    customer, number = _text(echo.get("to")) or _text(echo.get("to_user_id")), _id(echo.get("id"))
    if customer and number:
        text, attached = _content(echo)
        yield Echo(
            provider_id=number,
            peer=customer,
            text=text,
            media=attached,
            sent_at=_time(echo.get("timestamp")),
            phone=phone_of(customer),
            reaction=echo.get("type") == "reaction",
        )


def _of_old(message: dict[str, Any], *, customer: str, names: Mapping[str, str]) -> Iterator[Event]:
    """From before the number was connected."""
    if _text(message.get("from")) == customer:
        yield from _incoming(message, names, imported=True)
    else:
        yield from _echo({**message, "to": message.get("to") or customer})


def _reported(status: dict[str, Any]) -> Iterator[Reported]:
    state, number = STATES.get(_text(status.get("status"))), _id(status.get("id"))
    if state and number:
        yield Reported(
            provider_id=number,
            state=state,  # type: ignore[arg-type]
            at=_time(status.get("timestamp")),
            error="; ".join(error for problem in _dicts(status.get("errors")) if (error := words_of(problem))),
            key=_text(status.get("biz_opaque_callback_data")),
        )


def words_of(problem: Mapping[str, Any]) -> str:
    """An error of theirs as one line: its number, and the most particular words that come with it."""
    details = _text(_dict(problem.get("error_data")).get("details"))
    words = details or _text(problem.get("message")) or _text(problem.get("title"))
    return f"{problem.get('code', '')} {words}".strip()[:200]


def _content(message: dict[str, Any]) -> tuple[str, tuple[dict[str, str], ...]]:
    """The words, and what came with them."""
    kind = _text(message.get("type")) or media.UNKNOWN
    part = _dict(message.get(kind))
    match kind:
        case "text":
            return _text(part.get("body")), ()
        case "system":
            return _text(part.get("body")), ()
        case "button":
            return _text(part.get("text")), ()
        case "interactive" if answer := _dict(part.get("button_reply")) or _dict(part.get("list_reply")):
            return _text(answer.get("title")), ()
        case "reaction":
            return "", (media.item("reaction", name=part.get("emoji"), id=part.get("message_id")),)
        case "location":
            place = _text(part.get("name")) or _text(part.get("address"))
            where = f"{part.get('latitude', '')}, {part.get('longitude', '')}"
            return "", (media.item("location", name=f"{place} ({where})" if place else where),)
        case "contacts":
            cards = _dicts(message.get("contacts"))
            return "", tuple(media.item("contacts", name=_dict(c.get("name")).get("formatted_name")) for c in cards)
        case _ if kind in NAMED:
            item = media.item(kind, name=part.get("filename"), id=part.get("id"))
            return _text(part.get("caption")), (item,)
    said = next((_text(_dict(problem).get("title")) for problem in _dicts(message.get("errors"))), "")
    return "", (media.item(media.UNKNOWN, name=f"{kind}: {said}" if said else kind),)


def phone_of(sender: str) -> str:
    """The number in E.164. WhatsApp keeps some countries' old forms: Brazil's mobile numbers without their ninth digit,
    Mexico's with a 1; the contact has the one that is dialled.
    """
    if not (sender.isascii() and sender.isdigit()):
        return ""
    if len(sender) == 12 and sender.startswith("55") and sender[4] in "6789":
        sender = f"{sender[:4]}9{sender[4:]}"
    elif len(sender) == 13 and sender.startswith("521"):
        sender = f"52{sender[3:]}"
    return f"+{sender}"


def _id(value: object) -> str:
    """Theirs; one that no column holds by its hash, which is the same each time it is told."""
    text = _text(value)
    return text if len(text) <= 200 else f"sha256-{hashlib.sha256(text.encode()).hexdigest()}"


def _time(value: object) -> dt.datetime | None:
    try:
        return dt.datetime.fromtimestamp(int(str(value)), tz=dt.UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _text(value: object) -> str:
    """Without what no column holds: NUL, and halves of a character that JSON lets through."""
    return "".join(c for c in value if c != "\0" and not "\ud800" <= c <= "\udfff") if isinstance(value, str) else ""


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
