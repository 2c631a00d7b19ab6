"""No door without a lock: every model, action, route, form, admin page, command and task that can change a subject.

Each is found by walking the product itself (apps, registry, resolver, admin site, commands, task queue), tried on a
version that has passed, and must lose nobody's work. What the table in `tests/doors.py` does not know fails the test.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.core import serializers
from django.core.management import call_command, get_commands
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse

from agents import sweeps
from agents.models import AutonomyPolicy, Mode, Recommendation
from config.celery import app as queue
from conflicts import actions, actors, gate
from conflicts.actors import Actor
from conflicts.admin.read_only import Untouchable
from conflicts.checks import guarded_models
from conflicts.models import ChildModel, Conflict, VersionedModel
from conflicts.outcomes import Result
from conflicts.proposals import Proposal, Read
from crm.models import Opportunity, Task, User
from tests import cast
from tests.agents.suggested import shown
from tests.chatting import account, writes
from tests.doors import (
    ADMIN,
    COMMANDS,
    CREATES,
    DEEDS,
    DOORS,
    OTHERS,
    TASKS,
    WITHOUT_SUBJECT,
    Door,
    World,
    moves_elsewhere,
)

pytestmark = pytest.mark.django_db

ALL_DOORS = [(name, number) for name, doors in DOORS.items() for number in range(len(doors))]
every_door = pytest.mark.parametrize(("name", "number"), ALL_DOORS, ids=[f"{name}-{n + 1}" for name, n in ALL_DOORS])


def state() -> dict[str, list[Any]]:
    """Everything that the guard holds, as the database has it."""
    return {model.__name__: list(model._base_manager.order_by("pk").values_list()) for model in guarded_models()}


def signed_in(user: User, *, csrf: bool = False) -> Client:
    client = Client(enforce_csrf_checks=csrf)
    client.force_login(user)
    return client


# --- models ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", guarded_models(), ids=lambda m: m.__name__)
def test_every_table_has_its_guard_on(model: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tgenabled FROM pg_trigger WHERE tgrelid = %s::regclass AND tgname LIKE 'pgtrigger_guard_%%'",
            [model._meta.db_table],
        )
        assert cursor.fetchall() == [("O",)]


def test_every_model_that_points_into_a_subject_is_a_child_or_has_a_reason() -> None:
    """A row of a subject that was not declared as its child would change it without raising its version."""
    subjects = tuple(model for model in guarded_models() if issubclass(model, VersionedModel))
    known = {
        "Recommendation": "a state machine of its own, moved by compare-and-swap",
        "Verdict": "why the sweep left a deal alone",
        "MessageReport": "what a provider says became of a message; only moves forward",
        "ReplyTimer": "a deadline, computed by the database from the rows in force",
        "Turn": "one attempt to answer, moved by compare-and-swap on still running",
    }
    loose = {
        model.__name__
        for model in set(_own_models()) - set(guarded_models())
        for field in model._meta.concrete_fields
        if field.is_relation and field.related_model in subjects
    }
    assert loose == set(known)


def _own_models() -> list[Any]:
    own = [m for label in ("conflicts", "crm", "agents") for m in apps.get_app_config(label).get_models()]
    return [model for model in own if not model.__name__.endswith("Event")]


# --- actions ---------------------------------------------------------------------------------------------------------


def test_every_registered_action_is_tried_here() -> None:
    registered = actions.registered()
    assert {name for name, action in registered.items() if not action.creates} == set(DEEDS)


def deed(name: str, world: World, read: VersionedModel) -> Proposal:
    one = DEEDS[name]
    return Proposal(
        action=name,
        by=by if isinstance(by := one.by(), Actor) else actors.person(by),
        params=one.params(world),
        basis=(Read.of(read, *one.rests_on),),
    )


def prepared(name: str) -> tuple[World, Any]:
    world = World()
    DEEDS[name].prepare(world)
    return world, world.fresh(DEEDS[name].subject)


@pytest.mark.parametrize("name", sorted(DEEDS))
def test_an_action_on_the_version_in_force_is_applied(name: str) -> None:
    world, read = prepared(name)
    assert gate.commit(deed(name, world, read)).result is Result.APPLIED


@pytest.mark.parametrize("name", sorted(DEEDS))
def test_an_action_whose_ground_has_moved_is_not_applied(name: str) -> None:
    world, read = prepared(name)
    DEEDS[name].clash(world)
    before = state()

    outcome = gate.commit(deed(name, world, read))

    assert outcome.result in (Result.CONFLICT, Result.REFUSED, Result.SUPERSEDED)
    assert outcome.record is not None
    assert state() == before


@pytest.mark.parametrize("name", sorted(DEEDS))
def test_an_action_on_an_old_version_is_never_applied_without_a_word(name: str) -> None:
    """Something else has moved: it may be done on the newer version, and then it says so and leaves a record."""
    world, read = prepared(name)
    elsewhere = {"product": "price", "level": "note"}.get(DEEDS[name].subject, "tags")
    value: Any = {"price": "7", "note": "moved"}.get(elsewhere, ["moved"])
    kinds = {"deal": "opportunity", "draft": "contract", "level": "authority"}
    kind = kinds.get(DEEDS[name].subject, DEEDS[name].subject)
    by = cast.administrator() if kind in ("product", "authority") else None
    if not moves_elsewhere(world, DEEDS[name].subject):
        world.before(f"{kind}.edit", DEEDS[name].subject, by=by, **{elsewhere: value})

    outcome = gate.commit(deed(name, world, read))

    assert outcome.result is not Result.APPLIED
    assert outcome.moved
    assert outcome.record is not None


# --- routes ----------------------------------------------------------------------------------------------------------

SAMPLE = {"pk": 10**6, "task": 10**6, "verb": "complete"}


def routes(patterns: Sequence[Any], prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            if pattern.namespace != "admin":
                yield from routes(pattern.url_patterns, prefix + str(pattern.pattern))
        else:
            yield prefix + str(pattern.pattern), pattern


def every_route() -> list[tuple[str, str]]:
    """(name, address) of each; a route without a name is known by its pattern."""
    found = []
    for pattern_text, pattern in routes(get_resolver().url_patterns):
        kwargs = {name: SAMPLE.get(name, "1") for name in pattern.pattern.converters}
        try:
            found.append((pattern.name or pattern_text, reverse(pattern.name or "", kwargs=kwargs)))
        except NoReverseMatch:
            found.append((pattern.name or pattern_text, "/" + pattern_text))
    return found


def test_every_route_that_takes_a_post_is_in_the_table() -> None:
    alice = cast.alice()  # signed in anew each time: one of the doors leads out
    open_doors = {name for name, address in every_route() if signed_in(alice).post(address).status_code != 405}
    known = set(DOORS) | set(CREATES) | set(OTHERS)
    assert open_doors - known == set(), "a new door: say in tests/doors.py how it is locked"
    assert known - open_doors == set(), "a door that is no longer there"


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_no_route_takes_another_writing_method(method: str) -> None:
    alice = cast.alice()
    taken = {name for name, address in every_route() if getattr(signed_in(alice), method)(address).status_code != 405}
    assert taken <= {"sign_in"}  # sends whoever is signed in on, whatever the method


@pytest.mark.parametrize("name", sorted(set(DOORS) | set(CREATES) | set(OTHERS)))
def test_no_door_opens_for_a_form_of_another_site(name: str) -> None:
    address = reverse(name, args=[account().address]) if name.startswith("chat_") else dict(every_route())[name]
    assert signed_in(cast.alice(), csrf=True).post(address).status_code == 403


def test_looking_at_a_page_changes_nothing() -> None:
    world = World()
    client = signed_in(world.alice)
    addresses = {name: address for name, address in every_route() if name not in ("live", "sign_out")}
    for name, doors in DOORS.items():
        addresses[name] = reverse(name, kwargs=dict(doors[0].url(world)))
    for name, pk in (("deal", world.deal.pk), ("company", world.company.pk), ("contact", world.contact.pk)):
        addresses[name] = reverse(name, args=[pk])
    before, records = state(), Conflict.objects.count()
    for address in addresses.values():
        assert client.get(address).status_code < 500
    assert (state(), Conflict.objects.count()) == (before, records)


def post(client: Client, name: str, door: Door, world: World, **more: Any) -> Any:
    return client.post(reverse(name, kwargs=dict(door.url(world))), {**door.sent(world), **more})


@every_door
def test_without_a_version_nothing_is_written(name: str, number: int) -> None:
    world, door = World(), DOORS[name][number]
    before = state()
    assert post(signed_in(door.by()), name, door, world).status_code == 428
    assert state() == before


@every_door
def test_a_version_that_is_none_writes_nothing(name: str, number: int) -> None:
    world, door = World(), DOORS[name][number]
    before, client = state(), signed_in(door.by())
    for version in ("0", "-1", "x", "1.5", "²", "9" * 30):
        assert 400 <= post(client, name, door, world, version=version).status_code < 500
    assert state() == before


@every_door
def test_on_the_version_in_force_it_does_what_it_is_for(name: str, number: int) -> None:
    world, door = World(), DOORS[name][number]
    subject = world.fresh(door.subject)
    answer = post(signed_in(door.by()), name, door, world, version=subject.version)
    assert answer.status_code in (200, 204, 302)
    assert door.done(world)
    assert world.fresh(door.subject).version == subject.version + 1


@every_door
@pytest.mark.parametrize("htmx", [False, True], ids=["form", "htmx"])
def test_on_a_version_that_has_passed_nobodys_work_is_lost(name: str, number: int, htmx: bool) -> None:
    world, door = World(), DOORS[name][number]
    version = world.fresh(door.subject).version
    door.clash(world)
    assert door.kept(world)
    client = signed_in(door.by())
    headers = {"HTTP_HX_REQUEST": "true"} if htmx else {}

    answer = client.post(
        reverse(name, kwargs=dict(door.url(world))), {**door.sent(world), "version": version}, **headers
    )

    assert answer.status_code in door.stale, answer.content.decode()[:2000]
    assert door.kept(world)
    assert Conflict.objects.filter(subject_id=world.fresh(door.subject).pk).exists()


def test_a_door_that_took_the_version_in_force_would_lose_bobs_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutation: a form that does not carry what it was shown with, but what is there when it arrives."""
    world, door = World(), DOORS["deal_edit"][0]
    version = world.deal.version
    door.clash(world)
    monkeypatch.setattr("crm.views.submit.version_of", lambda request: world.fresh("deal").version)

    post(signed_in(world.alice), "deal_edit", door, world, version=version)

    assert not door.kept(world)


@every_door
def test_a_form_that_is_sent_twice_is_one_act(name: str, number: int) -> None:
    world, door = World(), DOORS[name][number]
    version, client = world.fresh(door.subject).version, signed_in(door.by())
    for _ in range(2):
        answer = post(client, name, door, world, version=version, key="one-press")
        assert answer.status_code in (200, 204, 302)
    assert world.fresh(door.subject).version == version + 1


@pytest.mark.parametrize("name", [name for name, doors in DOORS.items() if doors[0].subject == "deal"])
def test_charlie_finds_no_door_to_alices_deal(name: str) -> None:
    world = World()
    for door in DOORS[name]:
        before = state()
        version = world.fresh(door.subject).version
        assert post(signed_in(cast.charlie()), name, door, world, version=version).status_code == 404
        assert state() == before


@pytest.mark.parametrize("name", sorted(CREATES))
def test_a_new_record_that_is_sent_twice_is_one(name: str) -> None:
    world = World()
    model, sent = CREATES[name]
    client, count = signed_in(world.alice), model.objects.count()
    for _ in range(2):
        assert client.post(reverse(name), {**sent(world), "key": "one-press"}).status_code == 302
    assert model.objects.count() == count + 1


@pytest.mark.parametrize("name", sorted(WITHOUT_SUBJECT))
def test_what_needs_no_version_writes_no_subject(name: str) -> None:
    world = World()
    suggestion = suggested()
    kwargs = {"pk": suggestion.pk} if name.startswith("suggestion_") else {}
    kwargs |= {"pk": 1} if name == "saved_view_delete" else {}
    kwargs |= {"slug": account().address} if name.startswith("chat_") else {}
    kwargs |= {"pk": writes("Hello").pk} if name == "conversation_typing" else {}
    said = {
        "reason": "not_now",
        "until": "2031-01-01",
        "deal": world.deal.pk,
        "settles": 1,
        "subject": f"crm.opportunity:{world.deal.pk}",
        "page": "board",
        "name": "x",
        "amount": "1",
    }
    before = state()
    signed_in(world.alice).post(reverse(name, kwargs=kwargs), said)
    assert state() == before


# --- the doors that decide on something else than a version -----------------------------------------------------------


def suggested() -> Recommendation:
    deal = cast.deal("Idle deal", contact=cast.contact("Inês Prado").pk)
    sweeps.sweep()
    return Recommendation.objects.get(opportunity=deal)


def test_settling_decides_on_the_version_that_was_shown() -> None:
    world = World()
    version = world.deal.version
    world.before("opportunity.edit", "deal", amount="110")
    alice = signed_in(world.alice)
    alice.post(reverse("deal_edit", args=[world.deal.pk]), {"amount": "120", "version": version})
    record = Conflict.objects.waiting().get()
    choice = {"record": record.pk, "pick-amount": "mine", "next": "/"}
    shown = world.fresh("deal").version

    assert alice.post(reverse("settle"), choice).status_code == 428
    world.before("opportunity.edit", "deal", amount="115")  # while Alice looks at the choice
    assert alice.post(reverse("settle"), {**choice, "version": shown}).status_code == 409

    assert str(world.fresh("deal").amount) == "115.00"


def test_undo_takes_back_nothing_that_somebody_changed_since() -> None:
    world = World()
    cast.propose("opportunity.edit", world.deal, by=world.alice, amount="120")
    mine = world.fresh("deal").version
    world.before("opportunity.edit", "deal", amount="115")

    for said in ({"version": mine}, {}):
        signed_in(world.alice).post(reverse("undo"), {"subject": f"crm.opportunity:{world.deal.pk}", **said})
        assert str(world.fresh("deal").amount) == "115.00"


@pytest.mark.parametrize("verb", ["approve", "edit"])
def test_a_yes_to_a_suggestion_that_was_overtaken_makes_no_task(verb: str) -> None:
    one = suggested()
    deal = Opportunity.objects.get(pk=one.opportunity_id)
    fingerprint, seen = one.proposal().fingerprint, shown(one, to=cast.alice())
    cast.propose("opportunity.plan_task", deal, by=cast.bob(), title="Visit", due_on=cast.MONDAY)
    said = {
        "content": seen,
        "fingerprint": fingerprint,
        "then": "approve",
        **{k: one.params[k] for k in ("title", "due_on")},
    }

    signed_in(cast.alice()).post(reverse(f"suggestion_{verb}", args=[one.pk]), said)

    assert list(Task.objects.filter(opportunity=deal).values_list("title", flat=True)) == ["Visit"]


@pytest.mark.parametrize("said", [{}, {"content": "of something else"}])
def test_a_yes_that_does_not_say_to_what_makes_no_task(said: dict[str, str]) -> None:
    one = suggested()
    answer = signed_in(cast.alice()).post(reverse("suggestion_approve", args=[one.pk]), said)
    assert answer.status_code in (302, 400)
    assert not Task.objects.exists()


# --- the admin -------------------------------------------------------------------------------------------------------


def test_no_admin_page_of_a_subject_or_its_rows_can_write() -> None:
    for model, page in admin.site._registry.items():
        inlines = [inline for inline in page.inlines if issubclass(inline.model, VersionedModel | ChildModel)]
        assert all(issubclass(inline, Untouchable) for inline in inlines)
        if issubclass(model, VersionedModel | ChildModel):
            assert isinstance(page, Untouchable)
            assert not page.actions
            assert not page.list_editable
            for kind in ("actions_list", "actions_row", "actions_detail", "actions_submit_line"):
                assert not getattr(page, kind)


def test_every_subject_has_its_admin_page_and_its_rows_have_none_of_their_own() -> None:
    registered = set(admin.site._registry)
    for model in guarded_models():
        assert (model in registered) is issubclass(model, VersionedModel)


def test_every_address_of_the_admin_is_one_that_is_known() -> None:
    """An address that a page of the admin adds by itself would be a door that nobody tried."""
    ends = {"add", "changelist", "change", "delete", "history", "password_change", "autocomplete"}
    site = {"index", "login", "logout", "password_change", "password_change_done", "jsi18n", "view_on_site", "search"}
    site |= {"app_list", "autocomplete", "toggle_sidebar", None}
    unknown = []
    for pattern in admin_routes(admin.site.get_urls()):
        name = pattern.name
        if name not in site and str(name).rpartition("_")[2] not in ends and not str(name).endswith("password_change"):
            unknown.append(name)
    assert sorted(unknown) == sorted(ADMIN)


def admin_routes(patterns: Sequence[Any]) -> Iterator[URLPattern]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from admin_routes(pattern.url_patterns)
        else:
            yield pattern


def test_no_post_to_any_admin_page_changes_a_subject() -> None:
    world = World()
    client = signed_in(cast.administrator())
    before = state()
    for model in guarded_models():
        row = model._base_manager.first()
        if model not in admin.site._registry or row is None:
            continue
        base = f"admin:{model._meta.app_label}_{model._meta.model_name}_"
        said = {"name": "x", "version": row.version, "post": "yes", "_selected_action": [row.pk]}
        for action in ("delete_selected", ""):
            client.post(reverse(base + "changelist"), {**said, "action": action})
        for page, args in (("add", []), ("change", [row.pk]), ("delete", [row.pk]), ("history", [row.pk])):
            client.post(reverse(base + page, args=args), said)
    assert state() == before
    assert world.deal.pk


# --- commands and tasks ----------------------------------------------------------------------------------------------


def test_every_command_of_ours_is_in_the_table() -> None:
    ours = {name for name, app in get_commands().items() if app in ("config", "conflicts", "crm", "agents")}
    assert ours == set(COMMANDS)


def test_every_task_of_ours_is_in_the_table() -> None:
    queue.loader.import_default_modules()
    # The race lab's own tasks run in its scratch database only, and one of them is naive on purpose.
    assert {name for name in queue.tasks if not name.startswith(("celery.", "lab."))} == set(TASKS)


def in_between(monkeypatch: pytest.MonkeyPatch, meddle: Any) -> None:
    """`meddle` is done once, after everything was read and right before the gate is asked."""
    honest, left = gate.commit_many, [meddle]

    def late(proposals: Any, **more: Any) -> Any:
        if left:
            left.pop()()
        return honest(proposals, **more)

    monkeypatch.setattr(gate, "commit_many", late)


def test_an_import_does_not_overwrite_what_somebody_changes_while_it_runs(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cast.pipeline()
    file = tmp_path / "deals.csv"
    file.write_text("id,name,stage,amount\nX-1,Cold rooms,New,100\n")
    call_command("import_csv", str(file), "--kind", "opportunities", "--json")
    deal = Opportunity.objects.get(external_id="X-1")
    file.write_text("id,name,stage,amount\nX-1,Cold rooms,New,120\n")
    in_between(monkeypatch, lambda: cast.propose("opportunity.edit", deal, by=cast.administrator(), amount="110"))

    call_command("import_csv", str(file), "--kind", "opportunities", "--json")

    deal.refresh_from_db()
    assert str(deal.amount) == "110.00"
    assert Conflict.objects.filter(subject_id=deal.pk).exists()


@pytest.mark.parametrize("way", ["command", "task"])
def test_a_sweep_makes_no_task_beside_one_that_somebody_plans_while_it_runs(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    AutonomyPolicy.objects.update_or_create(action="opportunity.follow_up", defaults={"mode": Mode.ACT})
    AutonomyPolicy.objects.filter(action="opportunity.follow_up").update(amount_limit=None)
    deal = cast.deal("Idle deal", contact=cast.contact("Inês Prado").pk)
    met = []

    def bob_is_first() -> None:
        met.append(cast.propose("opportunity.plan_task", deal, by=cast.bob(), title="Visit", due_on=cast.MONDAY))

    in_between(monkeypatch, bob_is_first)

    if way == "command":
        call_command("sweep", "--json")
    else:
        queue.loader.import_default_modules()
        queue.tasks["agents.tasks.sweep"].run()

    assert met, "the agent was meant to act by itself here"
    assert [task.title for task in Task.objects.filter(opportunity=deal)] == ["Visit"]


def test_a_fixture_does_not_load_over_a_subject(tmp_path: Any) -> None:
    """Django's own `loaddata` saves raw; the database refuses what it did not compare."""
    world = World()
    file = tmp_path / "deals.json"
    file.write_text(serializers.serialize("json", [world.fresh("deal")]))
    world.before("opportunity.edit", "deal", amount="110")
    with pytest.raises(DatabaseError), transaction.atomic():
        call_command("loaddata", str(file), verbosity=0)
    assert str(world.fresh("deal").amount) == "110.00"
