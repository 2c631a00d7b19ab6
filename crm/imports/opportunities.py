"""Deals, recognised by their id in the system they come from.

A deal whose stage has changed in the file is moved, all else is edited. What is not known here (an owner, a company, a
product, a contact) is left open and reported; the same file once more fills it in when it has come.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from crm import naming
from crm.imports import cells, lookups, pipelines
from crm.imports.columns import VERSION, Column
from crm.imports.kind import Row, SubjectKind
from crm.imports.problems import BadCell
from crm.models import Contact, Opportunity, Stage
from crm.models.pipeline import StageKind


class Opportunities(SubjectKind):
    name = "opportunities"
    model = Opportunity
    create = "opportunity.create"
    edit = "opportunity.edit"
    own_actions = {"stage": "opportunity.move"}
    columns = (
        Column(
            target="external_id", required=True, read=cells.line(120),
            words=("opportunity id", "deal id", "id", "record id", "external id", "código", "id da oportunidade",
                   "id do negócio"),
        ),
        Column(
            target="name", read=cells.line(200),
            words=("opportunity", "opportunity name", "deal", "deal name", "title", "nome", "oportunidade", "negócio",
                   "título"),
        ),
        Column(
            target="company", read=cells.line(200),
            words=("account", "account name", "company name", "customer", "empresa", "cliente", "conta"),
        ),
        Column(target="contact", read=cells.line(254), words=("contact name", "contact email", "contato")),
        Column(target="product", read=cells.line(200), words=("product name", "item", "produto")),
        Column(
            target="stage", read=cells.line(120),
            words=("deal stage", "stage name", "pipeline stage", "status", "etapa", "fase", "estágio", "situação"),
        ),
        Column(
            target="amount", read=cells.amount,
            words=("close value", "value", "deal value", "price", "revenue", "valor", "valor de fechamento"),
        ),
        Column(target="currency", read=cells.currency, words=("moeda",)),
        Column(
            target="owner", read=cells.line(254),
            words=("sales agent", "sales rep", "salesperson", "opportunity owner", "deal owner", "agent", "responsável",
                   "vendedor", "vendedora", "dono", "proprietário"),
        ),
        Column(
            target="opened_on", read=cells.day,
            words=("engage date", "created", "created date", "create date", "opened", "open date", "start date",
                   "data de abertura", "aberto em", "criado em", "data de criação"),
        ),
        Column(
            target="expected_close", read=cells.day,
            words=("expected close date", "forecast date", "previsão", "previsão de fechamento", "fechamento previsto"),
        ),
        Column(
            target="closed_on", read=cells.day,
            words=("close date", "closed date", "closed", "data de fechamento", "fechado em", "fechamento"),
        ),
        Column(
            target="lost_reason", read=cells.line(200),
            words=("reason", "loss reason", "closed lost reason", "motivo", "motivo da perda"),
        ),
        Column(target="decision", read=cells.line(300), words=("decision maker", "decisão", "decisor")),
        Column(target="tags", read=cells.tags, words=("labels", "etiquetas", "marcadores")),
        VERSION,
    )  # fmt: skip

    def begin(self) -> None:
        super().begin()
        self.stages, made = pipelines.open_stages(
            self.options.pipeline, self.options.stages, by=self.by, dry_run=self.options.dry_run
        )
        self.report.made += made
        self.people = lookups.People()
        self.companies = lookups.companies()
        self.products = lookups.products()
        self.contacts: dict[str, int] = {}

    def key(self, row: Row) -> Hashable:
        return row.values["external_id"]

    def find(self, rows: Sequence[Row]) -> None:
        known = {
            deal.external_id: deal
            for deal in Opportunity.objects.filter(external_id__in=[row.values["external_id"] for row in rows])
        }
        for row in rows:
            row.record = known.get(row.values["external_id"])
        self.companies.load(row.values.get("company") for row in rows)
        self.products.load(row.values.get("product") for row in rows)
        self._find_contacts({row.values["contact"] for row in rows if "contact" in row.values})

    def _find_contacts(self, names: Iterable[str]) -> None:
        """By e-mail address, else by a name that one contact alone has."""
        names = set(names)
        by_mail = lookups.addresses(("email", name.lower()) for name in names if "@" in name)
        self.contacts = {key: contact for (_kind, key), contact in by_mail.items()}
        keys = {naming.key(name) for name in names if "@" not in name}
        if keys:
            found: dict[str, set[int]] = {}
            for key, pk in Contact.objects.filter(name_key__in=keys).values_list("name_key", "pk"):
                found.setdefault(key, set()).add(pk)
            self.contacts |= {key: next(iter(pks)) for key, pks in found.items() if len(pks) == 1}

    def fields(self, row: Row) -> dict[str, Any]:
        values = row.values
        params: dict[str, Any] = {
            name: values[name]
            for name in ("external_id", "name", "amount", "opened_on", "expected_close", "decision", "tags")
            if name in values
        }
        if "amount" in params or row.record is None:
            params["currency"] = values.get("currency", self.options.currency)
        if "owner" in values:
            self._name(params, "owner", values["owner"], self.people.get(values["owner"]))
        if "company" in values:
            self._name(params, "company", values["company"], self.companies.get(values["company"]))
        if "product" in values:
            self._name(params, "product", values["product"], self.products.get(values["product"]))
        if "contact" in values:
            name = values["contact"]
            key = name.lower() if "@" in name else naming.key(name)
            self._name(params, "contact", name, self.contacts.get(key))
        stage = self._stage(row)
        if stage is not None:
            params["stage"] = stage.pk
            self._check_end(row, stage)
            if stage.kind == StageKind.OPEN and "closed_on" in values:
                # Of an open deal, the day it closes is a hope.
                params.setdefault("expected_close", values["closed_on"])
        return params

    def _name(self, params: dict[str, Any], target: str, name: str, found: int | None) -> None:
        if found is None:
            self.leave_open(target, name)
        else:
            params[target] = found

    def _stage(self, row: Row) -> Stage | None:
        if "stage" not in row.values:
            return self.stages.first if row.record is None else None
        stage = self.stages.get(row.values["stage"])
        if stage is None:
            known = ", ".join(stage.name for stage in self.stages.all)
            raise BadCell(
                _("There is no stage “%(stage)s” in %(pipeline)s. It has: %(known)s.")
                % {"stage": cells.shown(row.values["stage"]), "pipeline": self.stages.pipeline, "known": known},
                column="stage",
            )
        if row.record is not None and row.record.pipeline_id != self.stages.pipeline.pk:
            raise BadCell(_("This deal is in another pipeline; --pipeline names it."), column="stage")
        return stage

    def _check_end(self, row: Row, stage: Stage) -> None:
        opened, closed = row.values.get("opened_on"), row.values.get("closed_on")
        if stage.kind != StageKind.OPEN and closed is None and row.record is None:
            raise BadCell(
                _("A deal that is %(stage)s needs the day it was closed.") % {"stage": stage}, column="closed_on"
            )
        if stage.kind != StageKind.OPEN and opened and closed and closed < opened:
            raise BadCell(
                _("Closed on %(closed)s, before it was opened (%(opened)s).") % {"closed": closed, "opened": opened},
                column="closed_on",
            )

    def only_new(self, row: Row, params: dict[str, Any]) -> dict[str, Any]:
        extra: dict[str, Any] = {}
        if "name" not in params:
            extra["name"] = self._name_for(row)
        stage = self.stages.get(row.values["stage"]) if "stage" in row.values else self.stages.first
        if stage is not None and stage.kind != StageKind.OPEN:
            extra["closed_on"] = row.values["closed_on"]
        if stage is not None and stage.kind == StageKind.LOST:
            extra["lost_reason"] = row.values.get("lost_reason") or _("imported")
        return extra

    @staticmethod
    def _name_for(row: Row) -> str:
        product, company = row.values.get("product"), row.values.get("company")
        if product and company:
            return (_("%(product)s for %(company)s") % {"product": product, "company": company})[:200]
        return product or company or row.values["external_id"]

    def compared(self, row: Row, params: Mapping[str, Any]) -> dict[str, Any]:
        deal = row.record
        closed = row.values.get("closed_on")
        if not deal.is_open and closed and deal.closed_on != closed and params.get("stage") == deal.stage_id:
            self.report.point_out(
                row.line,
                _("It was closed on %(day)s here; an import does not change that.") % {"day": deal.closed_on},
                column=self.layout.header_of("closed_on"),
            )
        return {name: value for name, value in params.items() if name != "external_id"}

    def own_params(self, row: Row, action: str, values: dict[str, Any]) -> dict[str, Any]:
        if action != "opportunity.move":
            return values
        stage = next(stage for stage in self.stages.all if stage.pk == values["stage"])
        params = dict(values)
        if stage.kind != StageKind.OPEN:
            if "closed_on" not in row.values:
                raise BadCell(
                    _("A deal that is %(stage)s needs the day it was closed.") % {"stage": stage}, column="closed_on"
                )
            params["on"] = row.values["closed_on"]
        if stage.kind == StageKind.LOST:
            params["reason"] = row.values.get("lost_reason") or _("imported")
        return params
