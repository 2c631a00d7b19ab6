"""Media: what came with a message, named and never fetched: nothing of a stranger's is loaded into this house.

Stored as [{"kind": ..., "name": ..., "id": ...}] (Message.media); `words` says it in the reader's language.
"""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from crm.actions.fields import clean_line

UNKNOWN = "unknown"
"""A kind that this release does not know: the line says so, for the customer did write something."""

_KINDS = {
    "image": gettext_lazy("picture"),
    "video": gettext_lazy("video"),
    "audio": gettext_lazy("voice message or sound"),
    "document": gettext_lazy("document"),
    "sticker": gettext_lazy("sticker"),
    "location": gettext_lazy("place on the map"),
    "contacts": gettext_lazy("contact card"),
    "reaction": gettext_lazy("reaction to a message"),
}


def item(kind: str, *, name: object = "", id: object = "") -> dict[str, str]:
    """One attachment as it is stored: whatever a provider calls it becomes one short line of text."""
    return {"kind": kind, "name": _line(name), "id": _line(id)}


def words(media: Mapping[str, str]) -> str:
    """“picture: invoice.png”; of an unknown kind that it cannot be shown, with the provider's word for it."""
    kind, name = media.get("kind", ""), media.get("name", "")
    if kind not in _KINDS:
        return _("a message that cannot be shown here (%(kind)s)") % {"kind": name or kind or UNKNOWN}
    if not name:
        return str(_KINDS[kind])
    return _("%(kind)s: %(name)s") % {"kind": _KINDS[kind], "name": name}


def _line(value: object) -> str:
    return str(clean_line(str(value)))[:200] if value else ""
