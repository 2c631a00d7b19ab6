"""The registry of providers: what each must be able to do, and nothing else."""

from conflicts import destinations
from crm.channels.sending import ChannelProvider, MessageDestination

_PROVIDERS: dict[str, ChannelProvider] = {}


class Forged(Exception):
    """The request does not carry the provider's signature. Nothing of it is stored."""


class Unreadable(Exception):
    """The request is signed but is none that the provider would send; the words say what is wrong."""


def register(provider: ChannelProvider) -> None:
    """Raises ValueError if another one has that name."""
    if provider.name in _PROVIDERS:
        raise ValueError(f"The provider {provider.name!r} is already registered.")
    _PROVIDERS[provider.name] = provider
    destinations.register(MessageDestination(provider))


def get(name: str) -> ChannelProvider:
    """Raises KeyError."""
    return _PROVIDERS[name]
