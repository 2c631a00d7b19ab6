"""SalesEditor: the inputs of the review queue as the product's pages have them: amounts in the reader's writing, people
and companies by name."""

from typing import Any

from conflicts.admin.editing import Control, Editor, Fault
from conflicts.resolving import Resolution
from crm import inputs

KINDS = {"amount": "text", "number": "text", "tags": "text", "name": "text", "yes": "choice"}


class SalesEditor(Editor):
    def control(self, resolution: Resolution, name: str, value: Any) -> Control:
        if not _of_the_record(resolution, name):
            return super().control(resolution, name, value)
        field = self.field(resolution, name)
        kind = inputs.kind_of(field)
        if kind == "yes":
            return super().control(resolution, name, value)
        options = tuple(inputs.options(field, resolution.subject)) if kind == "choice" else ()
        if kind == "choice" and getattr(field, "null", False):
            options = (("", "–"), *options)
        return Control(kind=KINDS.get(kind, kind), value=inputs.as_typed(value, field), options=options)

    def parse(self, resolution: Resolution, name: str, text: str) -> Any:
        if not _of_the_record(resolution, name):
            return super().parse(resolution, name, text)
        try:
            return inputs.parse(text, self.field(resolution, name), resolution.subject)
        except inputs.Fault as fault:
            raise Fault(str(fault)) from None


def _of_the_record(resolution: Resolution, name: str) -> bool:
    return resolution.subject is not None and name in type(resolution.subject).content_fields()
