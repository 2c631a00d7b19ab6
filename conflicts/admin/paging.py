"""Pages of a list that cost the same however long it is: nothing is counted beyond what one would leaf through."""

from functools import cached_property

from django.core.paginator import Paginator
from django.db.models import QuerySet

MOST = 10_000


class CappedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts up to MOST and then says "more than". Whoever looks for the next one filters or searches."""

    template_name = "admin/vigente/pages.html"

    @cached_property
    def found(self) -> int:
        rows = self.object_list
        if not isinstance(rows, QuerySet):
            return len(rows)
        return rows.order_by()[: MOST + 1].count()

    @property
    def count(self) -> int:
        return min(self.found, MOST)

    @property
    def more(self) -> bool:
        return self.found > MOST
