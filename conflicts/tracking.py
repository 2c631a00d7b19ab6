"""`tracked`: the one way to declare that every version of a model is kept.

Apart from `conflicts/history.py`, which asks the versions, so that the kernel's own models can be declared with it.
"""

from typing import Any

import pghistory
from django.db import models


def tracked[M: type[models.Model]](model: M) -> M:
    """Class decorator: keep each version of `model` in an append-only table beside it (`<Model>Event`)."""
    child = hasattr(model, "subject_field")  # a ChildModel: which cannot be imported here, it is declared further on
    key = (f"{model.subject_field}", "subject_version") if child else ("pgh_obj", "version")  # type: ignore[attr-defined]
    attrs: dict[str, Any] = {} if child else {"version": models.BigIntegerField()}
    return pghistory.track(  # type: ignore[no-any-return]
        pghistory.InsertEvent(),
        pghistory.UpdateEvent(),
        append_only=True,
        context_field=None,  # type: ignore[arg-type]
        attrs=attrs,
        meta={"indexes": [models.Index(fields=key, name=f"{model._meta.model_name}_event_version")]},
    )(model)
