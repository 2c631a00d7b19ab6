"""The admin of the kernel: the review queue, the history of every subject, the ledger. Nothing here writes a subject.

`review_queue.ReviewQueue` is put up by the CRM (crm/admin/review_queue.py), which knows teams and pages.
"""

from conflicts.admin import ledger

__all__ = ["ledger"]
