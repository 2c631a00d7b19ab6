"""Contracts with their lines, document versions and decisions; invoices with their installments and payments."""

from decimal import Decimal

import concurrency.fields
import django.contrib.postgres.fields
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("crm", "0007_conversations"),
    ]

    operations = [
        migrations.CreateModel(
            name="Installment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("subject_version", models.BigIntegerField(default=0, editable=False, verbose_name="version")),
                ("number", models.PositiveSmallIntegerField(verbose_name="number")),
                ("due_on", models.DateField(verbose_name="due")),
                ("amount", models.DecimalField(decimal_places=2, max_digits=14, verbose_name="amount")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "open"),
                            ("in_collection", "in collection"),
                            ("disputed", "disputed"),
                            ("paid", "paid"),
                            ("refunded", "refunded"),
                            ("cancelled", "cancelled"),
                        ],
                        default="open",
                        max_length=13,
                        verbose_name="state",
                    ),
                ),
                ("paid_at", models.DateTimeField(blank=True, null=True, verbose_name="paid at")),
                ("reason", models.CharField(blank=True, max_length=200, verbose_name="reason")),
                ("replaced", models.BooleanField(default=False, verbose_name="replaced")),
            ],
            options={
                "verbose_name": "installment",
                "verbose_name_plural": "installments",
                "ordering": ["number"],
            },
        ),
        migrations.CreateModel(
            name="Contract",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("version", concurrency.fields.AutoIncVersionField(default=0, help_text="record revision number")),
                ("changed_in", models.BigIntegerField(default=0, editable=False)),
                ("name", models.CharField(max_length=200, verbose_name="name")),
                ("name_key", models.CharField(editable=False, max_length=200)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "draft"),
                            ("offered", "offered"),
                            ("approved", "approved"),
                            ("signed", "signed"),
                            ("declined", "declined"),
                            ("cancelled", "cancelled"),
                        ],
                        default="draft",
                        max_length=9,
                        verbose_name="state",
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=200, verbose_name="reason")),
                ("currency", models.CharField(max_length=3, verbose_name="currency")),
                (
                    "discount",
                    models.DecimalField(
                        decimal_places=2, default=Decimal("0"), max_digits=5, verbose_name="discount in %"
                    ),
                ),
                ("text", models.TextField(blank=True, verbose_name="terms")),
                ("valid_until", models.DateField(blank=True, null=True, verbose_name="valid until")),
                (
                    "amount",
                    models.DecimalField(decimal_places=2, default=Decimal("0"), max_digits=14, verbose_name="amount"),
                ),
                ("document", models.PositiveIntegerField(default=0, verbose_name="document version")),
                (
                    "fingerprint",
                    models.CharField(blank=True, editable=False, max_length=64, verbose_name="fingerprint"),
                ),
                ("approved", models.PositiveIntegerField(blank=True, null=True, verbose_name="approved version")),
                ("signed_on", models.DateField(blank=True, null=True, verbose_name="signed")),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=60), blank=True, default=list, verbose_name="tags"
                    ),
                ),
                ("note", models.TextField(blank=True, verbose_name="note")),
                (
                    "company",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="contracts",
                        to="crm.company",
                        verbose_name="company",
                    ),
                ),
                (
                    "opportunity",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="contracts",
                        to="crm.opportunity",
                        verbose_name="deal",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="contracts",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="contracts",
                        to="crm.team",
                        verbose_name="team",
                    ),
                ),
            ],
            options={
                "verbose_name": "contract",
                "verbose_name_plural": "contracts",
            },
        ),
        migrations.CreateModel(
            name="ContractDecision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("subject_version", models.BigIntegerField(default=0, editable=False, verbose_name="version")),
                ("number", models.PositiveIntegerField(verbose_name="document version")),
                ("fingerprint", models.CharField(max_length=64, verbose_name="fingerprint")),
                (
                    "verdict",
                    models.CharField(
                        choices=[
                            ("approved", "approved"),
                            ("declined", "declined"),
                            ("voided", "approval void"),
                            ("signed", "signed"),
                        ],
                        max_length=8,
                        verbose_name="decision",
                    ),
                ),
                ("by", models.CharField(max_length=200, verbose_name="who")),
                ("at", models.DateTimeField(verbose_name="when")),
                ("reason", models.CharField(blank=True, max_length=200, verbose_name="reason")),
                (
                    "contract",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="decisions", to="crm.contract"
                    ),
                ),
            ],
            options={
                "verbose_name": "decision",
                "verbose_name_plural": "decisions",
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="ContractDecisionEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("subject_version", models.BigIntegerField(default=0, editable=False, verbose_name="version")),
                ("number", models.PositiveIntegerField(verbose_name="document version")),
                ("fingerprint", models.CharField(max_length=64, verbose_name="fingerprint")),
                (
                    "verdict",
                    models.CharField(
                        choices=[
                            ("approved", "approved"),
                            ("declined", "declined"),
                            ("voided", "approval void"),
                            ("signed", "signed"),
                        ],
                        max_length=8,
                        verbose_name="decision",
                    ),
                ),
                ("by", models.CharField(max_length=200, verbose_name="who")),
                ("at", models.DateTimeField(verbose_name="when")),
                ("reason", models.CharField(blank=True, max_length=200, verbose_name="reason")),
                (
                    "contract",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="crm.contract",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="crm.contractdecision",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ContractEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("version", models.BigIntegerField()),
                ("id", models.BigIntegerField()),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("changed_in", models.BigIntegerField(default=0, editable=False)),
                ("name", models.CharField(max_length=200, verbose_name="name")),
                ("name_key", models.CharField(editable=False, max_length=200)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "draft"),
                            ("offered", "offered"),
                            ("approved", "approved"),
                            ("signed", "signed"),
                            ("declined", "declined"),
                            ("cancelled", "cancelled"),
                        ],
                        default="draft",
                        max_length=9,
                        verbose_name="state",
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=200, verbose_name="reason")),
                ("currency", models.CharField(max_length=3, verbose_name="currency")),
                (
                    "discount",
                    models.DecimalField(
                        decimal_places=2, default=Decimal("0"), max_digits=5, verbose_name="discount in %"
                    ),
                ),
                ("text", models.TextField(blank=True, verbose_name="terms")),
                ("valid_until", models.DateField(blank=True, null=True, verbose_name="valid until")),
                (
                    "amount",
                    models.DecimalField(decimal_places=2, default=Decimal("0"), max_digits=14, verbose_name="amount"),
                ),
                ("document", models.PositiveIntegerField(default=0, verbose_name="document version")),
                (
                    "fingerprint",
                    models.CharField(blank=True, editable=False, max_length=64, verbose_name="fingerprint"),
                ),
                ("approved", models.PositiveIntegerField(blank=True, null=True, verbose_name="approved version")),
                ("signed_on", models.DateField(blank=True, null=True, verbose_name="signed")),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=60), blank=True, default=list, verbose_name="tags"
                    ),
                ),
                ("note", models.TextField(blank=True, verbose_name="note")),
                (
                    "company",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="crm.company",
                        verbose_name="company",
                    ),
                ),
                (
                    "opportunity",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="crm.opportunity",
                        verbose_name="deal",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="crm.contract",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="crm.team",
                        verbose_name="team",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ContractLine",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("subject_version", models.BigIntegerField(default=0, editable=False, verbose_name="version")),
                ("description", models.CharField(blank=True, max_length=200, verbose_name="description")),
                ("quantity", models.DecimalField(decimal_places=2, max_digits=10, verbose_name="quantity")),
                ("unit_price", models.DecimalField(decimal_places=2, max_digits=14, verbose_name="price each")),
                ("removed", models.BooleanField(default=False)),
                (
                    "contract",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="lines", to="crm.contract"
                    ),
                ),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="contract_lines",
                        to="crm.product",
                        verbose_name="product",
                    ),
                ),
            ],
            options={
                "verbose_name": "line",
                "verbose_name_plural": "lines",
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="ContractLineEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("subject_version", models.BigIntegerField(default=0, editable=False, verbose_name="version")),
                ("description", models.CharField(blank=True, max_length=200, verbose_name="description")),
                ("quantity", models.DecimalField(decimal_places=2, max_digits=10, verbose_name="quantity")),
                ("unit_price", models.DecimalField(decimal_places=2, max_digits=14, verbose_name="price each")),
                ("removed", models.BooleanField(default=False)),
                (
                    "contract",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="crm.contract",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="crm.contractline",
                    ),
                ),
                (
                    "product",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="crm.product",
                        verbose_name="product",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Document",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("subject_version", models.BigIntegerField(default=0, editable=False, verbose_name="version")),
                ("number", models.PositiveIntegerField(verbose_name="document version")),
                ("content", models.JSONField(verbose_name="content")),
                ("fingerprint", models.CharField(max_length=64, verbose_name="fingerprint")),
                ("made_at", models.DateTimeField(verbose_name="made")),
                ("made_by", models.CharField(max_length=200, verbose_name="made by")),
                ("remark", models.CharField(blank=True, max_length=200, verbose_name="remark")),
                (
                    "contract",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="documents", to="crm.contract"
                    ),
                ),
            ],
            options={
                "verbose_name": "document version",
                "verbose_name_plural": "document versions",
                "ordering": ["-number"],
            },
        ),
        migrations.CreateModel(
            name="DocumentEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("subject_version", models.BigIntegerField(default=0, editable=False, verbose_name="version")),
                ("number", models.PositiveIntegerField(verbose_name="document version")),
                ("content", models.JSONField(verbose_name="content")),
                ("fingerprint", models.CharField(max_length=64, verbose_name="fingerprint")),
                ("made_at", models.DateTimeField(verbose_name="made")),
                ("made_by", models.CharField(max_length=200, verbose_name="made by")),
                ("remark", models.CharField(blank=True, max_length=200, verbose_name="remark")),
                (
                    "contract",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="crm.contract",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="crm.document",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Invoice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("version", concurrency.fields.AutoIncVersionField(default=0, help_text="record revision number")),
                ("changed_in", models.BigIntegerField(default=0, editable=False)),
                ("name", models.CharField(max_length=60, verbose_name="number")),
                ("name_key", models.CharField(editable=False, max_length=60, unique=True)),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "open"), ("paid", "paid"), ("cancelled", "cancelled")],
                        default="open",
                        max_length=9,
                        verbose_name="state",
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=200, verbose_name="reason")),
                ("amount", models.DecimalField(decimal_places=2, max_digits=14, verbose_name="amount")),
                ("currency", models.CharField(max_length=3, verbose_name="currency")),
                ("issued_on", models.DateField(verbose_name="issued")),
                (
                    "owed",
                    models.DecimalField(
                        decimal_places=2, default=Decimal("0"), max_digits=14, verbose_name="still owed"
                    ),
                ),
                ("due_on", models.DateField(blank=True, null=True, verbose_name="next due")),
                ("to_review", models.PositiveIntegerField(default=0, verbose_name="payments to review")),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=60), blank=True, default=list, verbose_name="tags"
                    ),
                ),
                ("note", models.TextField(blank=True, verbose_name="note")),
                (
                    "company",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="invoices",
                        to="crm.company",
                        verbose_name="company",
                    ),
                ),
                (
                    "contract",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="invoices",
                        to="crm.contract",
                        verbose_name="contract",
                    ),
                ),
                (
                    "opportunity",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="invoices",
                        to="crm.opportunity",
                        verbose_name="deal",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="invoices",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="invoices",
                        to="crm.team",
                        verbose_name="team",
                    ),
                ),
            ],
            options={
                "verbose_name": "invoice",
                "verbose_name_plural": "invoices",
            },
        ),
        migrations.CreateModel(
            name="InstallmentEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("subject_version", models.BigIntegerField(default=0, editable=False, verbose_name="version")),
                ("number", models.PositiveSmallIntegerField(verbose_name="number")),
                ("due_on", models.DateField(verbose_name="due")),
                ("amount", models.DecimalField(decimal_places=2, max_digits=14, verbose_name="amount")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "open"),
                            ("in_collection", "in collection"),
                            ("disputed", "disputed"),
                            ("paid", "paid"),
                            ("refunded", "refunded"),
                            ("cancelled", "cancelled"),
                        ],
                        default="open",
                        max_length=13,
                        verbose_name="state",
                    ),
                ),
                ("paid_at", models.DateTimeField(blank=True, null=True, verbose_name="paid at")),
                ("reason", models.CharField(blank=True, max_length=200, verbose_name="reason")),
                ("replaced", models.BooleanField(default=False, verbose_name="replaced")),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="crm.installment",
                    ),
                ),
                (
                    "invoice",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="crm.invoice",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="installment",
            name="invoice",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="installments", to="crm.invoice"
            ),
        ),
        migrations.CreateModel(
            name="InvoiceEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("version", models.BigIntegerField()),
                ("id", models.BigIntegerField()),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("changed_in", models.BigIntegerField(default=0, editable=False)),
                ("name", models.CharField(max_length=60, verbose_name="number")),
                ("name_key", models.CharField(editable=False, max_length=60)),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "open"), ("paid", "paid"), ("cancelled", "cancelled")],
                        default="open",
                        max_length=9,
                        verbose_name="state",
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=200, verbose_name="reason")),
                ("amount", models.DecimalField(decimal_places=2, max_digits=14, verbose_name="amount")),
                ("currency", models.CharField(max_length=3, verbose_name="currency")),
                ("issued_on", models.DateField(verbose_name="issued")),
                (
                    "owed",
                    models.DecimalField(
                        decimal_places=2, default=Decimal("0"), max_digits=14, verbose_name="still owed"
                    ),
                ),
                ("due_on", models.DateField(blank=True, null=True, verbose_name="next due")),
                ("to_review", models.PositiveIntegerField(default=0, verbose_name="payments to review")),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=60), blank=True, default=list, verbose_name="tags"
                    ),
                ),
                ("note", models.TextField(blank=True, verbose_name="note")),
                (
                    "company",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="crm.company",
                        verbose_name="company",
                    ),
                ),
                (
                    "contract",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="crm.contract",
                        verbose_name="contract",
                    ),
                ),
                (
                    "opportunity",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="crm.opportunity",
                        verbose_name="deal",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="crm.invoice",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="crm.team",
                        verbose_name="team",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Payment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("subject_version", models.BigIntegerField(default=0, editable=False, verbose_name="version")),
                ("provider", models.CharField(max_length=60, verbose_name="provider")),
                ("provider_key", models.CharField(max_length=120, verbose_name="payment")),
                ("amount", models.DecimalField(decimal_places=2, max_digits=14, verbose_name="amount")),
                ("at", models.DateTimeField(verbose_name="when")),
                (
                    "state",
                    models.CharField(
                        choices=[("counted", "counted"), ("in_review", "to be reviewed"), ("returned", "paid back")],
                        default="counted",
                        max_length=9,
                        verbose_name="state",
                    ),
                ),
                (
                    "doubt",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("cancelled", "the invoice is cancelled"),
                            ("settled", "nothing is owed for it any more"),
                            ("amount", "no installment is of this amount"),
                        ],
                        max_length=9,
                        verbose_name="why it waits",
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=200, verbose_name="reason")),
                (
                    "installment",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="payments",
                        to="crm.installment",
                        verbose_name="installment",
                    ),
                ),
                (
                    "invoice",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="payments", to="crm.invoice"
                    ),
                ),
            ],
            options={
                "verbose_name": "payment",
                "verbose_name_plural": "payments",
                "ordering": ["-at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="PaymentEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("subject_version", models.BigIntegerField(default=0, editable=False, verbose_name="version")),
                ("provider", models.CharField(max_length=60, verbose_name="provider")),
                ("provider_key", models.CharField(max_length=120, verbose_name="payment")),
                ("amount", models.DecimalField(decimal_places=2, max_digits=14, verbose_name="amount")),
                ("at", models.DateTimeField(verbose_name="when")),
                (
                    "state",
                    models.CharField(
                        choices=[("counted", "counted"), ("in_review", "to be reviewed"), ("returned", "paid back")],
                        default="counted",
                        max_length=9,
                        verbose_name="state",
                    ),
                ),
                (
                    "doubt",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("cancelled", "the invoice is cancelled"),
                            ("settled", "nothing is owed for it any more"),
                            ("amount", "no installment is of this amount"),
                        ],
                        max_length=9,
                        verbose_name="why it waits",
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=200, verbose_name="reason")),
                (
                    "installment",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="crm.installment",
                        verbose_name="installment",
                    ),
                ),
                (
                    "invoice",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="crm.invoice",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="crm.payment",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddIndex(
            model_name="contract",
            index=models.Index(fields=["-changed_at", "-id"], name="contract_by_change"),
        ),
        migrations.AddIndex(
            model_name="contract",
            index=models.Index(fields=["state", "-changed_at", "-id"], name="contract_by_state"),
        ),
        migrations.AddIndex(
            model_name="contract",
            index=models.Index(fields=["name_key", "id"], name="contract_by_name"),
        ),
        migrations.AddConstraint(
            model_name="contract",
            constraint=models.CheckConstraint(
                condition=models.Q(("discount__gte", 0), ("discount__lte", 100)), name="contract_discount_is_a_share"
            ),
        ),
        migrations.AddConstraint(
            model_name="contract",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state__in", ["approved", "signed"]), _negated=True),
                    models.Q(("approved", models.F("document")), ("approved__isnull", False)),
                    _connector="OR",
                ),
                name="contract_approved_in_force",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="contract",
            trigger=pgtrigger.compiler.Trigger(
                name="moves",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    declare="DECLARE _is_valid_transition BOOLEAN;",
                    func='SELECT CONCAT(OLD."state", \':\', NEW."state") = ANY(\'{draft:cancelled,draft:offered,offered:approved,offered:cancelled,offered:declined,approved:cancelled,approved:offered,approved:signed,declined:cancelled,declined:offered}\'::text[]) INTO _is_valid_transition; IF (_is_valid_transition IS FALSE AND OLD."state" IS DISTINCT FROM NEW."state") THEN RAISE EXCEPTION \'pgtrigger: Invalid transition of field "state" from "%" to "%" on table %\', OLD."state", NEW."state", TG_TABLE_NAME; ELSE RETURN NEW; END IF;',
                    hash="640cd573ea8489083e56df1a8a6fa141ffdaeb06",
                    operation="UPDATE",
                    pgid="pgtrigger_moves_46f0b",
                    table="crm_contract",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="contract",
            trigger=pgtrigger.compiler.Trigger(
                name="guard",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    \n    IF TG_OP = 'DELETE' THEN\n        RAISE EXCEPTION '% % may not be deleted: deleting is a change of state', TG_TABLE_NAME, OLD.id\n            USING ERRCODE = 'VG002';\n    END IF;\n\n    IF TG_OP = 'UPDATE' AND (NEW.version IS DISTINCT FROM OLD.version + 1 OR NEW.id <> OLD.id) THEN\n        RAISE EXCEPTION '% % is at version %, the write says %', TG_TABLE_NAME, OLD.id, OLD.version, NEW.version\n            USING ERRCODE = 'VG001';\n    END IF;\n    IF TG_OP = 'INSERT' AND NEW.version <> 1 THEN\n        RAISE EXCEPTION '% % would begin at version %: it was loaded once and is gone',\n            TG_TABLE_NAME, NEW.id, NEW.version USING ERRCODE = 'VG001';\n    END IF;\n    \n    NEW.changed_by := coalesce(nullif(current_setting('vigente.actor', true), ''),\n                               'system:' || session_user || ':' || session_user);\n    NEW.changed_at := clock_timestamp();\n\n    NEW.changed_in := pg_current_xact_id()::text::bigint;\n    RETURN NEW;\n",
                    hash="fed3f8833d3f7a55edc264508519661eb335553d",
                    operation="INSERT OR UPDATE OR DELETE",
                    pgid="pgtrigger_guard_9a12d",
                    table="crm_contract",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="contract",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "crm_contractevent" ("amount", "approved", "changed_at", "changed_by", "changed_in", "company_id", "currency", "discount", "document", "fingerprint", "id", "name", "name_key", "note", "opportunity_id", "owner_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "signed_on", "state", "tags", "team_id", "text", "valid_until", "version") VALUES (NEW."amount", NEW."approved", NEW."changed_at", NEW."changed_by", NEW."changed_in", NEW."company_id", NEW."currency", NEW."discount", NEW."document", NEW."fingerprint", NEW."id", NEW."name", NEW."name_key", NEW."note", NEW."opportunity_id", NEW."owner_id", NOW(), \'insert\', NEW."id", NEW."reason", NEW."signed_on", NEW."state", NEW."tags", NEW."team_id", NEW."text", NEW."valid_until", NEW."version"); RETURN NULL;',
                    hash="fda3da3776a69d6681a2b1cd9e8b1abe60ddb2a9",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_b1577",
                    table="crm_contract",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="contract",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "crm_contractevent" ("amount", "approved", "changed_at", "changed_by", "changed_in", "company_id", "currency", "discount", "document", "fingerprint", "id", "name", "name_key", "note", "opportunity_id", "owner_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "signed_on", "state", "tags", "team_id", "text", "valid_until", "version") VALUES (NEW."amount", NEW."approved", NEW."changed_at", NEW."changed_by", NEW."changed_in", NEW."company_id", NEW."currency", NEW."discount", NEW."document", NEW."fingerprint", NEW."id", NEW."name", NEW."name_key", NEW."note", NEW."opportunity_id", NEW."owner_id", NOW(), \'update\', NEW."id", NEW."reason", NEW."signed_on", NEW."state", NEW."tags", NEW."team_id", NEW."text", NEW."valid_until", NEW."version"); RETURN NULL;',
                    hash="c56d5039c82b94893d03a4c0b938d122937d3bb9",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_c4d21",
                    table="crm_contract",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="contractdecision",
            trigger=pgtrigger.compiler.Trigger(
                name="guard",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    declare="DECLARE subject_version bigint; subject_changed_in bigint;",
                    func="\n    \n    IF TG_OP = 'DELETE' THEN\n        RAISE EXCEPTION '% % may not be deleted: deleting is a change of state', TG_TABLE_NAME, OLD.id\n            USING ERRCODE = 'VG002';\n    END IF;\n\n    IF TG_OP = 'UPDATE' AND NEW.contract_id IS DISTINCT FROM OLD.contract_id THEN\n        RAISE EXCEPTION '% % belongs to another subject', TG_TABLE_NAME, OLD.id USING ERRCODE = 'VG003';\n    END IF;\n    SELECT s.version, s.changed_in INTO subject_version, subject_changed_in\n      FROM crm_contract s WHERE s.id = NEW.contract_id;\n    IF subject_changed_in IS DISTINCT FROM pg_current_xact_id()::text::bigint THEN\n        RAISE EXCEPTION '% of crm_contract % written without raising its version', TG_TABLE_NAME, NEW.contract_id\n            USING ERRCODE = 'VG003';\n    END IF;\n    \n    NEW.changed_by := coalesce(nullif(current_setting('vigente.actor', true), ''),\n                               'system:' || session_user || ':' || session_user);\n    NEW.changed_at := clock_timestamp();\n\n    NEW.subject_version := subject_version;\n    RETURN NEW;\n",
                    hash="d44fffb7c4abae147786a62f7d2b4567ea753d27",
                    operation="INSERT OR UPDATE OR DELETE",
                    pgid="pgtrigger_guard_1b25c",
                    table="crm_contractdecision",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="contractdecision",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "crm_contractdecisionevent" ("at", "by", "changed_at", "changed_by", "contract_id", "fingerprint", "id", "number", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "subject_version", "verdict") VALUES (NEW."at", NEW."by", NEW."changed_at", NEW."changed_by", NEW."contract_id", NEW."fingerprint", NEW."id", NEW."number", NOW(), \'insert\', NEW."id", NEW."reason", NEW."subject_version", NEW."verdict"); RETURN NULL;',
                    hash="7f4950fa91e610d0aef1d8db9672e93279c14594",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_22472",
                    table="crm_contractdecision",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="contractdecision",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "crm_contractdecisionevent" ("at", "by", "changed_at", "changed_by", "contract_id", "fingerprint", "id", "number", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "subject_version", "verdict") VALUES (NEW."at", NEW."by", NEW."changed_at", NEW."changed_by", NEW."contract_id", NEW."fingerprint", NEW."id", NEW."number", NOW(), \'update\', NEW."id", NEW."reason", NEW."subject_version", NEW."verdict"); RETURN NULL;',
                    hash="67cc0e6204f99cada0450f88f0eef514cfa00ad9",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_2fb7f",
                    table="crm_contractdecision",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="contractdecisionevent",
            index=models.Index(fields=["contract", "subject_version"], name="contractdecision_event_version"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="contractdecisionevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="805116c7ab4eff62bd42f375550bf1f8a8923985",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_608be",
                    table="crm_contractdecisionevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="contractevent",
            index=models.Index(fields=["pgh_obj", "version"], name="contract_event_version"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="contractevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="02c32856b96a1b2e2ef17c2ead4ea6278c5d5985",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_11923",
                    table="crm_contractevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="contractline",
            constraint=models.CheckConstraint(
                condition=models.Q(("quantity__gt", 0), ("unit_price__gte", 0)), name="line_counts_up"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="contractline",
            trigger=pgtrigger.compiler.Trigger(
                name="guard",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    declare="DECLARE subject_version bigint; subject_changed_in bigint;",
                    func="\n    \n    IF TG_OP = 'DELETE' THEN\n        RAISE EXCEPTION '% % may not be deleted: deleting is a change of state', TG_TABLE_NAME, OLD.id\n            USING ERRCODE = 'VG002';\n    END IF;\n\n    IF TG_OP = 'UPDATE' AND NEW.contract_id IS DISTINCT FROM OLD.contract_id THEN\n        RAISE EXCEPTION '% % belongs to another subject', TG_TABLE_NAME, OLD.id USING ERRCODE = 'VG003';\n    END IF;\n    SELECT s.version, s.changed_in INTO subject_version, subject_changed_in\n      FROM crm_contract s WHERE s.id = NEW.contract_id;\n    IF subject_changed_in IS DISTINCT FROM pg_current_xact_id()::text::bigint THEN\n        RAISE EXCEPTION '% of crm_contract % written without raising its version', TG_TABLE_NAME, NEW.contract_id\n            USING ERRCODE = 'VG003';\n    END IF;\n    \n    NEW.changed_by := coalesce(nullif(current_setting('vigente.actor', true), ''),\n                               'system:' || session_user || ':' || session_user);\n    NEW.changed_at := clock_timestamp();\n\n    NEW.subject_version := subject_version;\n    RETURN NEW;\n",
                    hash="eeb18a7da59e0d7dbac7bbf45af350fdbf2f8d3f",
                    operation="INSERT OR UPDATE OR DELETE",
                    pgid="pgtrigger_guard_f1e36",
                    table="crm_contractline",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="contractline",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "crm_contractlineevent" ("changed_at", "changed_by", "contract_id", "description", "id", "pgh_created_at", "pgh_label", "pgh_obj_id", "product_id", "quantity", "removed", "subject_version", "unit_price") VALUES (NEW."changed_at", NEW."changed_by", NEW."contract_id", NEW."description", NEW."id", NOW(), \'insert\', NEW."id", NEW."product_id", NEW."quantity", NEW."removed", NEW."subject_version", NEW."unit_price"); RETURN NULL;',
                    hash="b16169744a55416c878ab876a51c22f10f088051",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_2f1d1",
                    table="crm_contractline",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="contractline",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "crm_contractlineevent" ("changed_at", "changed_by", "contract_id", "description", "id", "pgh_created_at", "pgh_label", "pgh_obj_id", "product_id", "quantity", "removed", "subject_version", "unit_price") VALUES (NEW."changed_at", NEW."changed_by", NEW."contract_id", NEW."description", NEW."id", NOW(), \'update\', NEW."id", NEW."product_id", NEW."quantity", NEW."removed", NEW."subject_version", NEW."unit_price"); RETURN NULL;',
                    hash="f9f8da915956ea56b6cc2208effb5d5920d5adab",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_06d9b",
                    table="crm_contractline",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="contractlineevent",
            index=models.Index(fields=["contract", "subject_version"], name="contractline_event_version"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="contractlineevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="9457cf861d16742acf3d02b5c5670c59cc870aad",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_8bec5",
                    table="crm_contractlineevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="document",
            constraint=models.UniqueConstraint(fields=("contract", "number"), name="document_number_once"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="document",
            trigger=pgtrigger.compiler.Trigger(
                name="kept",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."number" IS DISTINCT FROM (NEW."number") OR OLD."content" IS DISTINCT FROM (NEW."content") OR OLD."fingerprint" IS DISTINCT FROM (NEW."fingerprint") OR OLD."made_at" IS DISTINCT FROM (NEW."made_at") OR OLD."made_by" IS DISTINCT FROM (NEW."made_by"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="566b08ae54d08af3b64d0af3f8ea97adc9a90b22",
                    operation="UPDATE",
                    pgid="pgtrigger_kept_4a378",
                    table="crm_document",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="document",
            trigger=pgtrigger.compiler.Trigger(
                name="guard",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    declare="DECLARE subject_version bigint; subject_changed_in bigint;",
                    func="\n    \n    IF TG_OP = 'DELETE' THEN\n        RAISE EXCEPTION '% % may not be deleted: deleting is a change of state', TG_TABLE_NAME, OLD.id\n            USING ERRCODE = 'VG002';\n    END IF;\n\n    IF TG_OP = 'UPDATE' AND NEW.contract_id IS DISTINCT FROM OLD.contract_id THEN\n        RAISE EXCEPTION '% % belongs to another subject', TG_TABLE_NAME, OLD.id USING ERRCODE = 'VG003';\n    END IF;\n    SELECT s.version, s.changed_in INTO subject_version, subject_changed_in\n      FROM crm_contract s WHERE s.id = NEW.contract_id;\n    IF subject_changed_in IS DISTINCT FROM pg_current_xact_id()::text::bigint THEN\n        RAISE EXCEPTION '% of crm_contract % written without raising its version', TG_TABLE_NAME, NEW.contract_id\n            USING ERRCODE = 'VG003';\n    END IF;\n    \n    NEW.changed_by := coalesce(nullif(current_setting('vigente.actor', true), ''),\n                               'system:' || session_user || ':' || session_user);\n    NEW.changed_at := clock_timestamp();\n\n    NEW.subject_version := subject_version;\n    RETURN NEW;\n",
                    hash="9dc1149851bc75f22c0695edfa9a478bc07b0f8e",
                    operation="INSERT OR UPDATE OR DELETE",
                    pgid="pgtrigger_guard_0a6b5",
                    table="crm_document",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="document",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "crm_documentevent" ("changed_at", "changed_by", "content", "contract_id", "fingerprint", "id", "made_at", "made_by", "number", "pgh_created_at", "pgh_label", "pgh_obj_id", "remark", "subject_version") VALUES (NEW."changed_at", NEW."changed_by", NEW."content", NEW."contract_id", NEW."fingerprint", NEW."id", NEW."made_at", NEW."made_by", NEW."number", NOW(), \'insert\', NEW."id", NEW."remark", NEW."subject_version"); RETURN NULL;',
                    hash="ead2add37a2e88d43640049be6e06ed23d9633e4",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_a1cd7",
                    table="crm_document",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="document",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "crm_documentevent" ("changed_at", "changed_by", "content", "contract_id", "fingerprint", "id", "made_at", "made_by", "number", "pgh_created_at", "pgh_label", "pgh_obj_id", "remark", "subject_version") VALUES (NEW."changed_at", NEW."changed_by", NEW."content", NEW."contract_id", NEW."fingerprint", NEW."id", NEW."made_at", NEW."made_by", NEW."number", NOW(), \'update\', NEW."id", NEW."remark", NEW."subject_version"); RETURN NULL;',
                    hash="9a82e6e50202bbaa2c7b9d19e3f7ee243028ea41",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_ee9c7",
                    table="crm_document",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="documentevent",
            index=models.Index(fields=["contract", "subject_version"], name="document_event_version"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="documentevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="87198850a673cdd66a6bbc21a0416130d9f8d9ce",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_0c6aa",
                    table="crm_documentevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="invoice",
            index=models.Index(fields=["-changed_at", "-id"], name="invoice_by_change"),
        ),
        migrations.AddIndex(
            model_name="invoice",
            index=models.Index(condition=models.Q(("state", "open")), fields=["due_on", "id"], name="invoice_due"),
        ),
        migrations.AddIndex(
            model_name="invoice",
            index=models.Index(condition=models.Q(("to_review__gt", 0)), fields=["-id"], name="invoice_to_review"),
        ),
        migrations.AddConstraint(
            model_name="invoice",
            constraint=models.CheckConstraint(
                condition=models.Q(("amount__gt", 0), ("owed__gte", 0), ("owed__lte", models.F("amount"))),
                name="invoice_owes_no_more_than_it_says",
            ),
        ),
        migrations.AddConstraint(
            model_name="invoice",
            constraint=models.CheckConstraint(
                condition=models.Q(models.Q(("state", "cancelled"), _negated=True), ("owed", 0), _connector="OR"),
                name="invoice_cancelled_owes_nothing",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="invoice",
            trigger=pgtrigger.compiler.Trigger(
                name="moves",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    declare="DECLARE _is_valid_transition BOOLEAN;",
                    func='SELECT CONCAT(OLD."state", \':\', NEW."state") = ANY(\'{open:cancelled,open:paid,paid:open}\'::text[]) INTO _is_valid_transition; IF (_is_valid_transition IS FALSE AND OLD."state" IS DISTINCT FROM NEW."state") THEN RAISE EXCEPTION \'pgtrigger: Invalid transition of field "state" from "%" to "%" on table %\', OLD."state", NEW."state", TG_TABLE_NAME; ELSE RETURN NEW; END IF;',
                    hash="74912b669d4552d8d4e6273a9298a9c0104835ee",
                    operation="UPDATE",
                    pgid="pgtrigger_moves_b351e",
                    table="crm_invoice",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="invoice",
            trigger=pgtrigger.compiler.Trigger(
                name="guard",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    \n    IF TG_OP = 'DELETE' THEN\n        RAISE EXCEPTION '% % may not be deleted: deleting is a change of state', TG_TABLE_NAME, OLD.id\n            USING ERRCODE = 'VG002';\n    END IF;\n\n    IF TG_OP = 'UPDATE' AND (NEW.version IS DISTINCT FROM OLD.version + 1 OR NEW.id <> OLD.id) THEN\n        RAISE EXCEPTION '% % is at version %, the write says %', TG_TABLE_NAME, OLD.id, OLD.version, NEW.version\n            USING ERRCODE = 'VG001';\n    END IF;\n    IF TG_OP = 'INSERT' AND NEW.version <> 1 THEN\n        RAISE EXCEPTION '% % would begin at version %: it was loaded once and is gone',\n            TG_TABLE_NAME, NEW.id, NEW.version USING ERRCODE = 'VG001';\n    END IF;\n    \n    NEW.changed_by := coalesce(nullif(current_setting('vigente.actor', true), ''),\n                               'system:' || session_user || ':' || session_user);\n    NEW.changed_at := clock_timestamp();\n\n    NEW.changed_in := pg_current_xact_id()::text::bigint;\n    RETURN NEW;\n",
                    hash="6fcbf150c9f2f8170a55503033e215afb151c07e",
                    operation="INSERT OR UPDATE OR DELETE",
                    pgid="pgtrigger_guard_248d0",
                    table="crm_invoice",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="invoice",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "crm_invoiceevent" ("amount", "changed_at", "changed_by", "changed_in", "company_id", "contract_id", "currency", "due_on", "id", "issued_on", "name", "name_key", "note", "opportunity_id", "owed", "owner_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "state", "tags", "team_id", "to_review", "version") VALUES (NEW."amount", NEW."changed_at", NEW."changed_by", NEW."changed_in", NEW."company_id", NEW."contract_id", NEW."currency", NEW."due_on", NEW."id", NEW."issued_on", NEW."name", NEW."name_key", NEW."note", NEW."opportunity_id", NEW."owed", NEW."owner_id", NOW(), \'insert\', NEW."id", NEW."reason", NEW."state", NEW."tags", NEW."team_id", NEW."to_review", NEW."version"); RETURN NULL;',
                    hash="48ebbc8ae9488fb36b004bd34e336e6cf8ee7d40",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_ecbcb",
                    table="crm_invoice",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="invoice",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "crm_invoiceevent" ("amount", "changed_at", "changed_by", "changed_in", "company_id", "contract_id", "currency", "due_on", "id", "issued_on", "name", "name_key", "note", "opportunity_id", "owed", "owner_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "state", "tags", "team_id", "to_review", "version") VALUES (NEW."amount", NEW."changed_at", NEW."changed_by", NEW."changed_in", NEW."company_id", NEW."contract_id", NEW."currency", NEW."due_on", NEW."id", NEW."issued_on", NEW."name", NEW."name_key", NEW."note", NEW."opportunity_id", NEW."owed", NEW."owner_id", NOW(), \'update\', NEW."id", NEW."reason", NEW."state", NEW."tags", NEW."team_id", NEW."to_review", NEW."version"); RETURN NULL;',
                    hash="f5a1b4f65605ac8d2842c27a715dc6f98897501a",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_84930",
                    table="crm_invoice",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="installmentevent",
            index=models.Index(fields=["invoice", "subject_version"], name="installment_event_version"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="installmentevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="53dd38c248cd17b33400baa8e1f33fa0b8b9d5f3",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_e5d9b",
                    table="crm_installmentevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="installment",
            constraint=models.UniqueConstraint(fields=("invoice", "number"), name="installment_number_once"),
        ),
        migrations.AddConstraint(
            model_name="installment",
            constraint=models.CheckConstraint(condition=models.Q(("amount__gt", 0)), name="installment_is_something"),
        ),
        migrations.AddConstraint(
            model_name="installment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "paid"), _negated=True), ("paid_at__isnull", False), _connector="OR"
                ),
                name="installment_paid_when",
            ),
        ),
        migrations.AddConstraint(
            model_name="installment",
            constraint=models.CheckConstraint(
                condition=models.Q(("replaced", False), ("state", "cancelled"), _connector="OR"),
                name="installment_replaced_is_over",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="installment",
            trigger=pgtrigger.compiler.Trigger(
                name="moves",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    declare="DECLARE _is_valid_transition BOOLEAN;",
                    func='SELECT CONCAT(OLD."state", \':\', NEW."state") = ANY(\'{open:cancelled,open:disputed,open:in_collection,open:paid,in_collection:cancelled,in_collection:disputed,in_collection:open,in_collection:paid,disputed:cancelled,disputed:open,disputed:paid,paid:open,paid:refunded}\'::text[]) INTO _is_valid_transition; IF (_is_valid_transition IS FALSE AND OLD."state" IS DISTINCT FROM NEW."state") THEN RAISE EXCEPTION \'pgtrigger: Invalid transition of field "state" from "%" to "%" on table %\', OLD."state", NEW."state", TG_TABLE_NAME; ELSE RETURN NEW; END IF;',
                    hash="5f42f0203ee3f45412a48cb77300e612529f474d",
                    operation="UPDATE",
                    pgid="pgtrigger_moves_2305b",
                    table="crm_installment",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="installment",
            trigger=pgtrigger.compiler.Trigger(
                name="kept",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."number" IS DISTINCT FROM (NEW."number") OR OLD."amount" IS DISTINCT FROM (NEW."amount"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="320508b546643201e519d39bb4e451e2e9dbdcab",
                    operation="UPDATE",
                    pgid="pgtrigger_kept_6fcb0",
                    table="crm_installment",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="installment",
            trigger=pgtrigger.compiler.Trigger(
                name="guard",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    declare="DECLARE subject_version bigint; subject_changed_in bigint;",
                    func="\n    \n    IF TG_OP = 'DELETE' THEN\n        RAISE EXCEPTION '% % may not be deleted: deleting is a change of state', TG_TABLE_NAME, OLD.id\n            USING ERRCODE = 'VG002';\n    END IF;\n\n    IF TG_OP = 'UPDATE' AND NEW.invoice_id IS DISTINCT FROM OLD.invoice_id THEN\n        RAISE EXCEPTION '% % belongs to another subject', TG_TABLE_NAME, OLD.id USING ERRCODE = 'VG003';\n    END IF;\n    SELECT s.version, s.changed_in INTO subject_version, subject_changed_in\n      FROM crm_invoice s WHERE s.id = NEW.invoice_id;\n    IF subject_changed_in IS DISTINCT FROM pg_current_xact_id()::text::bigint THEN\n        RAISE EXCEPTION '% of crm_invoice % written without raising its version', TG_TABLE_NAME, NEW.invoice_id\n            USING ERRCODE = 'VG003';\n    END IF;\n    \n    NEW.changed_by := coalesce(nullif(current_setting('vigente.actor', true), ''),\n                               'system:' || session_user || ':' || session_user);\n    NEW.changed_at := clock_timestamp();\n\n    NEW.subject_version := subject_version;\n    RETURN NEW;\n",
                    hash="a452c6bcd216fd15c6e4b15765b047bbb6ce40d8",
                    operation="INSERT OR UPDATE OR DELETE",
                    pgid="pgtrigger_guard_0d457",
                    table="crm_installment",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="installment",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "crm_installmentevent" ("amount", "changed_at", "changed_by", "due_on", "id", "invoice_id", "number", "paid_at", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "replaced", "state", "subject_version") VALUES (NEW."amount", NEW."changed_at", NEW."changed_by", NEW."due_on", NEW."id", NEW."invoice_id", NEW."number", NEW."paid_at", NOW(), \'insert\', NEW."id", NEW."reason", NEW."replaced", NEW."state", NEW."subject_version"); RETURN NULL;',
                    hash="90deca5892db2b8b5123b9443cd3242e216d33d4",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_cd225",
                    table="crm_installment",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="installment",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "crm_installmentevent" ("amount", "changed_at", "changed_by", "due_on", "id", "invoice_id", "number", "paid_at", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "replaced", "state", "subject_version") VALUES (NEW."amount", NEW."changed_at", NEW."changed_by", NEW."due_on", NEW."id", NEW."invoice_id", NEW."number", NEW."paid_at", NOW(), \'update\', NEW."id", NEW."reason", NEW."replaced", NEW."state", NEW."subject_version"); RETURN NULL;',
                    hash="dade00ed72cef2c82389048cb88d08387f96e0fa",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_491b3",
                    table="crm_installment",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="invoiceevent",
            index=models.Index(fields=["pgh_obj", "version"], name="invoice_event_version"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="invoiceevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="0dfb19a8119b8a84e38fc56c2930b8bc6fe9aa3b",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_0da36",
                    table="crm_invoiceevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="payment",
            constraint=models.UniqueConstraint(fields=("provider", "provider_key"), name="payment_once"),
        ),
        migrations.AddConstraint(
            model_name="payment",
            constraint=models.CheckConstraint(condition=models.Q(("amount__gt", 0)), name="payment_is_something"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="payment",
            trigger=pgtrigger.compiler.Trigger(
                name="moves",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    declare="DECLARE _is_valid_transition BOOLEAN;",
                    func='SELECT CONCAT(OLD."state", \':\', NEW."state") = ANY(\'{counted:in_review,counted:returned,in_review:counted,in_review:returned}\'::text[]) INTO _is_valid_transition; IF (_is_valid_transition IS FALSE AND OLD."state" IS DISTINCT FROM NEW."state") THEN RAISE EXCEPTION \'pgtrigger: Invalid transition of field "state" from "%" to "%" on table %\', OLD."state", NEW."state", TG_TABLE_NAME; ELSE RETURN NEW; END IF;',
                    hash="5c2491ff325775e71690e230edddb8d0fbaeefd6",
                    operation="UPDATE",
                    pgid="pgtrigger_moves_31258",
                    table="crm_payment",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="payment",
            trigger=pgtrigger.compiler.Trigger(
                name="kept",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."provider" IS DISTINCT FROM (NEW."provider") OR OLD."provider_key" IS DISTINCT FROM (NEW."provider_key") OR OLD."amount" IS DISTINCT FROM (NEW."amount") OR OLD."at" IS DISTINCT FROM (NEW."at"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="cf454009eb57b01a6c79e09be743c13c894f62c6",
                    operation="UPDATE",
                    pgid="pgtrigger_kept_0ec55",
                    table="crm_payment",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="payment",
            trigger=pgtrigger.compiler.Trigger(
                name="guard",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    declare="DECLARE subject_version bigint; subject_changed_in bigint;",
                    func="\n    \n    IF TG_OP = 'DELETE' THEN\n        RAISE EXCEPTION '% % may not be deleted: deleting is a change of state', TG_TABLE_NAME, OLD.id\n            USING ERRCODE = 'VG002';\n    END IF;\n\n    IF TG_OP = 'UPDATE' AND NEW.invoice_id IS DISTINCT FROM OLD.invoice_id THEN\n        RAISE EXCEPTION '% % belongs to another subject', TG_TABLE_NAME, OLD.id USING ERRCODE = 'VG003';\n    END IF;\n    SELECT s.version, s.changed_in INTO subject_version, subject_changed_in\n      FROM crm_invoice s WHERE s.id = NEW.invoice_id;\n    IF subject_changed_in IS DISTINCT FROM pg_current_xact_id()::text::bigint THEN\n        RAISE EXCEPTION '% of crm_invoice % written without raising its version', TG_TABLE_NAME, NEW.invoice_id\n            USING ERRCODE = 'VG003';\n    END IF;\n    \n    NEW.changed_by := coalesce(nullif(current_setting('vigente.actor', true), ''),\n                               'system:' || session_user || ':' || session_user);\n    NEW.changed_at := clock_timestamp();\n\n    NEW.subject_version := subject_version;\n    RETURN NEW;\n",
                    hash="a0dad369b9dba0b0ef21673eea12d1fa4159c753",
                    operation="INSERT OR UPDATE OR DELETE",
                    pgid="pgtrigger_guard_8f8f5",
                    table="crm_payment",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="payment",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "crm_paymentevent" ("amount", "at", "changed_at", "changed_by", "doubt", "id", "installment_id", "invoice_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "provider_key", "reason", "state", "subject_version") VALUES (NEW."amount", NEW."at", NEW."changed_at", NEW."changed_by", NEW."doubt", NEW."id", NEW."installment_id", NEW."invoice_id", NOW(), \'insert\', NEW."id", NEW."provider", NEW."provider_key", NEW."reason", NEW."state", NEW."subject_version"); RETURN NULL;',
                    hash="2559f32f1efefde1eeb4815549e855150c79bcb0",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_9b90b",
                    table="crm_payment",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="payment",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "crm_paymentevent" ("amount", "at", "changed_at", "changed_by", "doubt", "id", "installment_id", "invoice_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "provider_key", "reason", "state", "subject_version") VALUES (NEW."amount", NEW."at", NEW."changed_at", NEW."changed_by", NEW."doubt", NEW."id", NEW."installment_id", NEW."invoice_id", NOW(), \'update\', NEW."id", NEW."provider", NEW."provider_key", NEW."reason", NEW."state", NEW."subject_version"); RETURN NULL;',
                    hash="46fac3943efa2dd3c5013d546b4f7583af8aed71",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_b0d4f",
                    table="crm_payment",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="paymentevent",
            index=models.Index(fields=["invoice", "subject_version"], name="payment_event_version"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="paymentevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="03654f899613ad309c4394d095eb37937bb2dcd1",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_4d1ba",
                    table="crm_paymentevent",
                    when="BEFORE",
                ),
            ),
        ),
    ]
