"""Approval: a person's yes, bound to what they read. Used once, in the transaction of its effect, or void.

given -> used, void

It holds the content that was shown (its words, in the language they were read in), what that rested on as the agent
read it, the rules of the time, and how long it lasts. It holds no lease and no lock: nothing waits for a person.
"""

from django.db import models
from django.utils.translation import gettext_lazy as _

from conflicts.actors import Actor
from conflicts.sentences import Sentence


class ApprovalState(models.TextChoices):
    GIVEN = "given", _("given")
    USED = "used", _("used")
    VOID = "void", _("void")


TRANSITIONS: dict[ApprovalState, frozenset[ApprovalState]] = {
    ApprovalState.GIVEN: frozenset({ApprovalState.USED, ApprovalState.VOID}),
    ApprovalState.USED: frozenset(),
    ApprovalState.VOID: frozenset(),
}


class Approval(models.Model):
    recommendation = models.ForeignKey(
        "agents.Recommendation", models.PROTECT, related_name="approvals", verbose_name=_("suggestion")
    )
    revision = models.PositiveIntegerField(_("revision"))
    state = models.CharField(_("state"), max_length=5, choices=ApprovalState, default=ApprovalState.GIVEN)

    action = models.CharField(_("action"), max_length=80)
    params = models.JSONField(_("content"), default=dict)
    basis = models.JSONField(_("read by the agent"))
    """[Read.as_json(), ...]: versions and read sets as the agent read them, long before anybody said yes."""
    policies = models.JSONField(_("rules"), default=dict)
    """Model -> MergePolicy.mark, of every subject in the basis."""
    fingerprint = models.CharField(max_length=64)
    """Proposal.fingerprint: action, subjects with versions, params."""
    content = models.CharField(_("content hash"), max_length=64)
    """Of all this and the words below (agents/content.py)."""
    shown = models.JSONField(_("shown"), default=dict)
    """{"language": "pt-br", "lines": [...]}: what stood on the card, word for word."""
    together = models.BooleanField(_("with others at once"), default=False)

    given_by = models.CharField(_("given by"), max_length=200)
    """The text form of an Actor."""
    given_at = models.DateTimeField(_("given"))
    expires_at = models.DateTimeField(_("runs out"))
    settled_at = models.DateTimeField(_("used or void"), null=True, blank=True)
    why = models.JSONField(_("why it is void"), default=dict, blank=True)
    """Sentence.as_json()"""

    class Meta:
        verbose_name = _("approval")
        verbose_name_plural = _("approvals")
        constraints = [
            # Of two who say yes to one revision at once the second finds the first, whatever the code forgets.
            models.UniqueConstraint(
                fields=["recommendation", "revision"],
                condition=models.Q(state__in=["given", "used"]),
                name="one_approval_in_force",
            ),
            models.CheckConstraint(
                condition=models.Q(state="given", settled_at=None)
                | (~models.Q(state="given") & models.Q(settled_at__isnull=False)),
                name="approval_settled_has_a_time",
            ),
        ]
        indexes = [
            models.Index(fields=["expires_at"], name="approval_given", condition=models.Q(state="given")),
            models.Index(fields=["-settled_at"], name="approval_void", condition=models.Q(state="void")),
        ]

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"

    @property
    def giver(self) -> Actor:
        return Actor.parse(self.given_by)

    @property
    def void_because(self) -> Sentence | None:
        return Sentence.from_json(self.why) if self.why else None
