"""What people read about deals, contacts and companies when something was not done, or was done differently."""

from django.utils.translation import gettext_lazy as _

from conflicts import sentences

WHOLE = (
    "not_active",
    "other_team",
    "deal_closed",
    "next_step_exists",
    "customer_answered",
    "customer_waits",
    "stage_forbids_contact",
    "contact_blocked",
    "consent_refused",
    "owner_changed",
    "task_gone",
    "task_settled",
    "task_changed",
    "stage_unknown",
    "closes_in_the_future",
    "needs_lost_reason",
    "agent_may_not_close",
    "company_exists",
    "address_taken",
    "address_gone",
    "parent_is_self",
    "takes_part_already",
    "takes_no_part",
    "left_already",
    "granted_to_see",
    "nobody_to_give_it_to",
    "task_same_owner",
)
"""These say themselves what did not happen."""

sentences.register(
    {
        "not_active": _("This account is closed. Nothing was written."),
        "other_team": _("This deal belongs to {team}. Nothing was written."),
        "deal_closed": _("The deal is {status} now. Nothing was added."),
        "next_step_exists": _(
            "{who} set the next step first: {next_step}, {day}. The automatic task was not added; nobody was contacted."
        ),
        "customer_answered": _(
            "{who} has spoken with the customer since, on {day}. The task was not added; nobody was contacted."
        ),
        "customer_waits": _(
            "The customer has waited for an answer since {day}. The task was not added; nobody was contacted."
        ),
        "stage_forbids_contact": _("In {stage} customers are not contacted. The task was not added."),
        "contact_blocked": _("{contact} must not be contacted. The task was not added; nobody was contacted."),
        "consent_refused": _(
            "{contact} does not want to be reached by {channel}. The task was not added; nobody was contacted."
        ),
        "owner_changed": _("The deal has another owner now: {owner}. The task was not added."),
        "task_gone": _("This task is not part of the deal. Nothing was written."),
        "task_settled": _("{who} settled this task already. Nothing was written."),
        "task_changed": _("{who} changed this task meanwhile. Nothing was written."),
        "task_claimed": _("{who} has taken this task. An agent cannot change it."),
        "task_for_people": _("Only people take tasks."),
        "task_claimed_by_other": _("{who} has taken this task."),
        "stage_unknown": _("This stage is not part of the deal's pipeline. Nothing was written."),
        "closes_in_the_future": _(
            "{day} is still to come: a deal is closed on a day that has been. Nothing was written."
        ),
        "needs_lost_reason": _("A lost deal needs a reason. Nothing was written."),
        "closed_meanwhile": _("{who} has closed the deal as {status}. Two ends exclude each other: a person decides."),
        "agent_may_not_close": _("Agents do not close deals. Nothing was written."),
        "company_exists": _("There is a company of that name already. Nothing was written."),
        "address_taken": _("{value} belongs to {contact} already. Nothing was written."),
        "address_gone": _("This address is not part of the contact. Nothing was written."),
        "parent_is_self": _("A company cannot be part of itself. Nothing was written."),
        "takes_part_already": _("This contact takes part in the deal already. Nothing was written."),
        "takes_no_part": _("This contact takes no part in the deal. Nothing was written."),
        "left_already": _("This contact was taken out of the deal already. Nothing was written."),
        "granted_to_see": _(
            "You were given sight of the deals of {team}, not leave to change them. Nothing was written."
        ),
        "nobody_to_give_it_to": _("There is nobody of that name here any more. Nothing was written."),
        "task_same_owner": _("This task is theirs already. Nothing was written."),
        "task_not_added": _("The task was not added; nobody was contacted."),
        "deal_not_changed": _("The deal was not changed."),
        # What an action asks for that is no field of its subject: named where the review queue shows what was meant.
        "param.kind": _("kind"),
        "param.title": _("title"),
        "param.due_on": _("due on"),
        "param.due_at": _("due at"),
        "param.task": _("task"),
        "param.participant": _("participant"),
        "param.role": _("role"),
        "param.reason": _("reason"),
        "param.on": _("day"),
        "param.text": _("text"),
        "param.at": _("when"),
        "param.next_title": _("next step"),
        "param.next_on": _("next step on"),
        "param.value": _("address or number"),
        "param.label": _("label"),
        "param.is_primary": _("preferred"),
        "param.channel": _("channel"),
        "param.status": _("statement"),
        "param.source": _("how we know"),
        "record_not_changed": _("The record was not changed."),
    },
    whole=WHOLE,
)
