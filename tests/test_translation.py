"""Brazilian Portuguese, whole: every sentence of the source has one, with its placeholders, and pages show no other."""

import importlib.util
import re
import string
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation
from django.utils.html import escape

from agents import sweeps
from conflicts import sentences
from conflicts.models import Conflict
from conflicts.models.conflict import State
from conflicts.sentences import Sentence, aspects, date
from crm.models import Opportunity, User
from tests import cast
from tests.crm.deal_pages import opened

PROJECT = Path(__file__).resolve().parent.parent
PO = PROJECT / "locale" / "pt_BR" / "LC_MESSAGES" / "django.po"

STATES = {
    "version_conflict": "conflito de versão",
    "changed_during_approval": "objeto alterado durante aprovação",
    "lease_expired": "posse expirada",
    "manual_action_detected": "ação manual detectada",
    "terminal_state_found": "estado terminal encontrado",
    "merge_not_allowed": "merge não permitido",
    "needs_reevaluation": "exige reavaliação",
    "needs_human_decision": "exige decisão humana",
}
"""The product's own names for them; they are not to be improved."""

NOT_SAID = r"\b(conflitos?|obsolet[oa]s?|ops|por favor|com sucesso)\b|!"
"""What no sentence says to a salesperson; the words of the records themselves, which only the admin shows, may."""
ONLY_IN_THE_ADMIN = {"conflict", "conflicts", "version conflict"}


@cache
def _script() -> Any:
    spec = importlib.util.spec_from_file_location("vigente_messages", PROJECT / "scripts" / "messages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def _stored() -> Any:
    return _script().stored(PO)


@cache
def _fresh() -> Any:
    return _script().fresh()


def _pairs() -> list[tuple[str, str]]:
    """(English, Portuguese) of every message, singular and plural each."""
    pairs: list[tuple[str, str]] = []
    for message in _stored():
        if isinstance(message.id, tuple):
            pairs += zip(message.id, message.string, strict=True)
        elif message.id:
            pairs.append((message.id, message.string))
    return pairs


def _placeholders(text: str) -> list[str]:
    braces = [name for _, name, _, _ in string.Formatter().parse(text) if name is not None]
    return sorted([*re.findall(r"%%?\(\w+\)[sd]|%[sd]", text), *braces])


def test_every_sentence_of_the_source_is_in_the_catalogue_and_nothing_else() -> None:
    def names(catalog: Any) -> set[Any]:
        return {(message.context, message.id) for message in catalog if message.id}

    assert len(names(_fresh())) > 900, "the reader of the source finds too little"
    assert names(_fresh()) - names(_stored()) == set(), "make messages"
    assert names(_stored()) - names(_fresh()) == set(), "make messages"


def test_every_sentence_has_a_translation_that_is_no_guess() -> None:
    assert _script().missing(_stored()) == []


def test_a_translation_has_the_placeholders_of_its_sentence() -> None:
    # Portuguese may need a name twice: sets, not lists.
    assert [
        (english, portuguese)
        for english, portuguese in _pairs()
        if set(_placeholders(english)) != set(_placeholders(portuguese))
    ] == []


def test_what_is_compiled_is_what_is_written() -> None:
    assert PO.with_suffix(".mo").read_bytes() == _script().as_mo(_stored()), "make messages"


def test_no_translation_shouts_or_blames() -> None:
    assert [
        (english, portuguese)
        for english, portuguese in _pairs()
        if english not in ONLY_IN_THE_ADMIN and re.search(NOT_SAID, portuguese, re.IGNORECASE)
    ] == []


def test_the_eight_states_have_the_names_of_the_trade() -> None:
    with translation.override("pt-br"):
        assert {state.value: str(state.label) for state in State} == STATES


def test_a_day_is_written_as_portuguese_writes_it() -> None:
    with translation.override("pt-br"):
        assert str(Sentence("value.day", {"day": date("2017-12-04")})) == "Seg., 4 dez. 2017"


def test_sentences_of_a_race_are_portuguese_with_fields_and_days_of_the_reader() -> None:
    moved = Sentence("moved", {"who": "Ana", "what": aspects("crm.opportunity", ["amount", "stage"])})
    planned = {"who": "Ana", "next_step": "Ligar para Rui", "day": date("2017-12-04")}
    with translation.override("pt-br"):
        assert str(moved) == "Depois da leitura, Ana alterou: valor e etapa. Nada foi gravado."
        assert str(Sentence("next_step_exists", planned)) == (
            "Ana definiu antes o próximo passo: Ligar para Rui (seg., 4 dez. 2017). "
            "A tarefa automática não foi criada; ninguém foi contatado."
        )
        assert str(Sentence("person_was_faster", {"who": "Follow-up agent", "what": "x"})).startswith(
            "Depois da leitura do agente, Agente de follow-up"
        )
    with translation.override("en"):
        assert str(moved) == "Ana changed amount and stage after this was read. Nothing was written."


def test_no_sentence_of_a_refusal_stays_english() -> None:
    """Codes without words of their own ("{text}") aside: each registered sentence is said otherwise in Portuguese."""
    same = []
    for code, words in sentences._WORDS.items():
        with translation.override("en"):
            english = str(words)
        with translation.override("pt-br"):
            portuguese = str(words)
        if english == portuguese and re.search(r"[a-z]{2}", re.sub(r"\{\w+\}", "", english)):
            same.append(code)
    assert same == ["fact.mails"]  # "E-mails" in both


# ------------------------------------------------------------------------------------------------ on screen


def _english() -> list[tuple[str, re.Pattern[str]]]:
    """Whole English sentences and labels that Portuguese says otherwise, as they would stand in a page."""
    return [
        (english, re.compile(rf"(?<![\w]){re.escape(escape(english))}(?![\w])"))
        for english, portuguese in _pairs()
        if " " in english and english != portuguese and not _placeholders(english) and len(english) > 6
    ]


def _reads_portuguese(response: Any) -> None:
    html = response.content.decode()
    assert '<html lang="pt-BR"' in html
    assert [english for english, found in _english() if found.search(html)] == []


def _brazilian(user: User) -> Client:
    user.language = "pt-br"
    user.save()
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.django_db
@pytest.mark.parametrize(
    "address",
    [
        *(
            "my_day",
            "board",
            "deal_new",
            "companies",
            "company_new",
            "contacts",
            "contact_new",
            "preferences",
            "search",
        ),
        *("suggestions",),
    ],
)
def test_a_page_of_a_brazilian_has_no_english_in_it(address: str) -> None:
    cast.deal("Sensores", amount="48000", currency="BRL")
    _reads_portuguese(_brazilian(cast.alice()).get(reverse(address)))


@pytest.mark.django_db
@pytest.mark.parametrize("tab", ["overtaken", "done", "later", "declined", "not-done", "left-alone"])
def test_every_tab_of_the_suggestions_is_portuguese_when_empty_too(tab: str) -> None:
    _reads_portuguese(_brazilian(cast.alice()).get(reverse("suggestions"), {"tab": tab}))


@pytest.mark.django_db
@pytest.mark.parametrize("asked", [{}, {"edit": "all"}, {"edit": "amount"}, {"log": "call"}, {"lost": "1"}])
def test_a_deal_with_a_suggestion_is_portuguese_in_each_of_its_forms(asked: dict[str, str]) -> None:
    deal = cast.deal("Sensores", amount="48000", currency="BRL", contact=cast.contact("Rui Amaro").pk)
    sweeps.sweep()
    response = _brazilian(cast.alice()).get(reverse("deal", args=[deal.pk]), asked)
    _reads_portuguese(response)
    html = response.content.decode()
    assert "R$\u00a048.000" in html
    assert "Agente de follow-up" in html


@pytest.mark.django_db
def test_a_clash_is_settled_in_portuguese() -> None:
    deal = cast.deal("Sensores", amount="48000", currency="BRL")
    client = _brazilian(cast.alice())
    fields = opened(client, deal)
    assert cast.propose("opportunity.edit", Opportunity.objects.get(pk=deal.pk), by=cast.bob(), amount="51000").written
    answer = client.post(reverse("deal_edit", args=[deal.pk]), {**fields, "amount": "45.500"})
    assert answer.status_code == 409
    _reads_portuguese(answer)
    read = answer.content.decode()
    assert "Bob salvou enquanto você editava" in read
    assert "De Bob, vigente" in read
    assert "R$\u00a045.500" in read
    with translation.override("pt-br"):
        assert (
            str(Conflict.objects.get().told)
            == "Há agora dois valores para: valor. Nada é gravado até que alguém escolha."
        )


@pytest.mark.django_db
def test_an_address_that_is_not_there_says_so_in_portuguese() -> None:
    answer = _brazilian(cast.alice()).get("/nowhere/")
    assert answer.status_code == 404
    _reads_portuguese(answer)


@pytest.mark.django_db
def test_the_door_speaks_the_language_of_the_browser() -> None:
    _reads_portuguese(Client(headers={"Accept-Language": "pt-BR,pt;q=0.9"}).get(reverse("sign_in")))
