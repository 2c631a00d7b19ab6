"""The lines of a replay as the product takes them: accepted, echoed, said by a person, given back."""

from conflicts import gate
from conflicts.actors import Actor
from conflicts.outcomes import Outcome
from conflicts.proposals import Proposal, Read
from crm import accepting
from crm.channels.events import Echo, Incoming
from crm.models import ChannelAccount, Conversation, Message
from crm.models.conversation import Direction

TRIES = 20


def receive(account: ChannelAccount, peer: str, number: int, text: str) -> None:
    accepting.take(account, [Incoming(provider_id=f"{peer}:{number}", peer=peer, name=peer, text=text)])


def echo(account: ChannelAccount, peer: str, number: int, text: str, by: Actor) -> None:
    accepting.take(account, [Echo(provider_id=f"{peer}:{number}", peer=peer, text=text)])


def send(account: ChannelAccount, peer: str, number: int, text: str, by: Actor) -> None:
    """A person answers what is on the page; who is told that a colleague was faster looks, and says it all the same."""
    anyway = False
    for _ in range(TRIES):
        conversation = Conversation.objects.get(account=account, peer=peer)
        ours = Message.objects.filter(conversation=conversation, direction=Direction.OUT, withdrawn=False)
        said = ours.order_by("-pk").values_list("pk", flat=True).first() or 0
        params = {"text": text, "seen": conversation.inbound_count, "said": said, "anyway": anyway}
        if _ask("conversation.send", conversation, by, f"{peer}:{number}:{anyway}:{conversation.version}", params).done:
            return
        anyway = True
    raise RuntimeError(f"{by} could not say a word to {peer}.")


def give_back(account: ChannelAccount, peer: str, by: Actor) -> None:
    for _ in range(TRIES):
        conversation = Conversation.objects.get(account=account, peer=peer)
        if conversation.is_agents:
            return
        key = f"back:{peer}:{conversation.version}"
        _ask("conversation.give_back", conversation, by, key, {"epoch": conversation.owner_epoch})
    raise RuntimeError(f"{by} could not give {peer} back.")


def _ask(action: str, conversation: Conversation, by: Actor, key: str, params: dict[str, object]) -> Outcome:
    return gate.commit(Proposal(action=action, by=by, basis=(Read.of(conversation),), params=params, key=f"lab:{key}"))
