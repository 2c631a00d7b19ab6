"""What people read about conversations when something was not done, or was done differently."""

from django.utils.translation import gettext_lazy as _

from conflicts import sentences

_WORDS = {
    "conversation_exists": _("This conversation is there already. Nothing was written."),
    "conversation_closed_already": _("The conversation is closed already. Nothing was written."),
    "conversation_open_already": _("The conversation is open already. Nothing was written."),
    "conversation_people_take": _("Only people take a conversation over. Nothing was written."),
    "conversation_no_such_person": _("There is nobody like that who could take it. Nothing was written."),
    "conversation_yours_already": _("{who} has this conversation already. Nothing was written."),
    "conversation_taken": _("{who} has changed who answers: {owner}. Nothing was written."),
    "conversation_agents_already": _("The agent answers here already. Nothing was written."),
    "conversation_looked_after": _("Somebody looks after this conversation. It stays with them."),
    "conversation_agents_hand_over": _("Only agents hand a conversation over. Nothing was written."),
    "channel_pace": _("Between {least} and {most}. Nothing was written."),
    "channel_medium": _("This provider does not serve that channel. Nothing was written."),
    "channel_exists": _("There is a channel for {address} already. Nothing was written."),
    "template_exists": _("There is a template {name} for that use already. Nothing was written."),
    "message_known": _("This message is stored already. It was not stored again."),
    "message_empty": _("The message has no text. Nothing was sent."),
    "message_people_only": _("Only people write this way. Nothing was sent."),
    "template_not_approved": _("These are not the words that were approved as a template. Nothing was sent."),
    "message_gone": _("This message is not part of the conversation. Nothing was written."),
    "message_withdrawn_already": _("This message was taken back already. Nothing was written."),
    "message_on_its_way": _("The message is on its way. It was not taken back."),
    "message.channel_off": _("The channel {channel} is not in use. Nothing was sent."),
    "message.blocked": _("{contact} must not be contacted. Nothing was sent."),
    "message.refused": _("{contact} does not want messages on this channel. Nothing was sent."),
    "message.window_closed": _(
        "More than {hours} hours have passed since the customer wrote; only an approved template may be sent now. "
        "Nothing was sent."
    ),
    "message.undelivered": _("The message did not reach the customer. What it answered is unanswered again."),
    "answered_meanwhile": _("{who} has just answered: “{text}”. Your message was not sent; it is still here."),
    "reply.person_took_over": _(
        "A person answers here now. The agent's draft was dropped; the customer got no word of it."
    ),
    "reply.customer_wrote_again": _(
        "The customer wrote on while the agent was writing. The draft was dropped; one answer to everything follows."
    ),
    "reply.answered_already": _("These messages have been answered already. The draft was dropped."),
    "reply.taken_back_meanwhile": _(
        "An earlier answer was taken back while the agent was writing. The draft was dropped; one answer to everything "
        "follows."
    ),
    "reply.not_final": _("A draft that is out of date was not sent."),
    "reply.agents_only": _("This is how agents answer. Nothing was sent."),
}

sentences.register(
    {
        **_WORDS,
        "conversation_not_changed": _("The conversation was not changed."),
        "message_not_sent": _("Nothing was sent to the customer."),
        "message_not_stored_twice": _("The message was not stored twice."),
        "handover.cannot_answer": _("The agent has no answer to this."),
        "handover.failed": _("The agent tried several times and could not write an answer."),
        "handover.forbidden": _("The agent may not write to this contact."),
        "handover.asked_for": _("The customer asked for a person."),
        "handover.human": _("The customer asked for a person."),
        "handover.doubtful": _("The customer may not want to be written to any more."),
        "handover.late": _("The customer's message was held up on its way and came late."),
        "param.imported": _("from an archive"),
        "handover.undelivered": _("The agent's answer could not be delivered."),
        "param.seen": _("messages seen"),
        "param.said": _("our last message seen"),
        "param.anyway": _("send as well"),
        "param.counter": _("messages seen"),
        "param.epoch": _("epoch"),
        "param.final": _("for what it saw"),
        "param.provider_id": _("number at the provider"),
        "param.media": _("attachments"),
        "param.sent_at": _("the sender's time"),
        "param.automatic": _("automatic"),
        "param.late": _("came late"),
        "param.reaction": _("reaction to a message"),
        "param.headers": _("headers"),
        "param.key": _("key"),
        "param.why": _("why"),
        "param.template": _("template"),
    },
    whole=_WORDS,
)
