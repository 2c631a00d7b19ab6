"""Desk: where the people of the sample workspace do their work, one committed action after the other."""

from typing import Any

from conflicts import actors, gate
from conflicts.outcomes import Outcome
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from crm.models import User


class SampleRefused(Exception):
    """The gate refused a step of the sample: the sample and the actions no longer fit together."""


class Desk:
    def __init__(self, people: dict[str, User]) -> None:
        self.people = people
        self._versions: dict[Ref, int] = {}

    def make(self, action: str, *, who: str, **params: Any) -> Ref:
        outcome = self._commit(Proposal(action=action, by=self._actor(who), params=params, source="sample"))
        assert outcome.subject is not None
        return outcome.subject

    def do(self, action: str, subject: Ref, *, who: str, **params: Any) -> Outcome:
        """On the version that the step before has left."""
        basis = (Read(subject=subject, version=self._versions[subject]),)
        return self._commit(Proposal(action=action, by=self._actor(who), params=params, basis=basis, source="sample"))

    def _actor(self, who: str) -> actors.Actor:
        return actors.person(self.people[who])

    def _commit(self, proposal: Proposal) -> Outcome:
        return self.saw(gate.commit(proposal), proposal)

    def saw(self, outcome: Outcome, proposal: Proposal | None = None) -> Outcome:
        """The version that this has left is the one the next step goes by. Raises SampleRefused."""
        if not outcome.written or outcome.subject is None or outcome.version is None:
            wish = f"{proposal.action} {dict(proposal.params)}" if proposal else "a step"
            raise SampleRefused(f"{wish}: {outcome.sentence or 'nothing to change'}")
        self._versions[outcome.subject] = outcome.version
        return outcome
