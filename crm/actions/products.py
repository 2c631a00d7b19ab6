"""What can be done to a product."""

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from conflicts.actions import Action, register
from conflicts.sentences import Sentence
from conflicts.work import Work
from crm import naming
from crm.actions.companies import Named
from crm.actions.fields import Amount, Currency, Params, ShortLine
from crm.models import Product
from crm.permissions import permits_catalogue


class Create(Params):
    name: Named
    series: ShortLine = ""
    price: Amount = None
    currency: Currency = settings.VIGENTE_CURRENCY


class Edit(Create):
    name: Named = ""


def _create(work: Work) -> None:
    work.new(Product(**work.params.model_dump(), name_key=naming.key(work.params.name)))


def _edit(work: Work) -> None:
    work.set(**work.writes)
    if "name" in work.writes:
        work.set(name_key=naming.key(work.writes["name"]))


register(
    Action(
        name="product.create",
        subject=Product,
        params=Create,
        words=_("Add a product"),
        apply=_create,
        permits=permits_catalogue,
        creates=True,
    )
)
register(
    Action(
        name="product.edit",
        subject=Product,
        params=Edit,
        words=_("Change the product"),
        apply=_edit,
        writes=lambda p: p.given(),
        permits=permits_catalogue,
        avoided=Sentence("record_not_changed"),
    )
)
