"""What customers write to the sample workspace: channels, templates, and a handful of conversations in every state.

Everything is told by the channels and answered through the gate, as it would be; only the providers are not asked
(there are none), so how far a message got is told beforehand. What only the agents know of (a draft that was dropped)
they add through the slot `sample.draft`. Next in the flow: `crm/sample/loading.py`.
"""

import itertools
from dataclasses import dataclass, field
from typing import Any, Literal

from django.http import HttpRequest

from conflicts import actors, gate
from conflicts.models import Delivery, OutboxMessage
from conflicts.outcomes import Outcome
from conflicts.proposals import Proposal, Read
from crm import accepting, slots
from crm.channels.events import Echo, Event, Incoming, Reported
from crm.models import ChannelAccount, Contact, Conversation, Message, Opportunity
from crm.models.conversation import Direction
from crm.sample.desk import Desk, SampleRefused

CHANNELS: dict[str, dict[str, Any]] = {
    "chat": {
        "name": "Chat on geada.example",
        "provider": "webchat",
        "medium": "webchat",
        "address": "geada",
        "opens_at": "08:00",
        "closes_at": "18:00",
        "give_back_minutes": 60,
        "language": "en",
    },
    "whatsapp": {
        "name": "WhatsApp sales",
        "provider": "whatsapp",
        "medium": "whatsapp",
        "address": "100555000000131",
        "opens_at": "08:00",
        "closes_at": "18:00",
        "language": "pt-br",
        "time_zone": "America/Sao_Paulo",
    },
    "mail": {
        "name": "sales@geada.example",
        "provider": "mail",
        "medium": "email",
        "address": "sales@geada.example",
        "quiet_seconds": 60,
        "cap_seconds": 300,
        "opens_at": "08:00",
        "closes_at": "18:00",
    },
}


@dataclass(frozen=True, kw_only=True)
class Words:
    slug: str
    name: str
    en: str
    pt: str
    stage: str = ""
    medium: str = ""
    approved_as: str = ""


TEMPLATES = [
    Words(
        slug="greeting",
        name="Greeting",
        en="Hello {contact}, this is {workspace}. How can we help you?",
        pt="Olá {contact}, aqui é da {workspace}. Como podemos ajudar?",
    ),
    Words(
        slug="opening-hours",
        name="Opening hours",
        en="We are there Monday to Friday, 8:00 to 18:00, and answer here as soon as we can.",
        pt="Atendemos de segunda a sexta, das 8h às 18h, e respondemos por aqui assim que possível.",
    ),
    Words(
        slug="status",
        name="Where it stands",
        en="Your request “{deal}” is with {owner}, who will come back to you about it.",
        pt="Seu pedido “{deal}” está com {owner}, que vai retornar para você.",
    ),
    Words(
        slug="status",
        name="Where the proposal stands",
        stage="Proposal",
        en="The proposal for “{deal}” is with you; {owner} is glad to go through it on the phone.",
        pt="A proposta de “{deal}” está com vocês; {owner} pode repassar os pontos por telefone.",
    ),
    Words(
        slug="visit",
        name="Before the visit",
        stage="Site visit",
        en="Before we come, {contact}: how many rooms or fridges are it, and who opens for us?",
        pt="Antes da visita, {contact}: são quantas câmaras ou geladeiras, e quem nos recebe?",
    ),
    Words(
        slug="paper",
        name="Papers for the contract",
        stage="Negotiation",
        en="For the contract we need the company's registration number and who signs. The rest we fill in.",
        pt="Para o contrato precisamos do CNPJ e de quem assina. O resto nós preenchemos.",
    ),
    Words(
        slug="come-back",
        name="After a while",
        medium="whatsapp",
        approved_as="come_back_1",
        en="Hello {contact}, this is {owner} of {workspace}. Is “{deal}” still of interest? A word is enough.",
        pt="Olá {contact}, aqui é {owner}, da {workspace}. “{deal}” ainda interessa? Uma palavra basta.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One thing that happens. `how`: customer, agent, note, phone, take, give, hand, close, draft, or whose login."""

    how: str
    text: str = ""
    way: Literal["", "sent", "delivered", "read", "failed"] = "read"
    """How far a message of ours got; empty: it waits in the outbox."""
    media: tuple[dict[str, str], ...] = ()
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Talk:
    channel: str
    name: str
    lines: tuple[Line, ...]
    email: str = ""


def c(text: str, **more: Any) -> Line:
    return Line(how="customer", text=text, **more)


TALKS = [
    Talk(
        channel="whatsapp",
        name="Vera Soll",
        lines=(
            c("Boa tarde, a visita de terça continua de pé?"),
            Line(how="agent", text="Boa tarde, Vera. Sim: a Lia vai na terça às 15h e precisa de cerca de uma hora."),
            c("Oi, o alarme da geladeira 4 disparou de novo"),
            c("isso entra no serviço?"),
            c("e alguém consegue vir hoje?"),
            Line(how="draft", text="Olá Vera, sim: o serviço anual cobre a checagem dos alarmes. Marco para quinta?"),
            Line(how="hand", more={"reason": "cannot_answer"}),
        ),
    ),
    Talk(
        channel="whatsapp",
        name="Otto Kremm",
        lines=(
            c("Podemos assinar pelo celular?"),
            Line(how="agent", text="Olá Otto, sua proposta “8 kitchens” está com a Lia, que vai retornar.", way="read"),
            c("prefiro falar com uma pessoa"),
        ),
    ),
    Talk(
        channel="chat",
        name="Nuno Bastel",
        lines=(
            c("Hello there"),
            c("Do you also rent the sensors?"),
            Line(how="hand", more={"reason": "cannot_answer"}),
        ),
    ),
    Talk(
        channel="mail",
        name="Helga Moss",
        email="helga.moss@tavrelle-ice-cream.example",
        lines=(
            c(
                "We need the new offer by Thursday.\n\nKind regards\nHelga Moss",
                media=({"kind": "document", "name": "list of freezers.xlsx"},),
            ),
            Line(how="take", more={"who": "ana"}),
            Line(
                how="note",
                text="She compares us with the supplier from Campinas. No discount without Marta.",
                more={"who": "ana"},
            ),
            Line(how="ana", text="Thank you, Helga. You have it on Wednesday, with all 40 freezers in it.", way="sent"),
        ),
    ),
    Talk(
        channel="whatsapp",
        name="Paulo Teller",
        lines=(
            c("Bom dia! Até que horas vocês atendem?"),
            Line(
                how="agent",
                text="Atendemos de segunda a sexta, das 8h às 18h, e respondemos por aqui assim que possível.",
            ),
            c("Obrigado, ficou claro 👍"),
            Line(how="phone", text="Combinado, Paulo. Amanhã passo os números dos 22 caminhões."),
        ),
    ),
    Talk(
        channel="whatsapp",
        name="Inês Brandt",
        lines=(
            c("Sexta pode ser, depois das 14h."),
            Line(how="lia", text="Perfeito, Inês: sexta às 14h30 na cantina.", way="delivered"),
            c("Pode trazer um sensor de amostra?", media=({"kind": "image", "name": "geladeiras.jpg"},)),
        ),
    ),
    Talk(
        channel="whatsapp",
        name="Joana Verrano",
        lines=(
            c("Recebi a proposta, vou ler com calma"),
            Line(how="lia", text="Ótimo, Joana. Qualquer dúvida, estou por aqui.", way="failed"),
            Line(how="close", more={"who": "lia"}),
        ),
    ),
]

_numbers = itertools.count(1)


def tell(desk: Desk, *, stages: dict[str, int]) -> int:
    """Channels, templates and conversations; how many there are of these."""
    accounts = {name: _account(desk, values) for name, values in CHANNELS.items()}
    _templates(desk, stages)
    for talk in TALKS:
        _Telling(desk, talk, accounts[talk.channel]).tell()
    return len(TALKS)


def _account(desk: Desk, values: dict[str, Any]) -> ChannelAccount:
    return ChannelAccount.objects.get(pk=desk.make("channel.create", who="clara", **values).pk)


def _templates(desk: Desk, stages: dict[str, int]) -> None:
    for words in TEMPLATES:
        for language, text in (("en", words.en), ("pt-br", words.pt)):
            desk.make(
                "template.create",
                who="clara",
                slug=words.slug,
                name=words.name,
                text=text,
                language=language,
                stage=stages.get(words.stage),
                medium=words.medium,
                approved_as=words.approved_as,
            )


class _Telling:
    """One conversation, line by line."""

    def __init__(self, desk: Desk, talk: Talk, account: ChannelAccount) -> None:
        self.desk, self.talk, self.account = desk, talk, account
        self.pk = 0
        contact = Contact.objects.filter(name=talk.name).first()
        phone = contact.points.filter(kind="phone", removed=False).first() if contact else None
        self.phone = phone.value_key if phone and account.medium == "whatsapp" else ""
        self.peer = {
            "whatsapp": self.phone.lstrip("+"),
            "email": f"<1@{account.address.partition('@')[2]}>",
        }.get(account.medium, f"visitor-{talk.name.split()[0].lower()}")

    def tell(self) -> None:
        for line in self.talk.lines:
            self._happen(line)

    def _happen(self, line: Line) -> None:
        match line.how:
            case "customer":
                self._take(self._incoming(line))
            case "phone":
                number = f"sample-echo-{next(_numbers)}"
                self._take(Echo(provider_id=number, peer=self.peer, phone=self.phone, text=line.text))
            case "agent":
                talk = self._talk
                self._do(
                    _AGENT, "conversation.reply", text=line.text, counter=talk.inbound_count, epoch=talk.owner_epoch
                )
                self._got(line)
            case "hand":
                talk = self._talk
                self._do(
                    _AGENT, "conversation.hand_over", counter=talk.inbound_count, epoch=talk.owner_epoch, **line.more
                )
            case "draft":
                slots.filled("sample.draft", HttpRequest(), conversation=self.pk, text=line.text, then=self._take)
            case "take":
                self._do(self._person(line.more["who"]), "conversation.take_over", epoch=self._talk.owner_epoch)
            case "note":
                self._do(self._person(line.more["who"]), "conversation.note", text=line.text)
            case "close":
                self._do(self._person(line.more["who"]), "conversation.close")
            case who:
                said = Message.objects.filter(conversation=self.pk, direction=Direction.OUT).order_by("-pk").first()
                seen = {"seen": self._talk.inbound_count, "said": said.pk if said else 0}
                self._do(self._person(who), "conversation.send", text=line.text, **seen)
                self._got(line)

    def _incoming(self, line: Line) -> Incoming:
        headers = {"message_id": self.peer, "subject": "Service, 40 freezers"} if self.talk.email else {}
        return Incoming(
            provider_id=f"sample-{next(_numbers)}",
            peer=self.peer,
            reply_to=self.talk.email,
            name=self.talk.name,
            text=line.text,
            media=line.media,
            phone=self.phone,
            email=self.talk.email,
            headers=headers,
            title=headers.get("subject", ""),
        )

    def _take(self, event: Event) -> None:
        [taken] = accepting.take(self.account, [event])
        if taken.conversation is not None and not self.pk:
            self.pk = taken.conversation
            self._about()

    def _about(self) -> None:
        """Which deal it is about, where a contact has several and nobody could tell."""
        if self._talk.opportunity_id is not None:
            return
        deal = Opportunity.objects.open().filter(company__contacts__name=self.talk.name).order_by("pk").first()
        if deal is not None:
            self._do(actors.person(deal.owner), "conversation.link_deal", opportunity=deal.pk)

    def _got(self, line: Line) -> None:
        """How far it got, as its provider would have told."""
        message = OutboxMessage.objects.filter(subject=f"crm.conversation:{self.pk}").order_by("-pk").first()
        if message is None or not line.way:
            return
        number = f"sample-out-{next(_numbers)}"
        mine = OutboxMessage.objects.filter(pk=message.pk)
        mine.update(state=Delivery.SENDING)
        mine.update(state=Delivery.SENT, remote_id=number)
        if line.way != "sent":
            error = "131026: this number is not on WhatsApp" if line.way == "failed" else ""
            self._take(Reported(provider_id=number, state=line.way, error=error))

    @property
    def _talk(self) -> Conversation:
        return Conversation.objects.get(pk=self.pk)

    def _person(self, username: str) -> actors.Actor:
        return actors.person(self.desk.people[username])

    def _do(self, by: actors.Actor, action: str, **params: Any) -> Outcome:
        basis = (Read.of(self._talk),)
        outcome = gate.commit(Proposal(action=action, by=by, params=params, basis=basis, source="sample"))
        if not outcome.done:
            raise SampleRefused(f"{action} {params}: {outcome.sentence}")
        return outcome


_AGENT = actors.agent("reply", "Reply agent")
