"""What people read of the agents: suggestions, reasons, values on a card, and why a button does not do it any more."""

from django.utils.translation import gettext_lazy as _

from conflicts import sentences

GATES = {
    "g1.won": _("The deal is won."),
    "g1.lost": _("The deal is lost."),
    "g2": _("{who} must not be contacted. What comes next is yours to decide."),
    "g3": _("{who} has the conversation. The agent keeps out of it."),
    "g4": _("The customer has been waiting for an answer since {day}. That comes first."),
    "g5": _("Planned already: {what}, {day}."),
    "g6": _("Parked: {what} is planned for {day}, more than twice as far away as a deal may rest here."),
    "g7": _("A suggestion for this deal is open."),
    "g7.unsettled": _("An earlier suggestion waits for a person's decision."),
    "q": _("Suggestions that wait for {who}: {count}. The agent goes on as soon as some of them are decided."),
    "q.nobody": _(
        "Suggestions that wait on deals without an owner: {count}. The agent goes on as soon as some are decided."
    ),
    "g8.overridden": _(
        "A person put another value in the agent's place on {day}. Nothing is suggested before {until}, unless the deal"
        " changes."
    ),
    "g8": _("Declined on {day}. The same is not suggested again before {until}, unless the deal changes."),
}

RULES = {
    "r3.title": _("Move “{what}” to {day}"),
    "r3.why": _("It was due on {day}, and nobody has set another day."),
    "r5.why": _("The deal is new since {day}, and nobody has spoken with the customer yet."),
    "r6.why": _("The last contact is an e-mail of {day}. Nothing has come after it, and the deal has no next step."),
    "r7.why": _("The deal was to close on {day}. That day has passed, and the deal is still open."),
    "r8.why": _("Nobody has spoken with the customer since {day}, and the deal has no next step."),
    "r8.why.never": _("The deal has been in {stage} since {day} without a word to the customer or a next step."),
    "r11": _("Nothing to do now: the last contact was on {day}. Looked at again on {review}."),
    "r11.never": _("Nothing to do now: the deal has been in its stage since {day}. Looked at again on {review}."),
    "r11.claimed": _("{who} has taken “{what}”, due on {day}. It is theirs to move."),
    "title.follow.call": _("Call {who} on {day}"),
    "title.follow.mail": _("Write to {who} on {day}"),
    "title.follow.todo": _("Decide on {day} how “{deal}” goes on"),
    "title.reply.call": _("Call {who} about the e-mail on {day}"),
    "title.reply.mail": _("Write to {who} again on {day}"),
    "title.reply.todo": _("Decide on {day} what follows the e-mail to {who}"),
    "title.close.call": _("Ask {who} on {day} when the deal will close"),
    "title.close.mail": _("Write to {who} on {day} and ask when the deal will close"),
    "title.close.todo": _("Set a new closing day for “{deal}” on {day}"),
    "title.edited": _("{what}, {day}"),
    "task.follow.call": _("Call {who}"),
    "task.follow.mail": _("Write to {who}"),
    "task.follow.todo": _("Decide how “{deal}” goes on"),
    "task.reply.call": _("Call {who} about the e-mail"),
    "task.reply.mail": _("Write to {who} again"),
    "task.reply.todo": _("Decide what follows the e-mail to {who}"),
    "task.close.call": _("Ask {who} when the deal will close"),
    "task.close.mail": _("Ask {who} by e-mail when the deal will close"),
    "task.close.todo": _("Set a new closing day for “{deal}”"),
    "points.late": _("a late next step"),
    "points.new": _("a new deal"),
    "points.mail": _("an e-mail without an answer"),
    "points.close": _("the closing day has passed"),
    "points.idle": _("nothing has happened for long"),
    "points.days": _("one for each day, at most 30"),
    "points.amount": _("the amount"),
}

CARD = {
    "fact.status": _("Deal"),
    "fact.next_step": _("Next step"),
    "fact.last_contact": _("Last contact"),
    "fact.stage": _("Stage"),
    "fact.closes": _("Closes"),
    "fact.owner": _("Owner"),
    "fact.calls": _("Calls"),
    "fact.mails": _("E-mails"),
    "value.none": _("none"),
    "value.text": "{text}",
    "value.day": "{day}",
    "value.step": _("{what}, {day}"),
    "value.since": _("{what}, since {day}"),
    "value.open": _("open"),
    "value.won": _("won"),
    "value.lost": _("lost"),
    "value.blocked": _("{who} must not be contacted"),
    "value.allowed": _("{who} agreed, {day}"),
    "value.refused": _("{who} refused, {day}"),
    "value.not_refused": _("{who} has not refused"),
    "fresh.unmoved": _("Still good. Read v{read}, nothing has changed since."),
    "fresh.moved": _("Still good. Since v{read} only this has changed: {what} ({who}). It does not rest on that."),
    "fresh.contact": _("Still good. Since then only the contact has changed ({who}), and not in what this rests on."),
    "stale.moved": _("{who} changed this after the agent read it: {what}. Ask again before you use it."),
    "stale.closed": _("{who} closed the deal after the agent read it."),
    "stale.planned": _("{who} set the next step first: {next_step}, {day}."),
    "stale.stage": _("The deal is in {stage} now, where customers are not contacted. Ask again before you use it."),
    "stale.blocked": _("{contact} must not be contacted."),
    "stale.refused.call": _("{who} refused calls on {day}. Ask again before you use it."),
    "stale.refused.mail": _("{who} refused e-mails on {day}. Ask again before you use it."),
    "stale.customer_answered": _("{who} has spoken with the customer since, on {day}. Ask again before you use it."),
    "stale.customer_waits": _("The customer has waited for an answer since {day}. That comes first."),
    "stale.expired": _("Its day has passed. Ask again before you use it."),
    "effect.task": _("Adds a task for {who}. Nothing is sent to the customer."),
    "effect.task.nobody": _("Adds a task that nobody owns yet. Nothing is sent to the customer."),
    "effect.move": _("Moves the task. Nothing is sent to the customer."),
}

TOLD = {
    "told.applied": _("Done: {what}."),
    "told.applied.rebased": _("Done: {did}. Meanwhile {who} had changed {what}; it did not rest on that."),
    "told.declined": _("Declined. The same is not suggested again for 30 days, unless the deal changes."),
    "told.snoozed": _("It comes back on {day}."),
    "told.edited": _("Changed. It now reads: {what}."),
    "told.asked_new": _("The agent has looked again, and suggests: {what}."),
    "told.asked_same": _("The agent has looked again: nothing that this rests on has changed."),
    "told.asked_nothing": _("The agent has looked again, and leaves the deal alone: {why}"),
    "told.waits": _("This could not be done now. A person decides; it waits in the review queue."),
    "told.busy": _("Your yes is kept. The deal is being saved by somebody else right now; it is done right after."),
    "no.approved": _("{who} has approved this already."),
    "no.applied": _("{who} has approved this already, and it is done."),
    "no.applied.alone": _("This is done already."),
    "no.declined": _("{who} has declined this already."),
    "no.snoozed": _("{who} has put this off until {day}."),
    "no.superseded": _("{who} was faster than this suggestion. There is nothing left to decide."),
    "no.expired": _("This suggestion has expired. The agent looks again with the next sweep."),
    "no.failed": _("This could not be done. It waits for a person's decision in the review queue."),
    "no.edited": _("{who} has changed this suggestion. Look at it again before you decide."),
    "no.other_content": _("The suggestion is not the one that was on your screen. Look at it again before you decide."),
    "no.people_only": _("Only a person says yes to this."),
    "no.without_a_yes": _("Nobody's yes to this is on record. It is asked again."),
    "no.own_beyond": _(
        "You changed this yourself, and {amount} is more than you may decide alone. {who} can approve it."
    ),
    "no.reason": _("Say with one click why it should be another."),
    "no.owner_only": _("{who} owns the deal, and only the owner or a manager can say yes to this."),
    "no.past_day": _("Choose a day from tomorrow on, within half a year."),
    "no.edit_same": _("Nothing was changed: it reads as before."),
    "no.edit_kind": _("Only the day, the kind and the words of a follow-up can be changed here."),
    "line.suggested": _("suggested: {what}"),
    "line.declined": _("declined the suggestion: {what}"),
    "line.snoozed": _("put the suggestion off until {day}: {what}"),
    "line.approved": _("approved the suggestion: {what}"),
}

TURNS = {
    "turn.taken_over": _("{who} took the conversation over. The draft was dropped; the customer got no word of it."),
    "turn.lost": _("Whoever wrote this answer went silent. It was written anew; nothing of this one was sent."),
    "turn.failed": _("No answer could be written ({error}). It is tried again; nothing was sent."),
    "suggestion.taken_over": _("{who} is writing with the customer. The suggestion was closed; nothing was sent."),
}

sentences.register(GATES | RULES | CARD | TOLD)
sentences.register(TURNS, whole=TURNS)
