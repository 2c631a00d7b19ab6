"""LedgerEntry: what was done under which idempotency key, and the answer that was given."""

from django.db import models
from django.db.models.functions import Now


class LedgerEntry(models.Model):
    """Written in the transaction of the effect: either both are there or neither is. The unique key decides races."""

    key = models.CharField(max_length=255, unique=True)
    fingerprint = models.CharField(max_length=64)
    """Hash of the content: the same key with other content is refused."""
    actor = models.CharField(max_length=200)
    answer = models.JSONField()
    """Outcome.as_json()"""
    outbound = models.BooleanField(default=False)
    """An effect outside came of it: the entry is kept for ever, so that nothing is said to the world twice."""
    written_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "ledger entries"

    def __str__(self) -> str:
        return self.key
