"""Ref: which subject, as a value. Sorting refs gives the one order in which the gate locks rows."""

from typing import TYPE_CHECKING, NamedTuple, cast

from django.apps import apps

if TYPE_CHECKING:
    from conflicts.models import VersionedModel


class Ref(NamedTuple):
    label: str
    """The model, as `app.model` in lower case."""
    pk: int

    @classmethod
    def of(cls, obj: "VersionedModel") -> "Ref":
        return cls(obj._meta.label_lower, obj.pk)

    @classmethod
    def parse(cls, text: str) -> "Ref":
        label, _, pk = text.partition(":")
        return cls(label, int(pk))

    def __str__(self) -> str:
        return f"{self.label}:{self.pk}"

    @property
    def model(self) -> "type[VersionedModel]":
        return cast("type[VersionedModel]", apps.get_model(self.label))
