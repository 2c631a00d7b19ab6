"""The words of the templates: icons, avatars, version marks, money, distances in time, the next-step dot.

Every tag here is a builtin (config/settings.py): no `{% load %}`. Guarantees that money never breaks from its sign,
that a colour is never alone, and that a person always has the same one. Next in the flow: `static/css/vigente.css`.
"""

import datetime as dt
import zlib
from decimal import Decimal
from functools import lru_cache
from typing import Any

from babel.numbers import get_decimal_symbol
from django import template
from django.template.context import Context
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext, ngettext, pgettext, to_locale
from moneyed import Money
from moneyed.l10n import format_money

from conflicts.actors import Actor, Kind
from conflicts.sentences import aspect_label
from crm.models import Opportunity, Task, User
from crm.models.opportunity import NextStep
from crm.presence import Person
from crm.views.submit import fresh_key

register = template.Library()

COLOURS = 6


# ------------------------------------------------------------------------------------------------ icons and marks


@register.simple_tag
def icon(name: str) -> SafeString:
    """`{% icon "pen" %}`: one of the symbols in templates/_icons.html, for the eye only."""
    return format_html('<svg class="icon" aria-hidden="true"><use href="#i-{}"/></svg>', name)


@register.simple_tag
def version(number: int | None, state: str = "") -> SafeString:
    """`{% version deal.version "now" %}`. State: now (in force), past (read, moved on since), next (to be written)."""
    if not number:
        return mark_safe("")
    titles = {
        "now": gettext("The version in force"),
        "past": gettext("Read then; it has moved on since"),
        "next": gettext("What you are about to write"),
    }
    if state in titles:
        return format_html('<span class="v" data-v="{}" title="{}">v{}</span>', state, titles[state], number)
    return format_html('<span class="v">v{}</span>', number)


@register.simple_tag
def versioned(number: int | None) -> SafeString:
    """The two hidden fields of every form that changes a subject: the version as shown, and a fresh key (one act)."""
    return format_html(
        '<input type="hidden" name="version" value="{}"><input type="hidden" name="key" value="{}">',
        number or "",
        fresh_key(),
    )


@register.simple_tag
def fresh_key_field() -> SafeString:
    """The hidden `key` of a form without a version of its own (a new record, an undo)."""
    return format_html('<input type="hidden" name="key" value="{}">', fresh_key())


@register.filter
def undo_of(message: Any) -> dict[str, Any] | None:
    """What a toast can take back: a message with `extra_tags="undo:crm.opportunity:12:33"` (crm/undo.py)."""
    tags = getattr(message, "extra_tags", "") or ""
    if not tags.startswith("undo:"):
        return None
    subject, _, number = tags.removeprefix("undo:").rpartition(":")
    return {"subject": subject, "version": number}


# ------------------------------------------------------------------------------------------------ people


def actor_of(who: Any) -> Actor:
    """An account, an Actor or an actor's text form, as an Actor."""
    if isinstance(who, Actor):
        return who
    if isinstance(who, str):
        return Actor.parse(who)
    return Actor(Kind.PERSON, str(who.pk), str(who), who)


@register.filter
def initials(name: str) -> str:
    words = name.split()
    return "".join(word[0] for word in (words[:1] + words[-1:] if len(words) > 1 else words)).upper()


def colour(actor: Actor) -> str:
    """The same person, the same colour, on every page and for every viewer."""
    number = int(actor.key) if actor.key.isdigit() else zlib.crc32((actor.key or actor.name).encode())
    return f"a{number % COLOURS + 1}"


@register.simple_tag
def avatar(who: Any, mini: bool = False, busy: bool = False, hidden: bool = False) -> SafeString:
    """`{% avatar deal.owner mini=True %}`: people are round, agents square, the system is only a small sign.

    `who`: an account, an Actor or its text form. `hidden` where the name stands beside it. `busy`: is editing.
    """
    if not who:
        return mark_safe("")
    actor = actor_of(who)
    if actor.kind not in (Kind.PERSON, Kind.AGENT):
        return icon("gear")
    classes = "avatar" + (" mini" if mini else "")
    named = (
        mark_safe(' aria-hidden="true"')
        if hidden
        else format_html(' role="img" title="{}" aria-label="{}"', actor.shown, actor.shown)
    )
    if actor.kind == Kind.AGENT:
        return format_html('<span class="{}" data-actor="agent"{}>{}</span>', classes, named, icon("agent"))
    return format_html(
        '<span class="{} {}"{}{}>{}</span>',
        classes,
        colour(actor),
        named,
        mark_safe(" data-busy") if busy else "",
        initials(actor.name),
    )


@register.filter
def actor(text: Any) -> Actor:
    """`{{ deal.changed_by|actor }}`: the Actor of a text form or an account."""
    return actor_of(text)


@register.filter
def actor_kind(who: Any) -> str:
    """For `data-actor`: person, agent or system."""
    kind = actor_of(who).kind
    return kind.value if kind in (Kind.PERSON, Kind.AGENT) else "system"


@register.filter
def here_colour(person: Person) -> str:
    return colour(Actor(Kind.PERSON, person.key, person.name))


@register.filter
def contact_colour(contact: Any) -> str:
    """The same customer, the same colour."""
    return f"a{contact.pk % COLOURS + 1}"


@register.filter
def here_words(person: Person) -> str:
    """ "Ana Prado is editing the amount here", "Ana Prado has this open"."""
    if not person.busy:
        return gettext("%(who)s has this open") % {"who": person.name}
    if person.doing == "note":
        return gettext("%(who)s is writing a note") % {"who": person.name}
    if person.doing == "message":
        return gettext("%(who)s is writing to the customer") % {"who": person.name}
    what = aspect_label("crm.opportunity", person.doing)
    return gettext("%(who)s is editing: %(what)s") % {"who": person.name, "what": what}


def name_for(viewer: User | None, who: Any, *, short: bool = False, capital: bool = False) -> str:
    """`you` for the reader; a first name where `short`; agents and systems by their job."""
    actor = actor_of(who)
    if viewer and actor.kind == Kind.PERSON and actor.key == str(viewer.pk):
        return gettext("You") if capital else gettext("you")
    return actor.name.split()[0] if short and actor.kind == Kind.PERSON and actor.name else actor.shown


@register.simple_tag(takes_context=True)
def who(context: Context, someone: Any, short: bool = False, capital: bool = False) -> str:
    """`{% who deal.changed_by short=True %}`: as a colleague would say it."""
    return name_for(context.get("user"), someone, short=short, capital=capital) if someone else ""


# ------------------------------------------------------------------------------------------------ money, time


def money_text(amount: Decimal | str | int | None, currency: str) -> str:
    """ "R$ 48,000", without cents where there are none; the sign never breaks from the number. Empty for none."""
    if amount is None or amount == "":
        return ""
    return _money(Decimal(str(amount)), currency, to_locale(get_language() or "en"))


@lru_cache(maxsize=4096)
def _money(value: Decimal, currency: str, locale: str) -> str:
    """A board shows hundreds of amounts, and the same ones again and again; to format one takes a tenth of a ms."""
    whole = value == value.to_integral_value()
    text = format_money(Money(value, currency), locale=locale)
    if whole:
        text = format_money(
            Money(value, currency),
            locale=locale,
            currency_digits=False,
            format="¤#,##0" if locale == "en" else "¤ #,##0",
        )
    head = text.rstrip("0123456789.,")  # the sign, where it stands in front
    if len(head) > 1 and not head[-1].isspace():
        text = f"{head}\u00a0{text[len(head) :]}"
    return text.replace(" ", "\u00a0")


@register.simple_tag
def money(amount: Decimal | str | int | None, currency: str) -> str:
    """`{% money deal.amount deal.currency %}`."""
    return money_text(amount, currency)


def _day(day: dt.date, today: dt.date) -> str:
    pattern = pgettext("date", "j M") if day.year == today.year else pgettext("date", "j M Y")
    return date_format(day, pattern)


@register.filter
def shown_number(value: Any) -> str:
    """A quantity or a share as the reader writes it, without empty places: 2, 2.5."""
    number = Decimal(str(value or 0))
    whole = number == number.to_integral_value()
    return number_format(f"{number:.0f}" if whole else f"{number:.2f}", use_l10n=True)


@register.filter
def typed_number(value: Any) -> str:
    """The same as it stands in an input, where grouping would be in the way."""
    number = Decimal(str(value or 0))
    whole = number == number.to_integral_value()
    return (
        f"{number:.0f}"
        if whole
        else f"{number:.2f}".replace(".", get_decimal_symbol(to_locale(get_language() or "en")))
    )


@register.filter
def language_tag(code: str) -> str:
    """`pt-br` as pages and readers aloud write it: "pt-BR"."""
    return to_locale(code).replace("_", "-")


@register.filter
def day(value: dt.date | None) -> str:
    """A date without a time: "31 Oct", with the year where it is another one."""
    return _day(value, timezone.localdate()) if value else ""


@register.filter
def weekday(value: dt.date | None) -> str:
    """A date near by: "Thu 9 Oct", with the year where it is another one."""
    if not value:
        return ""
    this_year = value.year == timezone.localdate().year
    return date_format(value, pgettext("date", "D j M") if this_year else pgettext("date", "D j M Y"))


def distance(at: dt.datetime, *, now: dt.datetime) -> str:
    """Under a day "4 s ago"; older the date. What lies a little ahead (clocks differ) is now."""
    seconds = int((now - at).total_seconds())
    if seconds < 1:
        return gettext("now")
    if seconds < 60:
        return gettext("%(n)d s ago") % {"n": seconds}
    if seconds < 3600:
        return gettext("%(n)d min ago") % {"n": seconds // 60}
    if seconds < 86_400:
        return gettext("%(n)d h ago") % {"n": seconds // 3600}
    return _day(timezone.localtime(at).date(), timezone.localtime(now).date())


@register.filter
def ago(at: dt.datetime | str | None) -> SafeString | str:
    """`{{ deal.changed_at|ago }}`: a `<time>` that static/js/vigente.js keeps true while the page is open."""
    if not at:
        return ""
    if isinstance(at, str):
        at = dt.datetime.fromisoformat(at)
    return format_html(
        '<time datetime="{}" title="{}" data-ago>{}</time>',
        at.isoformat(timespec="seconds"),
        date_format(timezone.localtime(at), "DATETIME_FORMAT"),
        distance(at, now=timezone.now()),
    )


@register.filter
def local_day(at: dt.datetime | None) -> str:
    """The day of a moment, where the viewer is."""
    return day(timezone.localtime(at).date()) if at else ""


@register.filter
def long_day(value: dt.date) -> str:
    """A heading: "Wednesday 1 October", with the year where it is another one."""
    pattern = gettext("l j F") if value.year == timezone.localdate().year else gettext("l j F Y")
    return date_format(value, pattern)


@register.filter
def since_day(value: dt.date) -> str:
    """How long that is: "11 days"; empty for today."""
    days = (timezone.localdate() - value).days
    return ngettext("%(n)d day", "%(n)d days", days) % {"n": days} if days > 0 else ""


@register.filter
def clock(at: dt.datetime | None) -> str:
    """The time of day where the viewer is: "16:20"."""
    return date_format(timezone.localtime(at), "H:i") if at else ""


# ------------------------------------------------------------------------------------------------ next step, fields


def next_step_words(deal: Opportunity, *, today: dt.date) -> str:
    """ "2 days late", "Today 15:00", "Thu 9 Oct", "No next step"."""
    state = deal.next_step_state(today=today)
    if deal.next_step_on is None:
        return gettext("No next step")
    if state == NextStep.OVERDUE:
        late = (today - deal.next_step_on).days
        return ngettext("%(n)d day late", "%(n)d days late", late) % {"n": late}
    if state == NextStep.TODAY:
        return gettext("Today %(time)s") % {"time": clock(deal.next_step_at)} if deal.next_step_at else gettext("Today")
    return weekday(deal.next_step_on)


@register.simple_tag(takes_context=True)
def next_step(context: Context, deal: Opportunity, titled: bool = False) -> SafeString:
    """`{% next_step deal %}`: dot and words; `titled` adds what it is. The day is the viewer's (`today`)."""
    today = context.get("today") or timezone.localdate()
    words = next_step_words(deal, today=today)
    if titled and deal.next_step_on:
        words = gettext("%(day)s, %(step)s") % {"day": words, "step": deal.next_step}
    return format_html('<span class="next" data-next="{}">{}</span>', deal.next_step_state(today=today).value, words)


@register.simple_tag(takes_context=True)
def due(context: Context, task: Task) -> SafeString:
    """The dot and the day of a task: red when late, green today, grey later."""
    today = context.get("today") or timezone.localdate()
    if task.due_on is None:
        return mark_safe("")
    late = (today - task.due_on).days
    state = NextStep.OVERDUE if late > 0 else NextStep.TODAY if late == 0 else NextStep.LATER
    if late > 0:
        words = ngettext("%(n)d day late", "%(n)d days late", late) % {"n": late}
    elif late == 0:
        words = gettext("Today %(time)s") % {"time": clock(task.due_at)} if task.due_at else gettext("Today")
    else:
        words = f"{weekday(task.due_on)} {clock(task.due_at)}".strip()
    return format_html('<span class="next" data-next="{}">{}</span>', state.value, words)


@register.filter
def field_label(name: str, model: str) -> str:
    """`{{ change.aspect|field_label:"crm.opportunity" }}`: what a person calls that field or aspect."""
    return aspect_label(model, name)


# ------------------------------------------------------------------------------------------------ parts of other apps


@register.simple_tag(takes_context=True)
def part(context: Context, part: dict[str, Any]) -> SafeString:
    """A part that another app put into a slot: `{"template": ..., "context": {...}}` (crm/slots.py)."""
    with context.push(**part.get("context", {})):
        return context.template.engine.get_template(part["template"]).render(context)  # type: ignore[union-attr]
