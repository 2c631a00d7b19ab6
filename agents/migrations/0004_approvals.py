"""Approvals bound to what was read, and reasons for overriding an agent."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0003_replies"), ("conflicts", "0005_ledger_outbound")]

    operations = [
        migrations.AddField(
            model_name="recommendation",
            name="edit_reason",
            field=models.CharField(blank=True, max_length=40, verbose_name="why it was changed"),
        ),
        migrations.CreateModel(
            name="Approval",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("revision", models.PositiveIntegerField(verbose_name="revision")),
                (
                    "state",
                    models.CharField(
                        choices=[("given", "given"), ("used", "used"), ("void", "void")],
                        default="given",
                        max_length=5,
                        verbose_name="state",
                    ),
                ),
                ("action", models.CharField(max_length=80, verbose_name="action")),
                ("params", models.JSONField(default=dict, verbose_name="content")),
                ("basis", models.JSONField(verbose_name="read by the agent")),
                ("policies", models.JSONField(default=dict, verbose_name="rules")),
                ("fingerprint", models.CharField(max_length=64)),
                ("content", models.CharField(max_length=64, verbose_name="content hash")),
                ("shown", models.JSONField(default=dict, verbose_name="shown")),
                ("together", models.BooleanField(default=False, verbose_name="with others at once")),
                ("given_by", models.CharField(max_length=200, verbose_name="given by")),
                ("given_at", models.DateTimeField(verbose_name="given")),
                ("expires_at", models.DateTimeField(verbose_name="runs out")),
                ("settled_at", models.DateTimeField(blank=True, null=True, verbose_name="used or void")),
                ("why", models.JSONField(blank=True, default=dict, verbose_name="why it is void")),
                (
                    "recommendation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="approvals",
                        to="agents.recommendation",
                        verbose_name="suggestion",
                    ),
                ),
            ],
            options={
                "verbose_name": "approval",
                "verbose_name_plural": "approvals",
                "indexes": [
                    models.Index(condition=models.Q(("state", "given")), fields=["expires_at"], name="approval_given"),
                    models.Index(condition=models.Q(("state", "void")), fields=["-settled_at"], name="approval_void"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["given", "used"])),
                        fields=("recommendation", "revision"),
                        name="one_approval_in_force",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("settled_at", None), ("state", "given")),
                            models.Q(models.Q(("state", "given"), _negated=True), ("settled_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="approval_settled_has_a_time",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Override",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("subject_model", models.CharField(max_length=100, verbose_name="kind of record")),
                ("subject_id", models.BigIntegerField(verbose_name="record")),
                ("version", models.BigIntegerField(verbose_name="version")),
                ("names", models.JSONField(default=list, verbose_name="fields")),
                ("agent", models.CharField(max_length=200, verbose_name="agent")),
                ("by", models.CharField(max_length=200, verbose_name="who")),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("wrong", "the agent's value is wrong"),
                            ("newer", "mine is newer"),
                            ("agreed", "agreed with the customer"),
                            ("known_better", "I know more than the record"),
                        ],
                        max_length=12,
                        verbose_name="reason",
                    ),
                ),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name="when")),
                (
                    "record",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="conflicts.conflict",
                        verbose_name="evidence",
                    ),
                ),
            ],
            options={
                "verbose_name": "override",
                "verbose_name_plural": "overrides",
                "indexes": [models.Index(fields=["subject_model", "subject_id", "-at"], name="override_of_record")],
            },
        ),
    ]
