"""Reading mail: from a raw message to an event: who wrote, in which thread, by hand or by a machine, and what bounced.

Guarantees that nothing automatic is taken for a customer's word: auto-replies, bounces, newsletters and lists are told
by their headers (RFC 3834 Auto-Submitted, RFC 3464 delivery reports, RFC 2919 List-Id, the usual `Precedence` and
`X-Auto-Response-Suppress`). Nothing is fetched, and no HTML is shown: it is read as text.
"""

import datetime as dt
import hashlib
import re
from email.message import Message
from email.utils import getaddresses, parseaddr, parsedate_to_datetime
from html.parser import HTMLParser

from conflicts.models import OutboxMessage
from crm.channels.events import Event, Incoming, Reported
from crm.models import ChannelAccount, ContactPoint, Conversation
from crm.models import Message as Line

LONGEST = 20_000
MOST_FILES = 20
LONGEST_ID = 200
_IDS = re.compile(r"<[^<>\s]{1,250}>")
_QUOTED = re.compile(
    r"^\s*(On .{4,200} wrote:|Em .{4,200} escreveu:|Am .{4,200} schrieb .{0,100}:|-{2,} ?(Original Message|Mensagem"
    r" original) ?-{2,}|_{10,})\s*$",
    re.IGNORECASE,
)


def read(account: ChannelAccount, mail: Message) -> list[Event]:
    """What a mail to this mailbox says; nothing where it is a report of something we do not know."""
    if _is_report(mail):
        return _bounced(mail)
    sender = _sender(mail)
    message_id = message_id_of(mail)
    subject = _header(mail, "Subject")[:300]
    text, media = _content(mail)
    name, _ = parseaddr(_header(mail, "From"))
    return [
        Incoming(
            provider_id=message_id,
            peer=_thread(account, mail, message_id),
            reply_to=sender,
            name=name or sender,
            title=subject or name or sender,
            text=unquoted(text) or subject,
            media=tuple(media),
            sent_at=_sent_at(mail),
            automatic=is_automatic(mail) or sender == account.address,
            headers={
                "message_id": message_id,
                "references": " ".join(_references(mail))[:2000],
                "subject": subject,
                "to": _header(mail, "To")[:300],
            },
            email=sender,
            language=_header(mail, "Content-Language").split(",")[0].strip()[:8],
        )
    ]


def recipients(mail: Message, *also: str) -> list[str]:
    """The addresses it was sent to, in lower case; where the envelope is known, those come first."""
    fields = [_header(mail, name) for name in ("Delivered-To", "X-Original-To", "To", "Cc")]
    found = [address.lower() for _, address in getaddresses([*also, *fields]) if "@" in address]
    return list(dict.fromkeys(found))


def message_id_of(mail: Message) -> str:
    """Its Message-ID; where it has none, a stable one of its content: the same mail twice is the same mail."""
    found = _IDS.findall(_header(mail, "Message-ID"))
    if found and len(found[0]) <= LONGEST_ID:
        return found[0]
    return f"<{hashlib.sha256(mail.as_bytes()).hexdigest()[:40]}@none.invalid>"


def is_automatic(mail: Message) -> bool:
    """Nobody sat there and wrote this to us."""
    submitted = _header(mail, "Auto-Submitted").split(";")[0].strip().lower()
    if submitted and submitted != "no":
        return True
    if _header(mail, "Precedence").lower() in ("bulk", "junk", "list", "auto_reply"):
        return True
    marks = ("List-Id", "List-Unsubscribe", "X-Autoreply", "X-Autorespond", "X-Auto-Response-Suppress", "Feedback-ID")
    if any(mail.get(name) for name in marks):
        return True
    local = _sender(mail).partition("@")[0]
    nobody = local.startswith(("mailer-daemon", "postmaster", "no-reply", "noreply", "bounce", "do-not-reply"))
    return nobody or _header(mail, "Return-Path").strip() == "<>"


def _is_report(mail: Message) -> bool:
    return mail.get_content_type() == "multipart/report"


def _bounced(mail: Message) -> list[Event]:
    """A delivery report: what became of a mail of ours, found by its Message-ID in what the report returns."""
    action, status, original = "", "", ""
    for part in mail.walk():
        kind = part.get_content_type()
        if kind == "message/delivery-status":
            for block in part.get_payload() if isinstance(part.get_payload(), list) else []:
                action = (_header(block, "Action") or action).lower()  # type: ignore[arg-type]
                status = _header(block, "Diagnostic-Code") or _header(block, "Status") or status  # type: ignore[arg-type]
        elif kind in ("message/rfc822", "message/rfc822-headers", "text/rfc822-headers"):
            original = original or _original_id(part)
    original = original or next(iter(_references(mail)), "")
    states = {"failed": "failed", "delivered": "delivered", "relayed": "delivered"}
    sent = OutboxMessage.objects.filter(remote_id=original).first() if original else None
    if not original or action not in states:
        return []  # delayed, or nothing we could tie to anything: a later report tells
    key = sent.key if sent else ""
    return [Reported(provider_id=original, state=states[action], error=status[:200], key=key)]  # type: ignore[arg-type]


def _original_id(part: Message) -> str:
    content = part.get_payload()
    if isinstance(content, list) and content:
        found = _IDS.findall(_header(content[0], "Message-ID"))  # type: ignore[arg-type]
    else:
        found = re.findall(r"(?im)^message-id:\s*(<[^<>\s]+>)", str(content))
    return found[0] if found else ""


def _thread(account: ChannelAccount, mail: Message, message_id: str) -> str:
    """The conversation it belongs to: that of the newest mail it refers to which we know, else its own first."""
    sender = _sender(mail)
    for reference in reversed(_references(mail)):
        line = (
            Line.objects.filter(account=account, headers__message_id=reference).select_related("conversation").first()
        )
        if line is not None and _is_theirs(line.conversation, sender):
            return line.conversation.peer
        sent = OutboxMessage.objects.filter(remote_id=reference, payload__account=account.pk).first()
        ours = Line.objects.filter(outbox_key=sent.key).first() if sent is not None else None
        if ours is not None and _is_theirs(ours.conversation, sender):
            return ours.conversation.peer
    # Whoever else knows the thread (anybody in Cc does) begins one of their own: nobody speaks as another.
    return message_id


def _is_theirs(conversation: Conversation, sender: str) -> bool:
    if sender == conversation.reply_to.lower():
        return True
    points = ContactPoint.objects.filter(contact=conversation.contact_id, kind="email", removed=False)
    return points.filter(value_key=sender).exists()


def _references(mail: Message) -> list[str]:
    found = _IDS.findall(_header(mail, "References")) + _IDS.findall(_header(mail, "In-Reply-To"))
    return list(dict.fromkeys(found))[-50:]


def _sender(mail: Message) -> str:
    for name in ("Reply-To", "From"):
        _, address = parseaddr(_header(mail, name))
        if "@" in address:
            return address.lower()
    return ""


def _sent_at(mail: Message) -> dt.datetime | None:
    try:
        at = parsedate_to_datetime(_header(mail, "Date"))
    except (ValueError, TypeError):
        return None
    return at if at.tzinfo else at.replace(tzinfo=dt.UTC)


def _header(mail: Message, name: str) -> str:
    """As one line. A header may be anything that somebody sent."""
    try:
        return " ".join(str(mail.get(name, "") or "").split())
    except (ValueError, LookupError, IndexError):
        return ""


# ---- the text


def _content(mail: Message) -> tuple[str, list[dict[str, str]]]:
    plain, html = "", ""
    media: list[dict[str, str]] = []
    for part in mail.walk():
        if part.is_multipart():
            continue
        kind, name = part.get_content_type(), part.get_filename() or ""
        if part.get_content_disposition() == "attachment" or name or part.get_content_maintype() != "text":
            media.append({"kind": part.get_content_maintype(), "name": name[:120], "type": kind})
        elif kind == "text/html":
            html = html or _decoded(part)
        else:
            plain = plain or _decoded(part)
    return (plain.strip() or _text_of(html))[:LONGEST], media[:MOST_FILES]


def _decoded(part: Message) -> str:
    raw = part.get_payload(decode=True)
    if not isinstance(raw, bytes):
        return str(part.get_payload())
    try:
        return raw.decode(part.get_content_charset() or "utf-8", "replace")
    except LookupError:  # a charset that does not exist
        return raw.decode("utf-8", "replace")


class _Words(HTMLParser):
    """The text of HTML, with a line for each block; scripts and styles are no text."""

    BLOCKS = frozenset({"p", "div", "br", "li", "tr", "h1", "h2", "h3", "blockquote"})

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.silent = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in ("script", "style", "head", "title"):
            self.silent += 1
        elif tag in self.BLOCKS:
            self.words.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style", "head", "title"):
            self.silent = max(0, self.silent - 1)

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.words.append(re.sub(r"\s+", " ", data))


def _text_of(html: str) -> str:
    reader = _Words()
    reader.feed(html)
    lines = (line.strip() for line in "".join(reader.words).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def unquoted(text: str) -> str:
    """Without the earlier mail that a reply carries along at its end."""
    lines = text.replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines):
        rest = [later for later in lines[number + 1 :] if later.strip()]
        if _QUOTED.match(line) and number > 0:
            lines = lines[:number]
            break
        if line.startswith(">") and all(later.startswith(">") for later in rest):
            lines = lines[:number]
            break
    return "\n".join(lines).strip()
