"""The admin of the CRM: subjects to be read, people and teams to be kept, the review queue and
the work under way by team."""

from crm.admin import authority, conversations, desk, papers, people, review_queue, subjects, work

__all__ = ["authority", "conversations", "desk", "papers", "people", "review_queue", "subjects", "work"]
