"""The web chat: a page and a script of ours that a site embeds. What we say is there the moment it is a row.

Guarantees that a visitor reads and writes one conversation only, under a token that they alone hold (signed, in their
browser), and that a message sent twice (a lost answer, a double click) is stored once: the browser numbers its lines.
"""

from typing import Any

from conflicts.destinations import Found, Missing, ReadBack
from crm.channels import registry
from crm.models import ChannelAccount, Message
from crm.models.channel_account import Provider


class WebChat:
    name = Provider.WEBCHAT.value
    conditional = True
    settles_in = 0.0

    def send(self, account: ChannelAccount, to: str, payload: dict[str, Any], *, key: str) -> str:
        """The line is in the thread already; that it is `sent` makes the visitor's page show it."""
        return key

    def read_back(self, account: ChannelAccount, key: str) -> ReadBack:
        return Found(key) if Message.objects.filter(outbox_key=key).exists() else Missing.ABSENT


registry.register(WebChat())
