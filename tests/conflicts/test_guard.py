"""The guard: every kind of write that nobody compared is refused, by the database wherever Django could be passed by.

The tables below are `UNCOMPARED` (writes to a subject) and `ORPHANS` (writes to a child). Each is tried on every model
twice: with the guard in place it must be refused and change nothing; with the guard taken out the very same write must
go through, which proves that the test tests the guard and nothing else.
"""

from collections.abc import Callable
from typing import Any

import pytest
from concurrency.api import concurrency_disable_increment, disable_concurrency
from concurrency.exceptions import RecordModifiedError
from django.db import DatabaseError, connection, models, transaction
from django.db.models.deletion import Collector
from django.utils import timezone

from conflicts import guard
from conflicts.exceptions import UnversionedWrite
from conflicts.models import ChildModel, VersionedModel
from crm.models import Company, Contact, Opportunity, Task
from tests import cast
from tests.conflicts import samples
from tests.conflicts.samples import CHILDREN, SUBJECTS, TEXT, execute, in_force, refused, table, without_guard

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("committed_samples")]

NEW = "Written by nobody who looked"


def by_model(models: list[Any]) -> Any:
    return pytest.mark.parametrize("model", models, ids=lambda m: m.__name__)


# --- writes to a subject ---------------------------------------------------------------------------------------------


def save_named_fields(obj: VersionedModel) -> None:
    setattr(obj, TEXT[type(obj)], NEW)
    obj.save(update_fields=[TEXT[type(obj)]])


def queryset_update(obj: VersionedModel) -> None:
    type(obj)._base_manager.filter(pk=obj.pk).update(**{TEXT[type(obj)]: NEW})


def bulk_update(obj: VersionedModel) -> None:
    setattr(obj, TEXT[type(obj)], NEW)
    type(obj)._base_manager.bulk_update([obj], [TEXT[type(obj)]])


def upsert(obj: VersionedModel) -> None:
    """ON CONFLICT DO UPDATE of a row that says it is new; version 1, so that only the UPDATE half can refuse it."""
    setattr(obj, TEXT[type(obj)], NEW)
    obj.version = 1
    type(obj)._base_manager.bulk_create(
        [obj], update_conflicts=True, unique_fields=["id"], update_fields=[TEXT[type(obj)]]
    )


def raw_update(obj: VersionedModel) -> None:
    execute(f"UPDATE {table(type(obj))} SET {TEXT[type(obj)]} = %s WHERE id = %s", [NEW, obj.pk])


def raw_update_by_two(obj: VersionedModel) -> None:
    execute(f"UPDATE {table(type(obj))} SET version = version + 2 WHERE id = %s", [obj.pk])


def raw_update_backwards(obj: VersionedModel) -> None:
    execute(f"UPDATE {table(type(obj))} SET version = version - 1 WHERE id = %s", [obj.pk])


def raw_change_of_identity(obj: VersionedModel) -> None:
    execute(f"UPDATE {table(type(obj))} SET version = version + 1, id = id + 100000 WHERE id = %s", [obj.pk])


def stale_save_with_checks_off(obj: VersionedModel) -> None:
    """The library's own switch, process-wide: its check is gone, the database's is not."""
    with disable_concurrency(type(obj)):
        obj.version -= 1
        setattr(obj, TEXT[type(obj)], NEW)
        obj.save()


def save_without_increment(obj: VersionedModel) -> None:
    setattr(obj, TEXT[type(obj)], NEW)
    with concurrency_disable_increment(obj):
        obj.save()


UNCOMPARED: list[Callable[[Any], None]] = [
    save_named_fields,
    queryset_update,
    bulk_update,
    upsert,
    raw_update,
    raw_update_by_two,
    raw_update_backwards,
    raw_change_of_identity,
    stale_save_with_checks_off,
    save_without_increment,
]


def by_write(writes: list[Callable[[Any], None]]) -> Any:
    return pytest.mark.parametrize("write", writes, ids=lambda write: write.__name__)


def moved_on(model: type[VersionedModel]) -> VersionedModel:
    """A bare subject at version 2 or above, so that `version - 1` is a version it once had."""
    obj = samples.bare(model)
    obj.save()
    return obj


@by_model(SUBJECTS)
@by_write(UNCOMPARED)
def test_a_write_to_a_subject_that_compared_no_version_is_refused(
    model: type[VersionedModel], write: Callable[[Any], None]
) -> None:
    obj = moved_on(model)
    before = in_force(obj)

    with refused(guard.STALE_WRITE):
        write(obj)

    assert in_force(obj) == before


@by_model(SUBJECTS)
@by_write(UNCOMPARED)
def test_without_the_guard_the_same_write_goes_through(
    model: type[VersionedModel], write: Callable[[Any], None]
) -> None:
    obj = moved_on(model)
    pk, before = obj.pk, in_force(obj)

    with without_guard(model):
        write(obj)

    assert in_force(model(pk=pk)) != before


# --- deletes ---------------------------------------------------------------------------------------------------------


def delete_object(obj: models.Model) -> None:
    obj.delete()


def delete_queryset(obj: models.Model) -> None:
    type(obj)._base_manager.filter(pk=obj.pk).delete()


def delete_raw(obj: models.Model) -> None:
    execute(f"DELETE FROM {table(type(obj))} WHERE id = %s", [obj.pk])


def delete_in_a_cascade(obj: models.Model) -> None:
    """As Django deletes what a CASCADE relation points from."""
    collector = Collector(using="default", origin=obj)
    collector.add([obj])
    collector.delete()


DELETES = [delete_object, delete_queryset, delete_raw, delete_in_a_cascade]


def bare_row(model: Any) -> Any:
    return samples.bare(model) if issubclass(model, VersionedModel) else samples.child(model)


@by_model([*SUBJECTS, *CHILDREN])
@by_write(DELETES)
def test_nothing_is_ever_deleted(model: type[models.Model], write: Callable[[Any], None]) -> None:
    row = bare_row(model)
    before = in_force(row)

    with refused(guard.DELETE_REFUSED):
        write(type(row)(pk=row.pk) if write is delete_raw else row)

    assert in_force(bare_row(model)) == before


@by_model([*SUBJECTS, *CHILDREN])
@by_write(DELETES)
def test_without_the_guard_the_same_delete_goes_through(
    model: type[models.Model], write: Callable[[Any], None]
) -> None:
    row = bare_row(model)
    pk = row.pk

    with without_guard(model):
        write(row)

    assert in_force(model(pk=pk)) is None


@by_model(SUBJECTS)
def test_a_stale_save_does_not_bring_back_a_deleted_subject(model: type[VersionedModel]) -> None:
    obj = moved_on(model)
    with without_guard(model):
        execute(f"DELETE FROM {table(model)} WHERE id = %s", [obj.pk])

    with pytest.raises(DatabaseError), transaction.atomic():
        obj.save()

    assert in_force(obj) is None


@by_model(SUBJECTS)
def test_a_save_that_forces_an_insert_cannot_bring_it_back_either(model: type[VersionedModel]) -> None:
    obj = moved_on(model)
    with without_guard(model):
        execute(f"DELETE FROM {table(model)} WHERE id = %s", [obj.pk])

    with refused(guard.STALE_WRITE):
        obj.save(force_insert=True)

    assert in_force(obj) is None


@by_model(SUBJECTS)
def test_djangos_own_save_would_bring_it_back(model: type[VersionedModel], monkeypatch: Any) -> None:
    """The naive effect, with `VersionedModel.save` and the guard taken out: why both are there."""
    monkeypatch.setattr(VersionedModel, "save", models.Model.save)
    obj = moved_on(model)
    with without_guard(model):
        execute(f"DELETE FROM {table(model)} WHERE id = %s", [obj.pk])
        obj.save()

    assert in_force(obj) is not None


def test_a_relation_that_is_set_to_null_is_a_write_like_any_other() -> None:
    """As Django does for SET_NULL: an UPDATE of rows that nobody loaded."""
    person = cast.alice()
    deal = Opportunity.objects.filter(owner=person).latest("pk")
    relation = Opportunity._meta.get_field("owner")

    def cut_loose() -> None:
        collector = Collector(using="default")
        collector.add_field_update(relation, None, [deal])
        collector.delete()

    with refused(guard.STALE_WRITE):
        cut_loose()
    assert Opportunity.objects.get(pk=deal.pk).owner_id == person.pk

    with without_guard(Opportunity):
        cut_loose()
    assert Opportunity.objects.get(pk=deal.pk).owner_id is None


def test_no_relation_of_a_guarded_table_deletes_or_empties_rows_on_its_own() -> None:
    loose = [
        f"{model.__name__}.{field.name}"
        for model in [*SUBJECTS, *CHILDREN]
        for field in model._meta.concrete_fields
        if field.is_relation and field.remote_field.on_delete is not models.PROTECT
    ]
    assert loose == []


# --- INSERT ----------------------------------------------------------------------------------------------------------


@by_model(SUBJECTS)
def test_a_subject_begins_at_version_one(model: type[VersionedModel]) -> None:
    obj = samples.bare(model)
    columns = ", ".join(
        connection.ops.quote_name(f.column) for f in model._meta.concrete_fields if f.name not in ("id", "version")
    )
    copy = f"INSERT INTO {table(model)} (id, version, {columns}) SELECT 900001, 7, {columns} FROM {table(model)}"

    with refused(guard.STALE_WRITE):
        execute(f"{copy} WHERE id = %s", [obj.pk])

    fresh = model(pk=900001)
    fresh.version = 7
    with refused(guard.STALE_WRITE, "23502"):
        model._base_manager.bulk_create([fresh])


# --- what only Django can see: an object that was not read whole ------------------------------------------------------


@by_model(SUBJECTS)
def test_an_object_whose_version_was_not_read_cannot_be_saved(model: type[VersionedModel]) -> None:
    pk = samples.bare(model).pk
    with pytest.raises(UnversionedWrite):
        model._base_manager.only(TEXT[model]).get(pk=pk).save()
    with pytest.raises(UnversionedWrite):
        model._base_manager.defer("version").get(pk=pk).save()


@by_model(SUBJECTS)
def test_a_version_cannot_be_renewed_without_what_it_stands_for(model: type[VersionedModel]) -> None:
    obj = samples.bare(model)
    with pytest.raises(UnversionedWrite):
        obj.refresh_from_db(fields=["version"])


@by_model(SUBJECTS)
def test_a_version_renewed_alone_would_overwrite_a_neighbours_edit(
    model: type[VersionedModel], monkeypatch: Any
) -> None:
    """The naive effect: here even the database cannot tell, since the number is right and the content is not."""
    monkeypatch.setattr(VersionedModel, "refresh_from_db", models.Model.refresh_from_db)
    mine, theirs = samples.bare(model), samples.bare(model)
    setattr(theirs, TEXT[model], "Theirs")
    theirs.save()

    mine.refresh_from_db(fields=["version"])
    mine.save()

    assert getattr(samples.bare(model), TEXT[model]) != "Theirs"


@by_model(SUBJECTS)
def test_a_stale_save_is_refused(model: type[VersionedModel]) -> None:
    mine, theirs = samples.bare(model), samples.bare(model)
    setattr(theirs, TEXT[model], "Theirs")
    theirs.save()

    setattr(mine, TEXT[model], NEW)
    with pytest.raises(RecordModifiedError), transaction.atomic():
        mine.save()

    assert getattr(samples.bare(model), TEXT[model]) == "Theirs"


@by_model(SUBJECTS)
def test_a_save_of_a_whole_fresh_object_raises_the_version_by_one(model: type[VersionedModel]) -> None:
    """The guard must let the honest write pass, or everything above would prove nothing."""
    obj = samples.bare(model)
    before = obj.version
    setattr(obj, TEXT[model], NEW)
    obj.save()
    found = samples.bare(model)
    assert (found.version, getattr(found, TEXT[model])) == (before + 1, NEW)


# --- writes to a child -----------------------------------------------------------------------------------------------


def child_save(row: ChildModel) -> None:
    setattr(row, TEXT[type(row)], NEW)
    row.save()


def child_save_named_fields(row: ChildModel) -> None:
    setattr(row, TEXT[type(row)], NEW)
    row.save(update_fields=[TEXT[type(row)]])


def child_upsert(row: ChildModel) -> None:
    setattr(row, TEXT[type(row)], NEW)
    type(row)._base_manager.bulk_create(
        [row], update_conflicts=True, unique_fields=["id"], update_fields=[TEXT[type(row)]]
    )


def child_insert(row: ChildModel) -> None:
    model = type(row)
    fields = [f for f in model._meta.concrete_fields if f.name != "id"]
    columns = ", ".join(connection.ops.quote_name(f.column) for f in fields)
    free = ", ".join(FREE.get((model.__name__, f.name), connection.ops.quote_name(f.column)) for f in fields)
    execute(
        f"INSERT INTO {table(model)} (id, {columns}) SELECT 900001, {free} FROM {table(model)} WHERE id = %s", [row.pk]
    )


# A copy must differ where the table has a unique key, or that key would refuse it.
FREE = {
    ("Stage", "name"): "name || '-copy'",
    ("Stage", "position"): "position + 50",
    ("ContactPoint", "value_key"): "value_key || '-copy'",
    ("Participant", "contact"): "(SELECT max(id) FROM crm_contact)",
    ("Document", "number"): "number + 100",
    ("Installment", "number"): "number + 100",
    ("Payment", "once"): "md5(once)",
}

ORPHANS: list[Callable[[Any], None]] = [
    child_save,
    child_save_named_fields,
    queryset_update,
    bulk_update,
    child_upsert,
    raw_update,
    child_insert,
]


@by_model(CHILDREN)
@by_write(ORPHANS)
def test_a_child_is_not_written_without_raising_its_subject(
    model: type[ChildModel], write: Callable[[Any], None]
) -> None:
    row = samples.child(model)
    before, count = in_force(row), model._base_manager.count()

    with refused(guard.ORPHAN_WRITE):
        write(row)

    assert (in_force(row), model._base_manager.count()) == (before, count)


@by_model(CHILDREN)
@by_write(ORPHANS)
def test_without_the_guard_the_same_child_is_written(model: type[ChildModel], write: Callable[[Any], None]) -> None:
    row = samples.child(model)
    before, count = in_force(row), model._base_manager.count()

    with without_guard(model):
        write(row)

    assert (in_force(row), model._base_manager.count()) != (before, count)


@by_model(CHILDREN)
def test_a_child_is_written_with_its_subject_and_carries_its_version(model: type[ChildModel]) -> None:
    row = samples.child(model)
    parent = samples.parent_of(row)
    parent.save()

    setattr(row, TEXT[model], NEW)
    row.save()

    row.refresh_from_db()
    assert (getattr(row, TEXT[model]), row.subject_version) == (NEW, parent.version)


@by_model(CHILDREN)
def test_a_child_never_moves_to_another_subject(model: type[ChildModel]) -> None:
    """Not even in a transaction that has raised both: its history would be torn in two."""
    row = samples.child(model)
    parent = samples.parent_of(row)
    other = type(parent)._base_manager.exclude(pk=parent.pk).first()
    assert other is not None
    parent.save()
    other.save()
    column = model._meta.get_field(row.subject_field).column

    def move() -> None:
        execute(f"UPDATE {table(model)} SET {column} = %s WHERE id = %s", [other.pk, row.pk])

    with refused(guard.ORPHAN_WRITE):
        move()

    with without_guard(model):
        move()
    row.refresh_from_db()
    assert samples.parent_of(row) == other


# --- who and when ----------------------------------------------------------------------------------------------------


@by_model(SUBJECTS)
def test_nobody_can_claim_another_name_or_time_on_a_subject(model: type[VersionedModel]) -> None:
    guard.sign(cast.AGENT)
    obj = samples.bare(model)
    obj.changed_by, obj.changed_at = "person:1:Alice Amaral", timezone.now().replace(year=2001)
    obj.save()

    found = samples.bare(model)
    assert found.changed_by == str(cast.AGENT)
    assert found.changed_at is not None
    assert found.changed_at.year > 2001


@by_model(CHILDREN)
def test_nobody_can_claim_another_name_or_time_on_a_child(model: type[ChildModel]) -> None:
    guard.sign(cast.AGENT)
    row = samples.child(model)
    samples.parent_of(row).save()
    row.changed_by, row.changed_at, row.subject_version = "person:1:Alice", timezone.now().replace(year=2001), 999
    row.save()

    row.refresh_from_db()
    assert row.changed_by == str(cast.AGENT)
    assert row.changed_at is not None
    assert row.changed_at.year > 2001
    assert row.subject_version == samples.parent_of(row).version


def test_whoever_does_not_sign_is_written_down_as_the_database_account() -> None:
    obj = samples.bare(Company)
    obj.save()
    assert samples.bare(Company).changed_by.startswith("system:")


# --- the history behind it -------------------------------------------------------------------------------------------


@by_model([Company, Contact, Opportunity, Task])
def test_what_was_in_force_cannot_be_rewritten(model: type[models.Model]) -> None:
    events = model._meta.get_field("events").related_model
    assert isinstance(events, type)
    row = events._base_manager.filter(pgh_obj_id=bare_row(model).pk).first()  # type: ignore[attr-defined]
    for sql in (f"UPDATE {table(events)} SET changed_by = 'me'", f"DELETE FROM {table(events)}"):
        with refused("P0001"):
            execute(f"{sql} WHERE pgh_id = %s", [row.pgh_id])


def test_every_guarded_model_is_in_these_tables() -> None:
    """A new subject or child must be given a sample here before it can be merged."""
    assert {*SUBJECTS, *CHILDREN} == set(TEXT)
    for model in (*SUBJECTS, *CHILDREN):
        assert bare_row(model) is not None
