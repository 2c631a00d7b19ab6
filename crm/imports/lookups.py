"""From the names in a file to the records here, asked once per name."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from crm import naming
from crm.models import Company, ContactPoint, Product, User


class People:
    """Users by full name, user name or e-mail address, whatever the case, spaces and accents."""

    def __init__(self) -> None:
        self._found: dict[str, set[int]] = defaultdict(set)
        for user in User.objects.only("pk", "username", "first_name", "last_name", "email"):
            for name in (user.get_full_name(), user.username, user.email):
                if key := naming.key(name):
                    self._found[key].add(user.pk)

    def get(self, name: str) -> int | None:
        """None for nobody, and for a name that two people share."""
        found = self._found.get(naming.key(name), set())
        return next(iter(found)) if len(found) == 1 else None


class Named:
    """Records by the key of their name; what was asked once is remembered, also that there is none."""

    def __init__(self, fetch: Callable[[set[str]], Iterable[tuple[str, int]]]) -> None:
        self._fetch = fetch
        self._known: dict[str, int | None] = {}

    def load(self, names: Iterable[str | None]) -> None:
        keys = {naming.key(name) for name in names if name} - self._known.keys()
        if keys:
            self._known |= dict.fromkeys(keys)
            self._known |= dict(self._fetch(keys))

    def get(self, name: str) -> int | None:
        return self._known.get(naming.key(name))

    def forget(self) -> None:
        self._known.clear()


def companies() -> Named:
    return Named(lambda keys: Company.objects.filter(name_key__in=keys).values_list("name_key", "pk"))


def products() -> Named:
    return Named(lambda keys: Product.objects.filter(name_key__in=keys).values_list("name_key", "pk"))


def addresses(keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Kind and key of an address in use -> the contact that has it."""
    wanted = set(keys)
    rows = ContactPoint.objects.filter(removed=False, value_key__in={key for _kind, key in wanted})
    found = {(kind, key): contact for kind, key, contact in rows.values_list("kind", "value_key", "contact_id")}
    return {pair: contact for pair, contact in found.items() if pair in wanted}
