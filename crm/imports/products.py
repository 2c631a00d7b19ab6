"""Products, recognised by their name."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from crm import naming
from crm.imports import cells
from crm.imports.columns import VERSION, Column
from crm.imports.kind import Row, SubjectKind
from crm.imports.problems import BadCell
from crm.models import Product


class Products(SubjectKind):
    name = "products"
    model = Product
    create = "product.create"
    edit = "product.edit"
    columns = (
        Column(
            target="name", required=True, read=cells.line(200),
            words=("product", "product name", "item", "produto", "nome", "nome do produto"),
        ),
        Column(target="series", read=cells.line(120), words=("family", "category", "série", "linha", "categoria")),
        Column(
            target="price", read=cells.amount,
            words=("sales price", "list price", "unit price", "preço", "preço de venda", "valor"),
        ),
        Column(target="currency", read=cells.currency, words=("moeda",)),
        VERSION,
    )  # fmt: skip

    def key(self, row: Row) -> Hashable:
        key = naming.key(row.values["name"])
        if not key:
            raise BadCell(_("A name needs at least one letter or digit."), column="name")
        return key

    def find(self, rows: Sequence[Row]) -> None:
        known = {p.name_key: p for p in Product.objects.filter(name_key__in={self.key(row) for row in rows})}
        for row in rows:
            row.record = known.get(naming.key(row.values["name"]))

    def fields(self, row: Row) -> dict[str, Any]:
        params: dict[str, Any] = {name: row.values[name] for name in ("name", "series", "price") if name in row.values}
        if "price" in params or row.record is None:
            params["currency"] = row.values.get("currency", self.options.currency)
        return params

    def compared(self, row: Row, params: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in params.items() if name != "name"}
