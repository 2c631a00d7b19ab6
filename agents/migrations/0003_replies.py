import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0002_autonomy_and_score"), ("crm", "0007_conversations")]

    operations = [
        migrations.CreateModel(
            name="Turn",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("running", "writing"),
                            ("queued", "answered"),
                            ("superseded", "dropped"),
                            ("handed_over", "handed over"),
                            ("failed", "failed"),
                        ],
                        default="running",
                        max_length=11,
                        verbose_name="state",
                    ),
                ),
                ("counter", models.BigIntegerField(verbose_name="messages seen")),
                ("answered", models.BigIntegerField(verbose_name="messages answered before")),
                ("epoch", models.BigIntegerField(verbose_name="epoch")),
                ("fence", models.BigIntegerField(verbose_name="fencing token")),
                ("final", models.BooleanField(default=False, verbose_name="for what it saw")),
                ("responder", models.CharField(max_length=60, verbose_name="who wrote")),
                ("calls", models.PositiveSmallIntegerField(default=0, verbose_name="calls to the model")),
                ("text", models.TextField(blank=True, verbose_name="draft")),
                ("reason", models.JSONField(blank=True, default=dict, verbose_name="why")),
                ("facts", models.JSONField(blank=True, default=dict, verbose_name="facts")),
                (
                    "started_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name="started"),
                ),
                ("ended_at", models.DateTimeField(null=True, verbose_name="ended")),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="turns", to="crm.conversation"
                    ),
                ),
                (
                    "record",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="conflicts.conflict",
                    ),
                ),
            ],
            options={
                "verbose_name": "turn",
                "verbose_name_plural": "turns",
                "indexes": [models.Index(fields=["conversation", "-id"], name="turn_of_conversation")],
            },
        ),
    ]
