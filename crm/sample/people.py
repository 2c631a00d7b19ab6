"""Who works in the sample workspace, and how deals go there."""

from typing import NamedTuple

from crm.models.user import Role

TEAMS = {"São Paulo": "Southeast", "Curitiba": "South"}
"""Name -> region."""


class Person(NamedTuple):
    username: str
    first: str
    last: str
    team: str
    role: Role = Role.SALESPERSON


PEOPLE = [
    Person("lia", "Lia", "Duarte", "São Paulo"),
    Person("ana", "Ana", "Prado", "São Paulo"),
    Person("tomas", "Tomás", "Guedes", "São Paulo"),
    Person("marta", "Marta", "Vilela", "São Paulo", Role.MANAGER),
    Person("bruno", "Bruno", "Sá", "Curitiba"),
    Person("helena", "Helena", "Couto", "Curitiba"),
    Person("ivo", "Ivo", "Rezende", "Curitiba", Role.MANAGER),
    Person("clara", "Clara", "Nogueira", "São Paulo", Role.ADMINISTRATOR),
]

LOGINS = [
    ("salesperson", "lia", "geada-lia"),
    ("her colleague", "ana", "geada-ana"),
    ("manager", "marta", "geada-marta"),
    ("administrator", "clara", "geada-clara"),
]
"""Role, user name, password. The others cannot sign in until an administrator gives them a password."""

PIPELINE = "Sales"


class Step(NamedTuple):
    """A stage of the pipeline."""

    name: str
    kind: str = "open"
    contact_allowed: bool = True
    stuck_after_days: int | None = None


STAGES = [
    Step("New", stuck_after_days=10),
    Step("Site visit", stuck_after_days=14),
    Step("Proposal", stuck_after_days=14),
    Step("Negotiation", stuck_after_days=10),
    Step("Won", "won"),
    Step("Lost", "lost", contact_allowed=False),
]

PRODUCTS = [
    ("Sensor kit", "Sensors", 1300),
    ("Freezer sensors", "Sensors", 1900),
    ("Truck kit", "Sensors", 4200),
    ("Audit pack", "Papers", 7500),
    ("Yearly service", "Service", 2300),
]
"""Name, series, price."""
