"""SeenForm: a form in the admin that is refused when the row has moved since the form was shown.

For what is no subject (accounts, teams, policies): two administrators who edit one row must not overwrite each other
unseen. The form carries, signed, what it was first shown with; saving compares it with the row, locked, in the
transaction of the save. A refusal keeps all that was typed and says what moved.
"""

from typing import Any

from django import forms
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core import signing
from django.db import models
from django.utils.translation import gettext as _

from conflicts.values import read

SALT = "conflicts.admin.seen"
UNCOMPARED = frozenset({"password", "last_login"})


class SeenForm(forms.ModelForm):  # type: ignore[type-arg]
    """Add the field names `seen` to the first fieldset, or leave the fieldsets alone."""

    seen = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["seen"] = signing.dumps(read(self.instance, self._compared()), salt=SALT, compress=True)

    def _compared(self) -> list[str]:
        return [field.name for field in self.instance._meta.concrete_fields if field.name not in UNCOMPARED]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.instance.pk:
            self._compare(cleaned.get("seen", ""))
        return cleaned

    def _compare(self, text: str) -> None:
        try:
            seen = signing.loads(text, salt=SALT)
        except signing.BadSignature:
            raise forms.ValidationError(
                _("This form does not say what it was made for. Open the page again.")
            ) from None
        # Locked until the save that follows in this transaction.
        row = type(self.instance)._base_manager.select_for_update().get(pk=self.instance.pk)
        now = read(row, [name for name in self._compared() if name in seen])
        moved = [name for name, value in now.items() if seen[name] != value]
        if moved:
            what = ", ".join(str(row._meta.get_field(name).verbose_name) for name in moved)
            raise forms.ValidationError(
                _("%(who)s changed %(what)s after this page was opened. Nothing was saved; open the page again."),
                params={"who": _who(row), "what": what},
            )


def _who(row: models.Model) -> str:
    """The last who saved it in the admin."""
    kind = ContentType.objects.get_for_model(row)
    entry = LogEntry.objects.filter(content_type=kind, object_id=str(row.pk)).select_related("user").first()
    return str(entry.user) if entry else _("Somebody")
