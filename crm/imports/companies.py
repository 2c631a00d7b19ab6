"""Companies, recognised by their name. What a company is part of is settled after the last row, so order is free."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from crm import naming
from crm.imports import cells, lookups
from crm.imports.columns import VERSION, Column
from crm.imports.kind import Row, SubjectKind
from crm.imports.problems import BadCell
from crm.models import Company

BATCH = 500


class Companies(SubjectKind):
    name = "companies"
    model = Company
    create = "company.create"
    edit = "company.edit"
    columns = (
        Column(
            target="name", required=True, read=cells.line(200),
            words=("company", "company name", "account", "account name", "customer", "organization",
                   "empresa", "nome", "nome da empresa", "cliente", "razão social", "conta"),
        ),
        Column(target="sector", read=cells.line(120), words=("industry", "setor", "segmento", "ramo")),
        Column(
            target="location", read=cells.line(200),
            words=("office location", "city", "address", "country", "cidade", "local", "endereço", "país"),
        ),
        Column(target="website", read=cells.line(200), words=("web", "url", "domain", "site", "domínio")),
        Column(
            target="founded", read=cells.whole(1000, 2200),
            words=("year established", "founded year", "established", "ano de fundação", "fundação"),
        ),
        Column(
            target="employees", read=cells.whole(0, 2_000_000_000),
            words=("number of employees", "staff", "headcount", "funcionários", "empregados", "colaboradores"),
        ),
        Column(target="revenue", read=cells.amount, words=("annual revenue", "receita", "faturamento")),
        Column(
            target="revenue_millions", read=cells.millions,
            words=("revenue in millions", "revenue (millions)", "receita em milhões", "faturamento em milhões"),
        ),
        Column(target="currency", read=cells.currency, words=("moeda",)),
        Column(
            target="parent", read=cells.line(200),
            words=("subsidiary of", "parent company", "part of", "matriz", "grupo", "empresa mãe", "subsidiária de"),
        ),
        Column(
            target="owner", read=cells.line(200),
            words=("sales agent", "account owner", "responsible", "responsável", "vendedor", "dono", "proprietário"),
        ),
        Column(target="tags", read=cells.tags, words=("labels", "etiquetas", "marcadores")),
        Column(target="note", read=cells.line(20_000), words=("notes", "description", "nota", "observação")),
        VERSION,
    )  # fmt: skip

    def begin(self) -> None:
        super().begin()
        self.people = lookups.People()
        self.parts: list[Row] = []

    def key(self, row: Row) -> Hashable:
        key = naming.key(row.values["name"])
        if not key:
            raise BadCell(_("A name needs at least one letter or digit."), column="name")
        return key

    def find(self, rows: Sequence[Row]) -> None:
        keys = {self.key(row) for row in rows}
        known = {company.name_key: company for company in Company.objects.filter(name_key__in=keys)}
        for row in rows:
            row.record = known.get(naming.key(row.values["name"]))
        self.parts += [
            Row(row.line, {k: row.values[k] for k in ("name", "parent", "version") if k in row.values})
            for row in rows
            if "parent" in row.values
        ]

    def fields(self, row: Row) -> dict[str, Any]:
        values = row.values
        params = {name: values[name] for name in _PLAIN if name in values}
        if "revenue_millions" in values:
            params["revenue"] = values["revenue_millions"]
        if "revenue" in params:
            params["currency"] = values.get("currency", self.options.currency)
        if "owner" in values:
            owner = self.people.get(values["owner"])
            if owner is None:
                self.leave_open("owner", values["owner"])
            else:
                params["owner"] = owner
        return params

    def compared(self, row: Row, params: Mapping[str, Any]) -> dict[str, Any]:
        # "dambase" and "Dambase" are one company; the spelling that is here stays.
        return {name: value for name, value in params.items() if name != "name"}

    def finish(self) -> None:
        for start in range(0, len(self.parts), BATCH):
            self._join(self.parts[start : start + BATCH])

    def _join(self, rows: Sequence[Row]) -> None:
        keys = {naming.key(row.values[field]) for row in rows for field in ("name", "parent")}
        known = {company.name_key: company for company in Company.objects.filter(name_key__in=keys)}
        wanted: list[tuple[Row, dict[str, Any]]] = []
        for row in rows:
            parent = known.get(naming.key(row.values["parent"]))
            row.record = known.get(naming.key(row.values["name"]))
            if row.record is None:
                continue  # refused above, or a dry run
            if parent is None:
                self.leave_open("parent", row.values["parent"])
            elif parent.pk == row.record.pk:
                self.report.point_out(
                    row.line, _("A company cannot be part of itself."), column=self.layout.header_of("parent")
                )
            elif different := self.differing(row, {"parent": parent.pk}):
                wanted.append((row, different))
        self.change(wanted)


_PLAIN = ("name", "sector", "location", "website", "founded", "employees", "revenue", "currency", "tags", "note")
