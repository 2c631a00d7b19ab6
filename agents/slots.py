"""What the agents put on the CRM's pages (crm/slots.py), so that the CRM need not know them."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from agents import backpressure, cards, drafts, lists, timeline, voided
from agents.models import Recommendation, Verdict
from agents.states import State
from conflicts.sentences import Sentence
from crm.models import Conversation, Opportunity
from crm.slots import fill
from crm.thread import Told
from crm.timeline import Entry


@fill("deal.suggestion")
def deal_suggestion(request: HttpRequest, *, deal: Opportunity, **offered: Any) -> dict[str, Any] | None:
    """The card of the open suggestion; without one, why the agent leaves the deal alone, as long as that holds."""
    # While one is open no other is made, so it is the newest if there is one.
    one = Recommendation.objects.filter(opportunity=deal).select_related(*cards.WITH).order_by("-pk").first()
    if one is not None and one.is_open:
        [card] = cards.build([one], viewer=request.user, now=timezone.now())  # type: ignore[arg-type]
        return {"template": "agents/card.html#card", "context": {"card": card}}
    if not deal.is_open:
        return None
    reason = Verdict.objects.filter(opportunity=deal, version_read=deal.version).first()
    # A yes that was not used, and after which the agent had nothing more to say.
    overtaken = one is not None and one.state == State.SUPERSEDED and bool(one.decided_by)
    void = voided.of([one], viewer=request.user, now=timezone.now()).get(one.pk) if one and overtaken else None  # type: ignore[arg-type]
    if reason is None and void is None:
        return None
    why = reason.told if reason else None
    return {"template": "agents/card.html#left_alone", "context": {"card": {"void": void}, "why": why}}


@fill("myday.suggested")
def my_suggestions(request: HttpRequest, **offered: Any) -> dict[str, Any] | None:
    """What waits for the viewer's decision."""
    found, count = lists.mine(request.user)  # type: ignore[arg-type]
    if not found:
        return None
    built = cards.build(found, viewer=request.user, now=timezone.now(), place="hint")  # type: ignore[arg-type]
    notice = backpressure.Notice(mine=count) if 0 < backpressure.limit() <= count else backpressure.Notice()
    context = {"cards": built, "count": count, "notice": notice}
    return {"template": "agents/my_day.html#suggested", "context": context}


@fill("myday.overtaken")
def overtaken(request: HttpRequest, **offered: Any) -> dict[str, Any] | None:
    """What people overtook since yesterday morning."""
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    found = lists.overtaken_since(request.user, since=midnight - dt.timedelta(days=1))  # type: ignore[arg-type]
    return {"template": "agents/my_day.html#overtaken", "context": {"overtaken": found}} if found else None


@fill("deal.timeline")
def deal_timeline(
    request: HttpRequest,
    *,
    deal: Opportunity,
    after: dt.datetime | None = None,
    before: dt.datetime | None = None,
    who: str = "",
    **offered: Any,
) -> list[Entry]:
    return timeline.entries(deal, after=after, before=before, who=who)


@fill("board.marks")
def board_marks(request: HttpRequest, *, deals: Sequence[Opportunity], **offered: Any) -> dict[int, str]:
    """Deal -> what is suggested for it, for the small sign on its card."""
    rows = Recommendation.objects.filter(state=State.PROPOSED, opportunity__in=[deal.pk for deal in deals])
    return {deal: str(Sentence.from_json(title)) for deal, title in rows.values_list("opportunity", "title")}


@fill("nav.counts")
def nav_counts(request: HttpRequest, **offered: Any) -> dict[str, Any]:
    if not request.user.is_authenticated:
        return {}
    return {"suggestions": Recommendation.objects.filter(state=State.PROPOSED, opportunity__owner=request.user)}


@fill("conversation.told")
def dropped_drafts(request: HttpRequest, *, conversation: Conversation, **offered: Any) -> list[Told]:
    """What the agent wrote and did not say, with the reason, where it stood in the thread."""
    return drafts.told(conversation, viewer=request.user)  # type: ignore[arg-type]


@fill("inbox.writing")
def writing(request: HttpRequest, *, conversations: Sequence[int], **offered: Any) -> set[int]:
    """Those in which the agent is writing right now."""
    return drafts.writing(conversations)


@fill("sample.draft")
def sample_draft(request: HttpRequest, *, conversation: int, text: str, **offered: Any) -> bool:
    """For the sample workspace: a draft that came too late, refused by the gate as it would be."""
    drafts.come_too_late(conversation, text=text)
    return True
