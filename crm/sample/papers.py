"""The contracts and invoices of the sample workspace: each state once, and the cases that need somebody to look.

A contract whose second version waits for the manager, one whose own terms wait for the administrator, one approved, one
signed, one declined, one cancelled, one still a draft; an invoice in collection, one paid, one disputed, and two with
money that fits nowhere.
"""

import datetime as dt
from decimal import Decimal
from typing import Any, NamedTuple

from conflicts import actors
from conflicts.refs import Ref
from crm.actions import payments
from crm.models import Contract, ContractLine, Installment, Invoice, Opportunity
from crm.sample.desk import Desk

BANK = actors.integration("bank", "Banco do Vale")


class Offer(NamedTuple):
    company: str
    deal: str
    owner: str
    name: str
    lines: tuple[tuple[str, str, str], ...]
    """Product, quantity, price each."""
    discount: str = "0"
    text: str = ""
    tags: tuple[str, ...] = ()


QUILLMERE = Offer(
    company="Quillmere Hotels",
    deal="Sensors for 14 cold rooms",
    owner="lia",
    name="Sensors and service, two years",
    lines=(("Sensor kit", "28", "1300"),),
    tags=("two years",),
)
PONTEVEL = Offer("Pontevel Logistics", "22 reefer trucks", "lia", "Truck kits", (("Truck kit", "22", "4200"),), "0.5")
PENHALLOW = Offer(
    company="Penhallow Labs",
    deal="Ultra-cold freezers",
    owner="ana",
    name="Freezer sensors, laboratory",
    lines=(("Freezer sensors", "16", "1900"), ("Yearly service", "2", "1800")),
)
TAVRELLE = Offer(
    "Tavrelle Ice Cream",
    "Service, 40 freezers",
    "ana",
    "Service for 40 freezers",
    (("Yearly service", "40", "2300"),),
    "25",
)
OSKERLY = Offer("Oskerly Butchers", "Sensor kit", "lia", "Sensor kit for three shops", (("Sensor kit", "8", "1400"),))
LUMEBROOK = Offer(
    "Lumebrook Clinics", "Vaccine fridges, 9 sites", "lia", "Vaccine fridges", (("Sensor kit", "45", "1300"),)
)
ARAUCARIA = Offer(
    company="Araucária Blood Bank",
    deal="Plasma freezers",
    owner="helena",
    name="Plasma freezers",
    lines=(("Freezer sensors", "40", "1900"),),
    text="Delivered in 30 days. Two years of readings are included.",
)


def tell(desk: Desk, *, companies: dict[str, int], products: dict[str, int], today: dt.date, now: dt.datetime) -> None:
    _Contracts(desk, companies, products).tell()
    _Invoices(desk, companies, today=today, now=now).tell()


class _Contracts:
    def __init__(self, desk: Desk, companies: dict[str, int], products: dict[str, int]) -> None:
        self.desk, self.companies, self.products = desk, companies, products

    def tell(self) -> None:
        self._draft(LUMEBROOK)
        self._offered(ARAUCARIA)
        waits = self._offered(QUILLMERE)
        line = ContractLine.objects.get(contract=waits.pk)
        self.desk.do("contract.change_line", waits, who="lia", line=line.pk, quantity="30", unit_price="1300")
        self.desk.do("contract.edit", waits, who="lia", discount="12")
        self._say("approve", self._offered(PONTEVEL), who="marta")
        signed = self._offered(OSKERLY)
        self._say("approve", signed, who="marta")
        self._say("sign", signed, who="lia")
        self._say("decline", self._offered(TAVRELLE), who="marta", reason="Below what the service costs us")
        self.desk.do("contract.cancel", self._offered(PENHALLOW), who="ana", reason="They bought from another supplier")

    def _draft(self, offer: Offer) -> Ref:
        return self.desk.make(
            "contract.create",
            who=offer.owner,
            name=offer.name,
            company=self.companies[offer.company],
            opportunity=Opportunity.objects.get(company=self.companies[offer.company], name=offer.deal).pk,
            owner=self.desk.people[offer.owner].pk,
            discount=offer.discount,
            text=offer.text,
            tags=list(offer.tags),
            lines=[
                {"product": self.products[product], "quantity": quantity, "unit_price": price}
                for product, quantity, price in offer.lines
            ],
        )

    def _offered(self, offer: Offer) -> Ref:
        ref = self._draft(offer)
        found = Contract.objects.get(pk=ref.pk)
        self.desk.do("contract.offer", ref, who=offer.owner, fingerprint=found.fingerprint)
        return ref

    def _say(self, verb: str, ref: Ref, *, who: str, **more: Any) -> None:
        found = Contract.objects.get(pk=ref.pk)
        said = {"document": found.document, "fingerprint": found.fingerprint}
        self.desk.do(f"contract.{verb}", ref, who=who, **said, **more)


class _Invoices:
    def __init__(self, desk: Desk, companies: dict[str, int], *, today: dt.date, now: dt.datetime) -> None:
        self.desk, self.companies, self.today, self.now = desk, companies, today, now

    def tell(self) -> None:
        signed = Contract.objects.get(name=OSKERLY.name)
        parts = [(-40, "4200"), (-10, "4000"), (20, "3000")]
        running = self._invoice(1, "Oskerly Butchers", "lia", *parts, contract=signed.pk)
        self._paid(running, "4200", "4471-A", days_ago=38)
        self._on("start_collection", running, 2, who="lia")

        self._paid(self._invoice(2, "Brunnholt Dairy", "tomas", (-25, "22500")), "22500", "4502-C", days_ago=24)

        odd = self._invoice(3, "Hatchmoor Farms", "tomas", (-6, "9200"), (24, "9200"))
        self._paid(odd, "9020", "4519-F", days_ago=2)

        disputed = self._invoice(4, "Marrowby Pharmacies", "lia", (-15, "36750"), (15, "36750"))
        self._on("dispute", disputed, 1, who="lia", reason="Four of 31 kits arrived broken")

        twice = self._invoice(5, "Brunnholt Dairy", "tomas", (-20, "22500"))
        self.desk.do("invoice.cancel", twice, who="tomas", reason="Written twice")
        self._paid(twice, "22500", "4533-B", days_ago=1)

        self._invoice(6, "Grimsund Seafood", "bruno", (12, "59000"), (42, "59000"))

    def _invoice(self, number: int, company: str, owner: str, *parts: tuple[int, str], **more: Any) -> Ref:
        return self.desk.make(
            "invoice.create",
            who=owner,
            name=f"{self.today.year}-{number:03}",
            company=self.companies[company],
            owner=self.desk.people[owner].pk,
            amount=str(sum(Decimal(amount) for _, amount in parts)),
            issued_on=self.today + dt.timedelta(days=parts[0][0] - 30),
            installments=[{"due_on": self._day(offset), "amount": amount} for offset, amount in parts],
            **more,
        )

    def _paid(self, ref: Ref, amount: str, key: str, *, days_ago: int) -> None:
        invoice = Invoice.objects.get(pk=ref.pk)
        at = self.now - dt.timedelta(days=days_ago)
        outcome = payments.record(
            invoice, provider="Banco do Vale", payment=key, amount=Decimal(amount), at=at, by=BANK, source="sample"
        )
        self.desk.saw(outcome)

    def _on(self, verb: str, ref: Ref, number: int, *, who: str, **more: Any) -> None:
        one = Installment.objects.get(invoice=ref.pk, number=number)
        self.desk.do(f"invoice.{verb}", ref, who=who, installment=one.pk, **more)

    def _day(self, offset: int) -> dt.date:
        return self.today + dt.timedelta(days=offset)
