"""Signals that are part of the work: sent inside the gate's transaction, so that what follows is written with it or not
at all. A receiver that raises undoes the whole."""

from django.dispatch import Signal

taken_over = Signal()
"""A person has taken a conversation: `conversation` (locked, in force) and `by`. Whoever keeps drafts, follow-ups or
approvals that rest on the agent speaking closes them."""
