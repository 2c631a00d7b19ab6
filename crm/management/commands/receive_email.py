"""`manage.py receive_email < message.eml`: one mail from a mail server's pipe, stored or refused.

Exit codes as mail servers understand them (sysexits): 0 stored, or known already; 65 cannot be read; 67 no mailbox of
ours; 75 not now, try again. Nothing is stored twice, however often the server tries.
"""

import email
import email.policy
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from crm.accepting import NotStored
from crm.channels import mail
from crm.models import ChannelAccount
from crm.models.channel_account import Provider

UNREADABLE, NO_MAILBOX, NOT_NOW = 65, 67, 75


class Command(BaseCommand):
    help = "Store one e-mail, given on standard input, in its conversation."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--to", default="", help="The mailbox it was delivered to, where the headers do not say.")

    def handle(self, *args: Any, to: str, **options: Any) -> None:
        raw = sys.stdin.buffer.read(mail.LARGEST + 1)
        if len(raw) > mail.LARGEST:
            raise CommandError("This mail is larger than 25 MB; it was not stored.", returncode=UNREADABLE)
        message = email.message_from_bytes(raw, policy=email.policy.default)
        if not message.keys() or not (message.get("From") or message.get("Return-Path")):
            raise CommandError("This is not an e-mail: it has no sender.", returncode=UNREADABLE)
        account = None
        if to:
            account = ChannelAccount.objects.filter(provider=Provider.MAIL, address=to.lower(), active=True).first()
            if account is None:
                raise CommandError(f"{to} is no mailbox of ours; nothing was stored.", returncode=NO_MAILBOX)
        try:
            taken = mail.accept(message, account=account)
        except mail.UnknownMailbox:
            raise CommandError("None of its addresses is a mailbox of ours.", returncode=NO_MAILBOX) from None
        except (NotStored, DatabaseError) as error:
            raise CommandError(f"It could not be stored now: {error}", returncode=NOT_NOW) from error
        for one in taken:
            self.stdout.write(f"{one.how} conversation {one.conversation or '-'}")
        if not taken:
            self.stdout.write("a report of nothing we sent; left aside")
