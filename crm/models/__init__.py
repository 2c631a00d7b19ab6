"""The facts; one noun per file."""

from crm.models.access import AccessRequest
from crm.models.activity import Activity
from crm.models.channel_account import ChannelAccount
from crm.models.company import Company
from crm.models.contact import Consent, Contact, ContactPoint
from crm.models.contract import Contract, ContractDecision, ContractLine, Document
from crm.models.conversation import Conversation, Message
from crm.models.conversation_timer import MessageReport, ReplyTimer
from crm.models.invoice import Installment, Invoice, Payment
from crm.models.message_template import MessageTemplate
from crm.models.opportunity import Opportunity, Participant
from crm.models.pipeline import Pipeline, Stage
from crm.models.product import Product
from crm.models.saved_view import SavedView
from crm.models.stock import Reservation, StockItem
from crm.models.task import Task
from crm.models.ticket import Ticket, TicketNote
from crm.models.user import Team, User

__all__ = [
    "AccessRequest",
    "Activity",
    "ChannelAccount",
    "Company",
    "Consent",
    "Contact",
    "ContactPoint",
    "Contract",
    "ContractDecision",
    "ContractLine",
    "Conversation",
    "Document",
    "Installment",
    "Invoice",
    "Message",
    "MessageReport",
    "MessageTemplate",
    "Opportunity",
    "Participant",
    "Payment",
    "Pipeline",
    "Product",
    "ReplyTimer",
    "Reservation",
    "SavedView",
    "Stage",
    "StockItem",
    "Task",
    "Team",
    "Ticket",
    "TicketNote",
    "User",
]
