"""All that can be done to the CRM's subjects, by anybody. Importing this registers every action."""

from crm.actions import activities, companies, contacts, opportunities, participants, products, tasks

__all__ = ["activities", "companies", "contacts", "opportunities", "participants", "products", "tasks"]
