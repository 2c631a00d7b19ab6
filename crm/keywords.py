"""Keywords: what a customer may say that no model is asked about, in English and Portuguese.

Guarantees that a message which is only a stop word is an opt-out, one that asks for a person is a hand-over, and one
that might be either goes to a person: it is for the customer to leave, never for a model to talk them out of it.
The lists follow what carriers require for SMS (STOP, UNSUBSCRIBE, CANCEL, END, QUIT) and their Portuguese counterparts.
"""

import re
import unicodedata
from enum import StrEnum


class Intent(StrEnum):
    NONE = ""
    OPT_OUT = "opt_out"
    OPT_IN = "opt_in"
    HUMAN = "human"
    DOUBTFUL = "doubtful"


STOP = frozenset(
    [
        "stop",
        "stopall",
        "unsubscribe",
        "cancel",
        "end",
        "quit",
        "optout",
        "revoke",
        "parar",
        "pare",
        "sair",
        "cancelar",
        "descadastrar",
        "remover",
    ]
) | {"opt out", "stop all", "me remova", "me tira da lista", "nao quero mais", "nao quero receber", "remove me"}
START = frozenset(["start", "unstop", "yes", "voltar", "iniciar", "assinar"]) - {"yes"} | {"opt in", "quero receber"}
HUMAN = frozenset(
    ["human", "agent", "person", "attendant", "representative", "humano", "atendente", "pessoa", "vendedor", "gerente"]
) | {
    *("talk to a human", "talk to a person", "speak to a human", "speak to a person", "real person", "human please"),
    *("falar com atendente", "falar com um atendente", "falar com humano", "falar com um humano"),
    *("falar com uma pessoa", "falar com alguem", "quero falar com uma pessoa", "quero falar com um atendente"),
}
_ASKS = re.compile(
    r"\b(speak|talk|chat) (to|with) (a |an |some)?(human|person|agent|someone|somebody)\b"
    r"|\b(falar|conversar) com (um |uma |o |a )?(humano|humana|pessoa|atendente|alguem|vendedor|vendedora|gerente)\b"
)
_MAY_LEAVE = re.compile(
    r"\b(unsubscribe|opt ?out|stop (sending|messaging|texting|contacting|writing)"
    r"|do ?n[o']?t (contact|message|text|write)|remove me|leave me alone|descadastr\w*"
    r"|para(r|em)? de (mandar|enviar|me)|nao (me )?(mande|envie|contate|procure)\w*"
    r"|nao quero (mais )?(receber|contato|mensage\w*)|me tir(a|e) d)"
)


def plain(text: str) -> str:
    """Lower case, without accents, punctuation, emoji and invisible characters, single blanks."""
    decomposed = unicodedata.normalize("NFKD", text.casefold().replace("’", "'"))
    kept = "".join(c for c in decomposed if unicodedata.category(c) not in ("Mn", "Cf", "Cc") or c in "\n\t")
    return " ".join(re.sub(r"[^\w' ]+", " ", kept.replace("\n", " ").replace("\t", " ")).split()).strip("' ")


def read(text: str) -> Intent:
    """The intent of one message. Only a message that is nothing but the keyword is taken at its word."""
    said = plain(text)
    if said in STOP:
        return Intent.OPT_OUT
    if said in START:
        return Intent.OPT_IN
    if said in HUMAN or _ASKS.search(said):
        return Intent.HUMAN
    if _MAY_LEAVE.search(said):
        return Intent.DOUBTFUL
    return Intent.NONE
