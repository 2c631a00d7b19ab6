"""What people read about tickets, stock and access when something was not done, or was done differently."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from conflicts import sentences

TICKETS = {
    "other_queue": _("This ticket waits in the queue of {team}. Nothing was written."),
    "ticket_claimed": _("{who} has taken this ticket. An agent cannot move it, close it or give it to somebody else."),
    "ticket_taken": _("{who} has taken this ticket first. Nothing was written."),
    "ticket_yours_already": _("You have taken this ticket already. Nothing was written."),
    "ticket_not_free": _("This ticket is {status} by now; {who} changed it. The next one is looked for."),
    "ticket_closed": _("{who} has closed this ticket. It has to be opened again first; nothing was written."),
    "ticket_closed_already": _("{who} has closed this ticket already. Nothing was written."),
    "ticket_open_already": _("This ticket is {status} already. Nothing was written."),
    "ticket_free_already": _("Nobody has this ticket. Nothing was written."),
    "ticket_not_yours": _("{who} has this ticket; they or a manager can give it back. Nothing was written."),
    "ticket_is_nobodys": _("A ticket is a company's or a contact's. Nothing was written."),
    "ticket_deal_of_another_queue": _(
        "The deal of this ticket belongs to {team}: the ticket waits in their queue, or it names no deal."
        " Nothing was written."
    ),
    "only_people_take": _("Only people take tickets. Nothing was written."),
    "needs_resolution": _("A ticket is closed with a word on how it ended. Nothing was written."),
}
STOCK = {
    "stock_item_exists": _("There is an item of that name already. Nothing was written."),
    "not_enough_free": _("{wanted} are wanted, and {free} are free. Nothing was reserved."),
    "promised_meanwhile": _("{who} was faster: {wanted} are wanted, and {free} are free now. Nothing was reserved."),
    "count_below_promised": _(
        "{counted} were counted, and {held} are promised. Give some back first; nothing was written."
    ),
    "until_is_no_time": _("The end has to lie ahead, and within a year. Nothing was written."),
    "deal_lost_nothing_promised": _("This deal is lost; nothing is kept for it. Nothing was reserved."),
    "contract_ended_nothing_promised": _("This contract is {status}; nothing is kept for it. Nothing was reserved."),
    "reservation_gone": _("This reservation is not of this item. Nothing was written."),
    "reservation_ended": _("This reservation is {status} since {who} changed it. Nothing was written."),
    "reservation_changed": _("{who} changed this reservation meanwhile. Nothing was written."),
    "reservation_of_person": _("{who} made this reservation. An agent cannot end it or change it."),
    "nothing_runs_out": _("Nothing of this has run out. Nothing was written."),
}
ACCESS = {
    "access_own": _("Nobody decides on their own access. Nothing was written."),
    "access_by_people": _("Access is given by people. Nothing was written."),
    "access_by_manager": _("Only a manager of {team} or an administrator can decide on this. Nothing was written."),
    "access_by_administrator": _("Only an administrator can decide on this. Nothing was written."),
    "access_not_yours": _("{who} asked for this; only they can change it. Nothing was written."),
    "access_for_oneself": _("Everybody asks for themselves. Nothing was written."),
    "access_for_nobody": _("Nobody is named for whom it would be. Nothing was written."),
    "access_not_needed": _("This is the person's own team; its deals are seen already. Nothing was written."),
    "access_asked_already": _("This was asked for already and waits for an answer. Nothing was written."),
    "access_granted_already": _("This was granted already. Nothing was written."),
    "access_until_no_day": _("The day has to lie ahead, and within a year. Nothing was written."),
    "access_decided": _("{who} was first: this is {status}. Nothing was written."),
    "access_changed": _("{who} changed {what} while this was being examined. Nothing was decided."),
    "access_not_granted": _("This is {status}; there is nothing to take back. Nothing was written."),
    "access_ended_already": _("{who} was first: this is {status} already. Nothing was written."),
}
AVOIDED = {
    "ticket_not_changed": _("The ticket was not changed."),
    "stock_not_changed": _("The stock was not changed."),
    "access_not_changed": _("Nobody's access was changed."),
}
PARAMS = {
    "param.resolution": _("how it ended"),
    "param.from_customer": _("the customer's words"),
    "param.until": _("until"),
    "param.reservation": _("reservation"),
    "param.expires_at": _("runs out"),
    "param.fingerprint": _("fingerprint"),
    "param.opportunity": _("deal"),
    "param.contract": _("contract"),
    "param.owner": _("owner"),
}

WHOLE = {*TICKETS, *STOCK, *ACCESS} - {"ticket_claimed", "reservation_of_person"}

sentences.register({**TICKETS, **STOCK, **ACCESS, **AVOIDED, **PARAMS}, whole=WHOLE)


def said(obj: Any) -> dict[str, list[str]]:
    """A fact that is the state of a ticket, a reservation or a request, in the reader's words."""
    return sentences.choice(obj._meta.label_lower, "state", str(obj.state))
