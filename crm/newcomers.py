"""Newcomers: how many visitors nobody knows yet may begin a chat, from one address and on one channel.

Guarantees that a script which makes up a visitor for each line is told to stop, while people behind one address go on;
that whoever is known already is never asked; and that with Redis away the answer is not counted and the caller decides
(`crm/views/webchat.py` lets everybody in). The rates: `newcomers` in settings.VIGENTE_LIMITS.
"""

import ipaddress

from django.conf import settings
from django.http import HttpRequest

from conflicts import limits
from conflicts.limits import Allowance
from crm.models import ChannelAccount


def room(request: HttpRequest, account: ChannelAccount) -> Allowance:
    """For one visitor more. First the address: whoever is refused there takes no place of the others."""
    if address := address_of(request):
        found = limits.take("newcomers:address", str(account.pk), address, by=account.actor)
        if not found:
            return found
    return limits.take("newcomers:channel", str(account.pk), by=account.actor)


def address_of(request: HttpRequest) -> str:
    """Whence the request comes, of IPv6 the network that one customer has; empty where nobody can tell.

    Behind our own proxy (HTTPS=yes) only what the proxy added counts, the last entry: the others anybody can write.
    """
    said = request.META.get("REMOTE_ADDR", "")
    if settings.HTTPS:
        said = request.headers.get("X-Forwarded-For", "").rpartition(",")[2]
    try:
        address = ipaddress.ip_address(said.strip())
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)
