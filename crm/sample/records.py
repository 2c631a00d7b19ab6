"""Whom the sample workspace sells to: companies, the people there, and what they agreed to.

Every name is made up; the addresses lead nowhere (`.example`), the numbers belong to nobody.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Firm:
    name: str
    sector: str
    location: str
    owner: str
    employees: int | None = None
    founded: int | None = None
    tags: tuple[str, ...] = ()
    parent: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Yes:
    """What a contact said about a channel, and how we know."""

    channel: str
    days_ago: int
    source: str
    status: str = "granted"


@dataclass(frozen=True, kw_only=True)
class Human:
    name: str
    company: str
    job: str
    owner: str
    phone: str = ""
    email: bool = True
    language: str = "pt-br"
    blocked: bool = False
    tags: tuple[str, ...] = ()
    said: tuple[Yes, ...] = ()
    note: str = ""

    def address(self) -> str:
        first, *_, last = _ascii(self.name).lower().split()
        return f"{first}.{last}@{_ascii(self.company).lower().replace(' ', '-')}.example"


def _ascii(text: str) -> str:
    return text.translate(str.maketrans("ãáâéêíóôõúçÁÉÍ", "aaaeeioooucAEI"))


def firm(name: str, sector: str, location: str, owner: str, **more: object) -> Firm:
    return Firm(name=name, sector=sector, location=location, owner=owner, **more)  # type: ignore[arg-type]


FIRMS = [
    firm("Quillmere Hotels", "Hotels", "São Paulo", "lia", employees=640, founded=1988, tags=("hotel chain",)),
    firm("Quillmere Catering", "Food service", "Santos", "lia", employees=85, parent="Quillmere Hotels"),
    firm("Saltwick Fish Market", "Food retail", "Santos", "ana", employees=46, founded=1974),
    firm("Hatchmoor Farms", "Dairy", "Itu", "tomas", employees=120, founded=1961),
    firm("Verrano Flowers", "Flowers", "Holambra", "lia", employees=31),
    firm("Kestrelby School", "Education", "São Paulo", "lia", employees=210, founded=1955),
    firm("Aldermoor Vets", "Veterinary", "Jundiaí", "tomas", employees=14),
    firm("Lumebrook Clinics", "Health", "São Paulo", "lia", employees=380, founded=1999, tags=("vaccines",)),
    firm("Ferrowane Foods", "Food industry", "Guarulhos", "ana", employees=900, founded=1970),
    firm("Corvane Chocolates", "Food industry", "Campos do Jordão", "lia", employees=75, founded=2004),
    firm("Dunmarrow Bakery", "Bakeries", "Osasco", "tomas", employees=58, founded=1992),
    firm("Pontevel Logistics", "Transport", "Barueri", "lia", employees=410, founded=1996, tags=("fleet",)),
    firm("Marrowby Pharmacies", "Health", "Campinas", "lia", employees=290, founded=1983, tags=("31 shops",)),
    firm("Tindley Kitchens", "Food service", "São Paulo", "ana", employees=66),
    firm("Orvanto Foods", "Food industry", "Sorocaba", "tomas", employees=1300, founded=1958, tags=("audits",)),
    firm("Tavrelle Ice Cream", "Food industry", "Ribeirão Preto", "ana", employees=150, founded=1979),
    firm("Solvarra Restaurants", "Restaurants", "São Paulo", "lia", employees=240, founded=2008),
    firm("Larkhurst Cellars", "Wine", "São Roque", "tomas", employees=22, founded=2011),
    firm("Brunnholt Dairy", "Dairy", "Poços de Caldas", "tomas", employees=180, founded=1947, tags=("customer",)),
    firm("Oskerly Butchers", "Food retail", "São Paulo", "lia", employees=28, tags=("customer",)),
    firm("Penhallow Labs", "Health", "Campinas", "ana", employees=95, founded=2001),
    firm("Grimsund Seafood", "Food industry", "Itajaí", "bruno", employees=330, founded=1968),
    firm("Araucária Blood Bank", "Health", "Curitiba", "helena", employees=140, founded=1976, tags=("vaccines",)),
    firm("Wexmoor Breweries", "Drinks", "Blumenau", "bruno", employees=88, founded=1994),
    firm("Hollisand Markets", "Food retail", "Londrina", "helena", employees=520, founded=1985),
    firm("Stellbach Catering", "Food service", "Joinville", "bruno", employees=44, note="Asked us to write in German."),
]

FORM = "form on the website"
CALL = "said so in a call, noted by the salesperson"
FAIR = "card filled in at the fair in São Paulo"

HUMANS = [
    Human(
        name="Rui Amaro",
        company="Quillmere Hotels",
        job="Head of purchasing",
        owner="lia",
        phone="+55 11 95550-0131",
        tags=("decides with the partners",),
        said=(
            Yes(channel="email", days_ago=62, source=FAIR),
            Yes(channel="phone", days_ago=41, source=CALL),
            Yes(channel="sms", days_ago=41, source=CALL, status="refused"),
        ),
    ),
    Human(
        name="Sandra Pires",
        company="Quillmere Hotels",
        job="Kitchen manager, Paulista",
        owner="lia",
        phone="+55 11 5550-0132",
        said=(Yes(channel="email", days_ago=30, source=FORM),),
    ),
    Human(
        name="Vera Soll",
        company="Lumebrook Clinics",
        job="Practice manager",
        owner="lia",
        phone="+55 11 95550-0140",
        said=(Yes(channel="whatsapp", days_ago=56, source=FORM), Yes(channel="email", days_ago=56, source=FORM)),
    ),
    Human(
        name="Otto Kremm",
        company="Solvarra Restaurants",
        job="Owner",
        owner="lia",
        phone="+55 11 95550-0151",
        said=(Yes(channel="whatsapp", days_ago=33, source=CALL), Yes(channel="phone", days_ago=33, source=CALL)),
    ),
    Human(
        name="Inês Brandt",
        company="Kestrelby School",
        job="Canteen manager",
        owner="lia",
        phone="+55 11 95550-0162",
        said=(Yes(channel="phone", days_ago=12, source=FORM),),
    ),
    Human(
        name="Paulo Teller",
        company="Pontevel Logistics",
        job="Fleet manager",
        owner="lia",
        phone="+55 11 95550-0173",
        said=(Yes(channel="phone", days_ago=48, source=CALL), Yes(channel="email", days_ago=48, source=CALL)),
    ),
    Human(
        name="Helga Moss",
        company="Tavrelle Ice Cream",
        job="Operations",
        owner="ana",
        phone="+55 16 95550-0184",
        language="en",
        said=(Yes(channel="email", days_ago=70, source=FAIR),),
    ),
    Human(
        name="Ingrid Falk",
        company="Orvanto Foods",
        job="Quality",
        owner="tomas",
        phone="+55 15 95550-0195",
        said=(Yes(channel="email", days_ago=66, source=FORM), Yes(channel="phone", days_ago=66, source=FORM)),
    ),
    Human(
        name="Nelson Paiva",
        company="Marrowby Pharmacies",
        job="Expansion",
        owner="lia",
        phone="+55 19 95550-0206",
        said=(Yes(channel="email", days_ago=27, source=FORM),),
    ),
    Human(
        name="Dora Lins",
        company="Dunmarrow Bakery",
        job="Owner",
        owner="tomas",
        phone="+55 11 5550-0217",
        said=(Yes(channel="phone", days_ago=35, source=CALL),),
    ),
    Human(
        name="Caio Ferraz",
        company="Hatchmoor Farms",
        job="Herd manager",
        owner="tomas",
        phone="+55 11 95550-0228",
        said=(
            Yes(channel="phone", days_ago=20, source=CALL),
            Yes(channel="phone", days_ago=6, source="asked by e-mail to write instead of calling", status="refused"),
        ),
    ),
    Human(
        name="Mirela Costa", company="Saltwick Fish Market", job="Stall manager", owner="ana", phone="+55 13 5550-0239"
    ),
    Human(
        name="Joana Verrano",
        company="Verrano Flowers",
        job="Owner",
        owner="lia",
        phone="+55 19 95550-0241",
        said=(Yes(channel="whatsapp", days_ago=9, source=FORM),),
    ),
    Human(name="Rafael Tindley", company="Tindley Kitchens", job="Chef", owner="ana", phone="+55 11 95550-0252"),
    Human(name="Beatriz Cor", company="Corvane Chocolates", job="Production", owner="lia", phone="+55 12 95550-0263"),
    Human(name="Amir Haddad", company="Ferrowane Foods", job="Cold storage", owner="ana", phone="+55 11 95550-0274"),
    Human(name="Luísa Penha", company="Penhallow Labs", job="Lab manager", owner="ana", phone="+55 19 95550-0285"),
    Human(
        name="Davi Holm",
        company="Brunnholt Dairy",
        job="Plant manager",
        owner="tomas",
        phone="+55 35 5550-0296",
        said=(Yes(channel="email", days_ago=120, source=FORM),),
    ),
    Human(name="Olga Skerly", company="Oskerly Butchers", job="Owner", owner="lia", phone="+55 11 95550-0307"),
    Human(
        name="Gustavo Lark",
        company="Larkhurst Cellars",
        job="Cellar master",
        owner="tomas",
        phone="+55 11 95550-0318",
        said=(Yes(channel="phone", days_ago=25, source=FAIR),),
    ),
    Human(name="Teresa Alder", company="Aldermoor Vets", job="Vet", owner="tomas", phone="+55 11 5550-0329"),
    Human(
        name="Jonas Grim",
        company="Grimsund Seafood",
        job="Purchasing",
        owner="bruno",
        phone="+55 47 95550-0331",
        said=(Yes(channel="phone", days_ago=44, source=CALL),),
    ),
    Human(
        name="Lúcia Prates", company="Araucária Blood Bank", job="Engineer", owner="helena", phone="+55 41 5550-0342"
    ),
    Human(
        name="Nuno Bastel",
        company="",
        job="",
        owner="",
        phone="+55 11 95550-0353",
        email=False,
        note="Asked whether we rent sensors. No company yet.",
    ),
    Human(
        name="Sílvia Weber",
        company="Wexmoor Breweries",
        job="Brewer",
        owner="bruno",
        email=True,
        blocked=True,
        note="Left the company; asked not to be contacted any more.",
    ),
]
