"""How a conflict can have ended, in words. The slugs are stored."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from conflicts import sentences

RESOLUTIONS: dict[str, Any] = {
    "superseded": _("it had become needless"),
    "merged": _("both changes were put together"),
    "rebased": _("it was written on the newer version"),
    "refused": _("a rule forbids it"),
    "settled": _("somebody decided"),
    "clashed_again": _("it went on in a newer record"),
    "retried": _("it was given another chance"),
    "dropped": _("it was dropped"),
    "arrived": _("it had arrived"),
    "again": _("it had not arrived and is sent again"),
    "drop": _("dropped"),
    "apply": _("applied on the version in force"),
    "edit": _("changed and applied"),
    "ask_again": _("the agent was asked again"),
    "decided_late": _("the decision came too late"),
    "looked_again": _("the agent looked again"),
    "tried_again": _("it was tried again"),
}


def words(slug: str) -> str:
    return str(RESOLUTIONS.get(slug, slug))


sentences.shown_by("resolution", words)
