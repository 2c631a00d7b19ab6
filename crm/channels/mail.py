"""E-mail: what we send over Django's mail backend (SMTP, or one of django-anymail's), and what comes in.

Guarantees that every mail of ours has a Message-ID derived from its outbox key, so that a bounce proves what became of
it and an answer finds its thread; that what a machine wrote says so (Auto-Submitted, RFC 3834); and that a server that
was cut off after the text is nobody's yes: such a mail is never sent again blindly. Reading is in `mail_reading.py`.
"""

import hashlib
import logging
import smtplib
from email.message import Message
from typing import Any

from anymail.exceptions import AnymailAPIError, AnymailRecipientsRefused
from anymail.signals import inbound, tracking
from django.core.mail import EmailMessage, mailers
from django.dispatch import receiver

from conflicts.destinations import Missing, NotAccepted, NotSent, ReadBack
from conflicts.models import OutboxMessage
from crm import accepting
from crm.channels import mail_reading, registry
from crm.channels.events import Reported
from crm.models import ChannelAccount
from crm.models.channel_account import Provider

logger = logging.getLogger(__name__)

LARGEST = 25 * 1024 * 1024
"""Bytes of one mail with its attachments, from a pipe or from a service."""


def message_id(account: ChannelAccount, key: str) -> str:
    """The Message-ID of the mail with this outbox key: the same with every attempt."""
    domain = account.address.rpartition("@")[2] or "localhost"
    return f"<{hashlib.sha256(key.encode()).hexdigest()[:40]}@{domain}>"


class Mail:
    name = Provider.MAIL.value
    conditional = False
    settles_in = 120.0

    def send(self, account: ChannelAccount, to: str, payload: dict[str, Any], *, key: str) -> str:
        if "default" not in mailers:
            raise NotAccepted("no mail server is set (VIGENTE_MAIL_HOST or VIGENTE_MAIL_BACKEND)")
        mail = compose(account, to, payload, key=key)
        connection = mailers["default"]
        try:
            connection.open()
        except (OSError, smtplib.SMTPException) as error:
            raise NotSent(type(error).__name__) from error
        try:
            connection.send_messages([mail])
        except smtplib.SMTPRecipientsRefused as error:
            raise _refused(error.recipients.values()) from error
        except (smtplib.SMTPSenderRefused, smtplib.SMTPDataError) as error:
            raise _refused([(error.smtp_code, error.smtp_error)]) from error
        except AnymailRecipientsRefused as error:
            raise NotAccepted("the recipient was refused") from error
        except AnymailAPIError as error:
            raise _api_error(error) from error
        finally:
            connection.close()
        status = getattr(mail, "anymail_status", None)
        return str(getattr(status, "message_id", None) or message_id(account, key))

    def read_back(self, account: ChannelAccount, key: str) -> ReadBack:
        """A mail server cannot be asked; a bounce or a report of the service may still tell (MessageReport)."""
        return Missing.CANNOT_TELL


def compose(account: ChannelAccount, to: str, payload: dict[str, Any], *, key: str) -> EmailMessage:
    given = payload.get("headers", {})
    headers = {"Message-ID": message_id(account, key)}
    for name, known in (("In-Reply-To", "in_reply_to"), ("References", "references")):
        if value := _line(given.get(known, "")):
            headers[name] = value
    if payload["automatic"]:
        headers["Auto-Submitted"] = "auto-replied" if given.get("in_reply_to") else "auto-generated"
        headers["X-Auto-Response-Suppress"] = "All"
    subject = _line(given.get("subject", "")) or account.name
    return EmailMessage(subject=subject, body=payload["text"], from_email=account.address, to=[to], headers=headers)


def _line(value: str) -> str:
    """A header cannot be made longer by what a customer wrote into a subject."""
    return " ".join(str(value).split())[:900]


def _refused(answers: Any) -> Exception:
    """A 5xx is for good; a 4xx says "not now", and that it was not taken."""
    code, said = next(iter(answers))
    words = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    return NotAccepted(f"{code} {words}"[:200]) if code >= 500 else NotSent(f"{code} {words}"[:200])


def _api_error(error: AnymailAPIError) -> Exception:
    """The service has answered: a 4xx but 429 is for good, 429 not now; any other answer, or none, nobody knows."""
    status = error.status_code
    if status == 429:
        return NotSent("429")
    if status is not None and 400 <= status < 500:
        return NotAccepted(f"the mail service answered {status}")
    return error


# ---- what comes in


class UnknownMailbox(Exception):
    """None of the addresses is a mailbox of ours. Nothing was stored."""


def accept(mail: Message, *, envelope_to: str = "", account: ChannelAccount | None = None) -> list[accepting.Taken]:
    """Store what a mail says. Raises UnknownMailbox, crm.accepting.NotStored."""
    if account is None:
        to = mail_reading.recipients(mail, envelope_to)
        boxes = ChannelAccount.objects.filter(provider=Provider.MAIL, address__in=to, active=True)
        found = {box.address: box for box in boxes}
        account = next((found[address] for address in to if address in found), None)
    if account is None:
        raise UnknownMailbox
    return accepting.take(account, mail_reading.read(account, mail))


@receiver(inbound, dispatch_uid="crm.mail.inbound")
def came_in(sender: Any, event: Any, esp_name: str, **kwargs: Any) -> None:
    """From django-anymail's webhook, which has checked the service's signature. What is raised makes it come again."""
    try:
        accept(event.message, envelope_to=event.message.envelope_recipient or "")
    except UnknownMailbox:
        logger.warning("Mail for no mailbox of ours was not stored (%s).", esp_name)


STATES = {"delivered": "delivered", "opened": "read", "clicked": "read", "bounced": "failed", "rejected": "failed"}
STATES |= {"failed": "failed", "sent": "sent"}


@receiver(tracking, dispatch_uid="crm.mail.tracking")
def was_told(sender: Any, event: Any, esp_name: str, **kwargs: Any) -> None:
    """What the service says became of a mail of ours. A complaint or an unsubscription changes no consent by itself."""
    state = STATES.get(event.event_type)
    sent = OutboxMessage.objects.filter(remote_id=event.message_id).first() if event.message_id else None
    if state is None or sent is None:
        return
    account = ChannelAccount.objects.get(pk=sent.payload["account"])
    error = event.description or event.reject_reason or ""
    told = Reported(provider_id=event.message_id, state=state, at=event.timestamp, error=error, key=sent.key)  # type: ignore[arg-type]
    accepting.take(account, [told])


registry.register(Mail())
