"""Where the forms of the inbox go: send, note, take over, give back, assign, close, reopen, tie to a deal.

Guarantees that each carries the version its page was shown with, that a double click is one message, that an answer
somebody else has given meanwhile is shown before a second one goes out, and that what was typed always comes back.
Next in the flow: `crm/views/submit.py`, then `crm/actions/conversation_outbound.py`.
"""

from typing import Any

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from conflicts import actors, decisions
from conflicts.decisions import Wish
from conflicts.models import Conflict, DecisionKind, Why
from conflicts.outcomes import Outcome, Result
from conflicts.refs import Ref
from crm import typing
from crm.models import Conversation, Message, MessageTemplate
from crm.models.conversation import Direction
from crm.permissions import permits_conversation
from crm.views.inbox import (
    Composer,
    answered,
    deals_for,
    find,
    menu,
    number_in,
    opened,
    people_for,
    returned,
    why_not,
)
from crm.views.requests import Request
from crm.views.settle import settle_or
from crm.views.submit import submit, version_of


@require_POST
def send(request: Request, pk: int) -> HttpResponse:
    """A message to the customer: `text`, or an approved `template`. `leave`: the one that came back is not sent."""
    talk = find(request, pk)
    if "leave" in request.POST:
        _left(request, talk)
        return answered(request, pk)
    version_of(request)
    seen, said = _seen(request)
    template = _approved(request, talk)
    # An approved template goes out as it was approved, whatever a form says.
    text = template.text if template else request.POST.get("text", "")
    params: dict[str, Any] = {"text": text, "seen": seen, "said": said}
    if template:
        params["template"] = template.approved_as
    submission = submit(
        request, action="conversation.send", params=params, subject=talk, settles=_own_record(request, talk)
    )
    if submission.done:
        typing.stop(pk, who=str(request.user.pk))
        return answered(request, pk)
    composer = Composer(
        version=request.POST.get("version", ""), seen=seen, said=said, text=text, template=template, kept=True
    )
    if submission.outcome is None:
        composer.fault = " ".join(line for lines in submission.errors.values() for line in lines)
        return _back(request, pk, composer, status=422)
    return _not_sent(request, pk, composer, submission.outcome.settled)


@require_POST
def types(request: Request, pk: int) -> HttpResponse:
    """A sign that the person is writing to the customer, who sees it on the web chat."""
    talk = find(request, pk)
    if permits_conversation(actors.person(request.user), talk) is None:
        typing.mark(talk.pk, who=str(request.user.pk))
    return HttpResponse(status=204)


def _not_sent(request: Request, pk: int, composer: Composer, outcome: Outcome) -> HttpResponse:
    if outcome.sentence is not None and outcome.sentence.code == "answered_meanwhile":
        # The next press is made knowing what was said; whatever is said after that is shown again.
        ours = Message.objects.filter(conversation=pk, direction=Direction.OUT, withdrawn=False).order_by("-pk")
        composer.meanwhile = ours.first()
        composer.said = composer.meanwhile.pk if composer.meanwhile else composer.said
        composer.settles = outcome.record
        talk = find(request, pk)
        composer.version = talk.version
    else:
        composer.fault = str(outcome.sentence or "")
    return _back(request, pk, composer, status=409)


def _back(request: Request, pk: int, composer: Composer, *, status: int) -> HttpResponse:
    talk = find(request, pk)
    composer.why = why_not(talk, request.user)
    return returned(request, opened(request, talk, composer=composer), status=status)


@require_POST
def note(request: Request, pk: int) -> HttpResponse:
    """Seen by colleagues only; it takes nobody's conversation over."""
    talk = find(request, pk)
    submission = submit(
        request, action="conversation.note", params={"text": request.POST.get("text", "")}, subject=talk
    )
    if submission.done:
        return answered(request, pk)
    lines = [line for lines in submission.errors.values() for line in lines]
    fault = str(submission.outcome.settled.sentence or "") if submission.outcome else " ".join(lines)
    context = opened(request, talk, do="note")
    context |= {"note_fault": fault, "note_text": request.POST.get("text", ""), "note_version": version_of(request)}
    return returned(request, context, status=409 if submission.outcome else 422)


@require_POST
def take_over(request: Request, pk: int) -> HttpResponse:
    return _owner(request, pk, "conversation.take_over", {"epoch": _epoch(request)})


@require_POST
def give_back(request: Request, pk: int) -> HttpResponse:
    return _owner(request, pk, "conversation.give_back", {"epoch": _epoch(request)})


@require_POST
def assign(request: Request, pk: int) -> HttpResponse:
    """To `owner`, one of those who may see it."""
    talk = find(request, pk)
    version_of(request)
    chosen = number_in(request.POST, "owner")
    if chosen not in {one.pk for one in people_for(talk)}:
        return returned(request, opened(request, talk, told=_("Choose who gets it."), do="assign"), status=422)
    return _owner(request, pk, "conversation.take_over", {"epoch": _epoch(request), "owner": chosen})


def _owner(request: Request, pk: int, action: str, params: dict[str, Any], **rests_on: Any) -> HttpResponse:
    """An act without anything typed: if it was not done, the page as it is now says why, with its buttons on it."""
    talk = find(request, pk)
    submission = submit(request, action=action, params=params, subject=talk, rests_on=rests_on or None)
    outcome = submission.outcome.settled if submission.outcome else None
    if submission.done:
        return answered(request, pk)
    if outcome is not None and outcome.result is Result.SUPERSEDED:
        messages.info(request, str(outcome.sentence))
        return answered(request, pk)
    lines = [line for lines in submission.errors.values() for line in lines]
    told = str(outcome.sentence or "") if outcome else " ".join(lines)
    if outcome is not None and outcome.record:
        # Nothing was typed and nothing was done: being told is all there is to it.
        _leave(request, talk, outcome.record)
    return returned(request, opened(request, find(request, pk), told=told), status=409 if outcome else 422)


@require_POST
def status(request: Request, pk: int) -> HttpResponse:
    """`to`: closed or open. Closing rests on what the customer had said on the page."""
    version_of(request)
    if request.POST.get("to") == "open":
        return _owner(request, pk, "conversation.reopen", {})
    return _owner(request, pk, "conversation.close", {}, inbound_count=_seen(request)[0])


@require_POST
def deal(request: Request, pk: int) -> HttpResponse:
    """Which `opportunity` it is about; empty for none."""
    talk = find(request, pk)
    version_of(request)
    text, chosen = request.POST.get("opportunity", ""), number_in(request.POST, "opportunity")
    known = {one.pk for one in deals_for(talk, request.user)} | {talk.opportunity_id}
    if "opportunity" not in request.POST or (text and chosen not in known):
        return returned(request, opened(request, talk, told=_("Choose one from the list."), do="deal"), status=422)
    params = {"opportunity": chosen}
    submission = submit(request, action="conversation.link_deal", params=params, subject=talk)
    if submission.done:
        return answered(request, pk)
    done_url = request.path.removesuffix("deal/")
    answer = settle_or(
        request, submission, subject=talk, action="conversation.link_deal", params=params, done_url=done_url
    )
    return answer or answered(request, pk)


# ------------------------------------------------------------------------------------------------------- what forms say


def _seen(request: Request) -> tuple[int, int]:
    """The customer's counter and our last message on the page. Raises BadRequest."""
    seen, said = number_in(request.POST, "seen"), number_in(request.POST, "said")
    if seen is None:
        raise BadRequest("What had been said when this was written?")
    return seen, said or 0


def _epoch(request: Request) -> int:
    """Raises BadRequest."""
    version_of(request)
    epoch = number_in(request.POST, "epoch")
    if epoch is None:
        raise BadRequest("Under which owner was this decided?")
    return epoch


def _approved(request: Request, talk: Conversation) -> MessageTemplate | None:
    slug = request.POST.get("template", "")
    return next((one for one in menu(talk) if one.slug == slug and one.approved_as), None) if slug else None


def _own_record(request: Request, talk: Conversation) -> int | None:
    """The record of this person's own message that came back, if the form names one that is still open."""
    pk = number_in(request.POST, "settles")
    if not pk:
        return None
    mine = Conflict.objects.waiting().about(Ref.of(talk)).filter(actor__startswith=f"person:{request.user.pk}:")
    return mine.filter(pk=pk).values_list("pk", flat=True).first()


def _left(request: Request, talk: Conversation) -> None:
    """The person does not send it after all."""
    if pk := _own_record(request, talk):
        _leave(request, talk, pk)


def _leave(request: Request, talk: Conversation, pk: int) -> None:
    """They drop what they meant, by the same act as the review queue; what a reviewer has taken stays with them."""
    record = Conflict.objects.waiting().filter(pk=pk).first()
    if record is None:
        return
    decisions.decide(
        Wish(
            record=record.pk,
            kind=DecisionKind.DROP,
            reason=Why.OVERTAKEN,
            by=actors.person(request.user),
            revision=record.revision,
            version=find(request, talk.pk).version,
            form="inbox",
        )
    )
