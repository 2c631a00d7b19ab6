"""Contacts, recognised by their e-mail address, else by name and company.

Addresses and consents of a contact that is here are added, never taken away; one that people have removed stays out.
An undated consent never beats a statement that is here: a refusal holds until there is a newer proof.
"""

import datetime as dt
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Prefetch
from django.utils.translation import gettext as _

from crm import naming
from crm.actions.contacts import address_key
from crm.imports import cells, lookups
from crm.imports.columns import VERSION, Column, missing
from crm.imports.kind import Row, SubjectKind
from crm.imports.problems import BadCell
from crm.models import Consent, Contact, ContactPoint

ADDRESSES = {"email": "email", "email_2": "email", "phone": "phone", "mobile": "phone"}
"""Target -> kind."""
CONSENTS = {"email_consent": "email", "phone_consent": "phone", "whatsapp_consent": "whatsapp", "sms_consent": "sms"}
"""Target -> channel."""


class Contacts(SubjectKind):
    name = "contacts"
    model = Contact
    create = "contact.create"
    edit = "contact.edit"
    columns = (
        Column(
            target="name", read=cells.line(200),
            words=("full name", "contact", "contact name", "nome", "nome completo", "contato"),
        ),
        Column(target="first_name", read=cells.line(100), words=("given name", "primeiro nome")),
        Column(target="last_name", read=cells.line(100), words=("surname", "family name", "sobrenome")),
        Column(
            target="company", read=cells.line(200),
            words=("company name", "account", "account name", "organization", "empresa", "cliente", "conta"),
        ),
        Column(target="job_title", read=cells.line(120), words=("title", "position", "role", "cargo", "função")),
        Column(target="email", read=cells.line(254), words=("mail", "email address", "endereço de e-mail")),
        Column(target="email_2", read=cells.line(254), words=("second e-mail", "other e-mail", "outro e-mail")),
        Column(target="phone", read=cells.line(60), words=("telephone", "phone number", "telefone", "fone")),
        Column(target="mobile", read=cells.line(60), words=("cell phone", "mobile phone", "celular", "whatsapp")),
        Column(target="language", read=cells.language, words=("idioma", "língua")),
        Column(target="time_zone", read=cells.zone, words=("timezone", "fuso", "fuso horário")),
        Column(
            target="owner", read=cells.line(254),
            words=("contact owner", "sales agent", "responsável", "vendedor", "proprietário"),
        ),
        Column(target="blocked", read=cells.yes_no, words=("do not contact", "opt out", "não contatar", "bloqueado")),
        Column(target="tags", read=cells.tags, words=("labels", "etiquetas", "marcadores")),
        Column(target="note", read=cells.line(20_000), words=("notes", "description", "nota", "observação")),
        Column(target="email_consent", read=cells.yes_no, words=("e-mail opt in", "aceita e-mail")),
        Column(target="phone_consent", read=cells.yes_no, words=("phone opt in", "aceita telefone", "aceita ligação")),
        Column(target="whatsapp_consent", read=cells.yes_no, words=("whatsapp opt in", "aceita whatsapp")),
        Column(target="sms_consent", read=cells.yes_no, words=("sms opt in", "aceita sms")),
        Column(target="consent_source", read=cells.line(200), words=("consent proof", "origem do consentimento")),
        Column(target="consent_on", read=cells.day, words=("consent date", "data do consentimento")),
        VERSION,
    )  # fmt: skip

    def begin(self) -> None:
        super().begin()
        if not (self.layout.has("name") or self.layout.has("first_name") or self.layout.has("last_name")):
            raise missing(self.layout, "name", ("name", "first name", "last name", "nome"))
        self.people = lookups.People()
        self.companies = lookups.companies()
        self.claimed: dict[tuple[str, str], int] = {}
        """Addresses of new contacts of this file -> the line that has them."""
        self.owners: dict[tuple[str, str], int] = {}

    def key(self, row: Row) -> Hashable:
        if not naming.key(self._name(row)):
            raise BadCell(_("A contact needs a name with at least one letter."), column="name")
        for target, kind in ADDRESSES.items():
            if target in row.values:
                self._address(row, target, kind)
        if "email" in row.values:
            return row.values["email"].lower()
        return (naming.key(self._name(row)), naming.key(row.values.get("company", "")))

    @staticmethod
    def _name(row: Row) -> str:
        first, last = row.values.get("first_name", ""), row.values.get("last_name", "")
        return str(row.values.get("name") or f"{first} {last}".strip())

    @staticmethod
    def _address(row: Row, target: str, kind: str) -> tuple[str, str]:
        try:
            return kind, address_key(kind, row.values[target])
        except ValueError as error:
            raise BadCell(str(error), column=target) from None

    def _addresses(self, row: Row) -> Iterator[tuple[str, str, str]]:
        """Target, kind and key of each address in the row, once."""
        found: set[tuple[str, str]] = set()
        for target, kind in ADDRESSES.items():
            if target in row.values and (pair := self._address(row, target, kind)) not in found:
                found.add(pair)
                yield target, *pair

    def find(self, rows: Sequence[Row]) -> None:
        self.companies.load(row.values.get("company") for row in rows)
        self.owners = lookups.addresses((kind, key) for row in rows for _t, kind, key in self._addresses(row))
        by_mail = {row.line: self.owners.get(("email", row.values.get("email", "").lower())) for row in rows}
        names = {naming.key(self._name(row)) for row in rows if by_mail[row.line] is None}
        wanted = Contact.objects.filter(pk__in={pk for pk in by_mail.values() if pk}) | Contact.objects.filter(
            name_key__in=names
        )
        everything = Prefetch("points", ContactPoint.objects.all(), to_attr="all_points")
        consents = Prefetch("consents", Consent.objects.all(), to_attr="all_consents")
        known = {contact.pk: contact for contact in wanted.prefetch_related(everything, consents)}
        by_name: dict[str, list[Contact]] = {}
        for contact in known.values():
            by_name.setdefault(contact.name_key, []).append(contact)
        for row in rows:
            pk = by_mail[row.line]
            row.record = known[pk] if pk else self._namesake(row, by_name.get(naming.key(self._name(row)), []))

    def _namesake(self, row: Row, candidates: Sequence[Contact]) -> Contact | None:
        """Of the same company (or of none yet), and without another e-mail address."""
        company = self.companies.get(row.values.get("company", ""))
        for wanted in dict.fromkeys((company, None)):
            found = [contact for contact in candidates if contact.company_id == wanted]
            if "email" in row.values:
                found = [c for c in found if not any(p.kind == "email" and not p.removed for p in c.all_points)]  # type: ignore[attr-defined]
            if len(found) == 1:
                return found[0]
        return None

    def fields(self, row: Row) -> dict[str, Any]:
        values = row.values
        params: dict[str, Any] = {
            name: values[name]
            for name in ("job_title", "language", "time_zone", "blocked", "tags", "note")
            if name in values
        }
        params["name"] = self._name(row)
        if "company" in values:
            company = self.companies.get(values["company"])
            if company is None:
                self.leave_open("company", values["company"])
            else:
                params["company"] = company
        if "owner" in values:
            owner = self.people.get(values["owner"])
            if owner is None:
                self.leave_open("owner", values["owner"])
            else:
                params["owner"] = owner
        return params

    def compared(self, row: Row, params: Mapping[str, Any]) -> dict[str, Any]:
        same = naming.key(params["name"]) == row.record.name_key
        return {name: value for name, value in params.items() if name != "name" or not same}

    def only_new(self, row: Row, params: dict[str, Any]) -> dict[str, Any]:
        addresses = []
        for target, kind, key in self._addresses(row):
            if self._is_free(row, target, (kind, key)):
                self.claimed[kind, key] = row.line
                addresses.append(self._params(row, target, kind, primary=target == "email"))
        return {"addresses": addresses}

    def _params(self, row: Row, target: str, kind: str, *, primary: bool) -> dict[str, Any]:
        label = _("mobile") if target == "mobile" else ""
        return {"kind": kind, "value": row.values[target], "label": label, "is_primary": primary}

    def _is_free(self, row: Row, target: str, pair: tuple[str, str]) -> bool:
        """An address leads to one contact only; a shared one is left out and pointed out."""
        line = self.claimed.get(pair, row.line)
        if pair not in self.owners and line == row.line:
            return True
        reason = (
            _("%(value)s belongs to the contact in line %(line)s; left out here.")
            if line != row.line
            else _("%(value)s belongs to another contact already; left out here.")
        )
        self.report.point_out(
            row.line,
            reason % {"value": row.values[target], "line": line},
            column=self.layout.header_of(target),
        )
        return False

    def further(self, row: Row) -> Iterable[tuple[str, dict[str, Any], str]]:
        contact = row.record
        points = getattr(contact, "all_points", None)
        if points is not None:  # else: just made, with its addresses
            own = {(point.kind, point.value_key) for point in points}
            for target, kind, key in self._addresses(row):
                if (kind, key) not in own and self._is_free(row, target, (kind, key)):
                    self.claimed[kind, key] = row.line
                    yield "contact.add_address", self._params(row, target, kind, primary=False), target
        yield from self._statements(row, getattr(contact, "all_consents", []))

    def _statements(self, row: Row, known: Sequence[Consent]) -> Iterator[tuple[str, dict[str, Any], str]]:
        day = row.values.get("consent_on")
        at = dt.datetime.combine(day, dt.time(12), tzinfo=dt.UTC) if day else None
        source = row.values.get("consent_source") or _("import of %(file)s") % {"file": self.report.file}
        for target, channel in CONSENTS.items():
            if target not in row.values:
                continue
            status = "granted" if row.values[target] else "refused"
            of_channel = [consent for consent in known if consent.channel == channel]
            if at is None and of_channel:
                if of_channel[0].status != status:
                    self.report.kept[self.layout.header_of(target)] += 1
            elif not any(consent.status == status and consent.at == at for consent in of_channel):
                params = {"channel": channel, "status": status, "source": source[:200], "at": at}
                yield "contact.state_consent", params, target
