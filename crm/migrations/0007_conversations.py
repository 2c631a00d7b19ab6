import concurrency.fields
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("crm", "0006_user_manager"),
    ]

    operations = [
        migrations.CreateModel(
            name="ChannelAccount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("version", concurrency.fields.AutoIncVersionField(default=0, help_text="record revision number")),
                ("changed_in", models.BigIntegerField(default=0, editable=False)),
                ("name", models.CharField(max_length=120, verbose_name="name")),
                (
                    "provider",
                    models.CharField(
                        choices=[
                            ("webchat", "chat on a website"),
                            ("whatsapp", "WhatsApp Cloud API"),
                            ("twilio", "Twilio"),
                            ("mail", "e-mail"),
                        ],
                        max_length=10,
                        verbose_name="provider",
                    ),
                ),
                (
                    "medium",
                    models.CharField(
                        choices=[
                            ("webchat", "web chat"),
                            ("whatsapp", "WhatsApp"),
                            ("sms", "SMS"),
                            ("email", "e-mail"),
                        ],
                        max_length=10,
                        verbose_name="channel",
                    ),
                ),
                ("address", models.CharField(max_length=254, verbose_name="address")),
                ("active", models.BooleanField(default=True, verbose_name="in use")),
                ("agent_answers", models.BooleanField(default=True, verbose_name="the agent answers first")),
                (
                    "quiet_seconds",
                    models.FloatField(
                        default=4.0,
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(600),
                        ],
                        verbose_name="quiet window in seconds",
                    ),
                ),
                (
                    "cap_seconds",
                    models.FloatField(
                        default=20.0,
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(600),
                        ],
                        verbose_name="longest wait in seconds",
                    ),
                ),
                (
                    "flush_at",
                    models.PositiveSmallIntegerField(
                        default=10,
                        validators=[django.core.validators.MinValueValidator(1)],
                        verbose_name="answered at once from this many messages on",
                    ),
                ),
                (
                    "give_back_minutes",
                    models.PositiveIntegerField(blank=True, null=True, verbose_name="back to the agent after minutes"),
                ),
                ("language", models.CharField(blank=True, max_length=8, verbose_name="language")),
                ("time_zone", models.CharField(blank=True, max_length=64, verbose_name="time zone")),
                ("opens_at", models.TimeField(blank=True, null=True, verbose_name="opens")),
                ("closes_at", models.TimeField(blank=True, null=True, verbose_name="closes")),
                ("open_days", models.CharField(blank=True, default="12345", max_length=7, verbose_name="open on")),
                ("contact_from", models.TimeField(default="08:00", verbose_name="unasked messages from")),
                ("contact_until", models.TimeField(default="21:00", verbose_name="unasked messages until")),
            ],
            options={
                "verbose_name": "channel",
                "verbose_name_plural": "channels",
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="ChannelAccountEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("version", models.BigIntegerField()),
                ("id", models.BigIntegerField()),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("changed_in", models.BigIntegerField(default=0, editable=False)),
                ("name", models.CharField(max_length=120, verbose_name="name")),
                (
                    "provider",
                    models.CharField(
                        choices=[
                            ("webchat", "chat on a website"),
                            ("whatsapp", "WhatsApp Cloud API"),
                            ("twilio", "Twilio"),
                            ("mail", "e-mail"),
                        ],
                        max_length=10,
                        verbose_name="provider",
                    ),
                ),
                (
                    "medium",
                    models.CharField(
                        choices=[
                            ("webchat", "web chat"),
                            ("whatsapp", "WhatsApp"),
                            ("sms", "SMS"),
                            ("email", "e-mail"),
                        ],
                        max_length=10,
                        verbose_name="channel",
                    ),
                ),
                ("address", models.CharField(max_length=254, verbose_name="address")),
                ("active", models.BooleanField(default=True, verbose_name="in use")),
                ("agent_answers", models.BooleanField(default=True, verbose_name="the agent answers first")),
                (
                    "quiet_seconds",
                    models.FloatField(
                        default=4.0,
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(600),
                        ],
                        verbose_name="quiet window in seconds",
                    ),
                ),
                (
                    "cap_seconds",
                    models.FloatField(
                        default=20.0,
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(600),
                        ],
                        verbose_name="longest wait in seconds",
                    ),
                ),
                (
                    "flush_at",
                    models.PositiveSmallIntegerField(
                        default=10,
                        validators=[django.core.validators.MinValueValidator(1)],
                        verbose_name="answered at once from this many messages on",
                    ),
                ),
                (
                    "give_back_minutes",
                    models.PositiveIntegerField(blank=True, null=True, verbose_name="back to the agent after minutes"),
                ),
                ("language", models.CharField(blank=True, max_length=8, verbose_name="language")),
                ("time_zone", models.CharField(blank=True, max_length=64, verbose_name="time zone")),
                ("opens_at", models.TimeField(blank=True, null=True, verbose_name="opens")),
                ("closes_at", models.TimeField(blank=True, null=True, verbose_name="closes")),
                ("open_days", models.CharField(blank=True, default="12345", max_length=7, verbose_name="open on")),
                ("contact_from", models.TimeField(default="08:00", verbose_name="unasked messages from")),
                ("contact_until", models.TimeField(default="21:00", verbose_name="unasked messages until")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Conversation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("version", concurrency.fields.AutoIncVersionField(default=0, help_text="record revision number")),
                ("changed_in", models.BigIntegerField(default=0, editable=False)),
                ("peer", models.CharField(max_length=254, verbose_name="address")),
                ("reply_to", models.CharField(max_length=254, verbose_name="answers go to")),
                (
                    "medium",
                    models.CharField(
                        choices=[
                            ("webchat", "web chat"),
                            ("whatsapp", "WhatsApp"),
                            ("sms", "SMS"),
                            ("email", "e-mail"),
                        ],
                        max_length=10,
                        verbose_name="channel",
                    ),
                ),
                ("title", models.CharField(max_length=300, verbose_name="about")),
                ("language", models.CharField(blank=True, max_length=8, verbose_name="language")),
                (
                    "status",
                    models.CharField(
                        choices=[("open", "open"), ("closed", "closed")],
                        default="open",
                        max_length=6,
                        verbose_name="state",
                    ),
                ),
                (
                    "owner_kind",
                    models.CharField(
                        choices=[("agent", "agent"), ("person", "person")],
                        default="agent",
                        max_length=6,
                        verbose_name="answered by",
                    ),
                ),
                ("owner_epoch", models.BigIntegerField(default=1, verbose_name="epoch")),
                ("handed_over", models.CharField(blank=True, max_length=30, verbose_name="why a person")),
                ("inbound_count", models.BigIntegerField(default=0, verbose_name="messages of the customer")),
                ("answered_count", models.BigIntegerField(default=0, verbose_name="of them answered")),
                ("waiting_since", models.DateTimeField(blank=True, null=True, verbose_name="waiting since")),
                (
                    "last_inbound_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="last message of the customer"),
                ),
                ("last_outbound_at", models.DateTimeField(blank=True, null=True, verbose_name="last message of ours")),
                ("last_human_at", models.DateTimeField(blank=True, null=True, verbose_name="last human sign")),
            ],
            options={
                "verbose_name": "conversation",
                "verbose_name_plural": "conversations",
            },
        ),
        migrations.CreateModel(
            name="ConversationEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("version", models.BigIntegerField()),
                ("id", models.BigIntegerField()),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("changed_in", models.BigIntegerField(default=0, editable=False)),
                ("peer", models.CharField(max_length=254, verbose_name="address")),
                ("reply_to", models.CharField(max_length=254, verbose_name="answers go to")),
                (
                    "medium",
                    models.CharField(
                        choices=[
                            ("webchat", "web chat"),
                            ("whatsapp", "WhatsApp"),
                            ("sms", "SMS"),
                            ("email", "e-mail"),
                        ],
                        max_length=10,
                        verbose_name="channel",
                    ),
                ),
                ("title", models.CharField(max_length=300, verbose_name="about")),
                ("language", models.CharField(blank=True, max_length=8, verbose_name="language")),
                (
                    "status",
                    models.CharField(
                        choices=[("open", "open"), ("closed", "closed")],
                        default="open",
                        max_length=6,
                        verbose_name="state",
                    ),
                ),
                (
                    "owner_kind",
                    models.CharField(
                        choices=[("agent", "agent"), ("person", "person")],
                        default="agent",
                        max_length=6,
                        verbose_name="answered by",
                    ),
                ),
                ("owner_epoch", models.BigIntegerField(default=1, verbose_name="epoch")),
                ("handed_over", models.CharField(blank=True, max_length=30, verbose_name="why a person")),
                ("inbound_count", models.BigIntegerField(default=0, verbose_name="messages of the customer")),
                ("answered_count", models.BigIntegerField(default=0, verbose_name="of them answered")),
                ("waiting_since", models.DateTimeField(blank=True, null=True, verbose_name="waiting since")),
                (
                    "last_inbound_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="last message of the customer"),
                ),
                ("last_outbound_at", models.DateTimeField(blank=True, null=True, verbose_name="last message of ours")),
                ("last_human_at", models.DateTimeField(blank=True, null=True, verbose_name="last human sign")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("subject_version", models.BigIntegerField(default=0, editable=False, verbose_name="version")),
                (
                    "direction",
                    models.CharField(
                        choices=[("in", "received"), ("out", "sent"), ("note", "note")],
                        max_length=4,
                        verbose_name="direction",
                    ),
                ),
                ("number", models.BigIntegerField(blank=True, null=True)),
                ("at", models.DateTimeField(verbose_name="when")),
                ("sent_at", models.DateTimeField(blank=True, null=True, verbose_name="the sender's time")),
                ("made_by", models.CharField(max_length=200, verbose_name="written by")),
                ("text", models.TextField(blank=True, verbose_name="text")),
                ("media", models.JSONField(blank=True, default=list, verbose_name="attachments")),
                ("provider_id", models.CharField(blank=True, max_length=255)),
                ("automatic", models.BooleanField(default=False, verbose_name="automatic")),
                ("late", models.BooleanField(default=False, verbose_name="came late")),
                ("headers", models.JSONField(blank=True, default=dict)),
                ("outbox_key", models.CharField(blank=True, max_length=200)),
                ("answers_up_to", models.BigIntegerField(blank=True, null=True)),
                ("withdrawn", models.BooleanField(default=False, verbose_name="taken back")),
            ],
            options={
                "verbose_name": "message",
                "verbose_name_plural": "messages",
                "ordering": ["at", "id"],
            },
        ),
        migrations.CreateModel(
            name="MessageEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("subject_version", models.BigIntegerField(default=0, editable=False, verbose_name="version")),
                (
                    "direction",
                    models.CharField(
                        choices=[("in", "received"), ("out", "sent"), ("note", "note")],
                        max_length=4,
                        verbose_name="direction",
                    ),
                ),
                ("number", models.BigIntegerField(blank=True, null=True)),
                ("at", models.DateTimeField(verbose_name="when")),
                ("sent_at", models.DateTimeField(blank=True, null=True, verbose_name="the sender's time")),
                ("made_by", models.CharField(max_length=200, verbose_name="written by")),
                ("text", models.TextField(blank=True, verbose_name="text")),
                ("media", models.JSONField(blank=True, default=list, verbose_name="attachments")),
                ("provider_id", models.CharField(blank=True, max_length=255)),
                ("automatic", models.BooleanField(default=False, verbose_name="automatic")),
                ("late", models.BooleanField(default=False, verbose_name="came late")),
                ("headers", models.JSONField(blank=True, default=dict)),
                ("outbox_key", models.CharField(blank=True, max_length=200)),
                ("answers_up_to", models.BigIntegerField(blank=True, null=True)),
                ("withdrawn", models.BooleanField(default=False, verbose_name="taken back")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="MessageReport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("provider_id", models.CharField(max_length=255)),
                ("key", models.CharField(blank=True, max_length=200)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("sent", "sent"),
                            ("delivered", "delivered"),
                            ("read", "read"),
                            ("failed", "not delivered"),
                        ],
                        max_length=9,
                        verbose_name="state",
                    ),
                ),
                ("at", models.DateTimeField(null=True, verbose_name="when")),
                ("error", models.CharField(blank=True, max_length=200, verbose_name="error")),
                ("noted_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "verbose_name": "delivery report",
                "verbose_name_plural": "delivery reports",
            },
        ),
        migrations.CreateModel(
            name="MessageTemplate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("version", concurrency.fields.AutoIncVersionField(default=0, help_text="record revision number")),
                ("changed_in", models.BigIntegerField(default=0, editable=False)),
                ("slug", models.SlugField(max_length=60, verbose_name="short name")),
                ("name", models.CharField(max_length=120, verbose_name="name")),
                ("language", models.CharField(max_length=8, verbose_name="language")),
                (
                    "medium",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("webchat", "web chat"),
                            ("whatsapp", "WhatsApp"),
                            ("sms", "SMS"),
                            ("email", "e-mail"),
                        ],
                        max_length=10,
                        verbose_name="channel",
                    ),
                ),
                ("text", models.TextField(verbose_name="text")),
                (
                    "approved_as",
                    models.CharField(blank=True, max_length=120, verbose_name="approved by the provider as"),
                ),
                ("active", models.BooleanField(default=True, verbose_name="in use")),
            ],
            options={
                "verbose_name": "message template",
                "verbose_name_plural": "message templates",
                "ordering": ["name", "language"],
            },
        ),
        migrations.CreateModel(
            name="MessageTemplateEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("version", models.BigIntegerField()),
                ("id", models.BigIntegerField()),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("changed_in", models.BigIntegerField(default=0, editable=False)),
                ("slug", models.SlugField(db_index=False, max_length=60, verbose_name="short name")),
                ("name", models.CharField(max_length=120, verbose_name="name")),
                ("language", models.CharField(max_length=8, verbose_name="language")),
                (
                    "medium",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("webchat", "web chat"),
                            ("whatsapp", "WhatsApp"),
                            ("sms", "SMS"),
                            ("email", "e-mail"),
                        ],
                        max_length=10,
                        verbose_name="channel",
                    ),
                ),
                ("text", models.TextField(verbose_name="text")),
                (
                    "approved_as",
                    models.CharField(blank=True, max_length=120, verbose_name="approved by the provider as"),
                ),
                ("active", models.BooleanField(default=True, verbose_name="in use")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddConstraint(
            model_name="channelaccount",
            constraint=models.UniqueConstraint(fields=("provider", "address"), name="one_account_per_address"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="channelaccount",
            trigger=pgtrigger.compiler.Trigger(
                name="guard",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    \n    IF TG_OP = 'DELETE' THEN\n        RAISE EXCEPTION '% % may not be deleted: deleting is a change of state', TG_TABLE_NAME, OLD.id\n            USING ERRCODE = 'VG002';\n    END IF;\n\n    IF TG_OP = 'UPDATE' AND (NEW.version IS DISTINCT FROM OLD.version + 1 OR NEW.id <> OLD.id) THEN\n        RAISE EXCEPTION '% % is at version %, the write says %', TG_TABLE_NAME, OLD.id, OLD.version, NEW.version\n            USING ERRCODE = 'VG001';\n    END IF;\n    IF TG_OP = 'INSERT' AND NEW.version <> 1 THEN\n        RAISE EXCEPTION '% % would begin at version %: it was loaded once and is gone',\n            TG_TABLE_NAME, NEW.id, NEW.version USING ERRCODE = 'VG001';\n    END IF;\n    \n    NEW.changed_by := coalesce(nullif(current_setting('vigente.actor', true), ''),\n                               'system:' || session_user || ':' || session_user);\n    NEW.changed_at := clock_timestamp();\n\n    NEW.changed_in := pg_current_xact_id()::text::bigint;\n    RETURN NEW;\n",
                    hash="660d5592fc3c85ede8fb297c5ef73b3b500c59f0",
                    operation="INSERT OR UPDATE OR DELETE",
                    pgid="pgtrigger_guard_a1514",
                    table="crm_channelaccount",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="channelaccount",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "crm_channelaccountevent" ("active", "address", "agent_answers", "cap_seconds", "changed_at", "changed_by", "changed_in", "closes_at", "contact_from", "contact_until", "flush_at", "give_back_minutes", "id", "language", "medium", "name", "open_days", "opens_at", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "quiet_seconds", "time_zone", "version") VALUES (NEW."active", NEW."address", NEW."agent_answers", NEW."cap_seconds", NEW."changed_at", NEW."changed_by", NEW."changed_in", NEW."closes_at", NEW."contact_from", NEW."contact_until", NEW."flush_at", NEW."give_back_minutes", NEW."id", NEW."language", NEW."medium", NEW."name", NEW."open_days", NEW."opens_at", NOW(), \'insert\', NEW."id", NEW."provider", NEW."quiet_seconds", NEW."time_zone", NEW."version"); RETURN NULL;',
                    hash="dd024f830483db11f596261c4b4339e95739ab37",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_d67c8",
                    table="crm_channelaccount",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="channelaccount",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "crm_channelaccountevent" ("active", "address", "agent_answers", "cap_seconds", "changed_at", "changed_by", "changed_in", "closes_at", "contact_from", "contact_until", "flush_at", "give_back_minutes", "id", "language", "medium", "name", "open_days", "opens_at", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "quiet_seconds", "time_zone", "version") VALUES (NEW."active", NEW."address", NEW."agent_answers", NEW."cap_seconds", NEW."changed_at", NEW."changed_by", NEW."changed_in", NEW."closes_at", NEW."contact_from", NEW."contact_until", NEW."flush_at", NEW."give_back_minutes", NEW."id", NEW."language", NEW."medium", NEW."name", NEW."open_days", NEW."opens_at", NOW(), \'update\', NEW."id", NEW."provider", NEW."quiet_seconds", NEW."time_zone", NEW."version"); RETURN NULL;',
                    hash="9950636a39243384e00f98fc8808e1dbbad5dcf3",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_d8193",
                    table="crm_channelaccount",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddField(
            model_name="channelaccountevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="events",
                to="crm.channelaccount",
            ),
        ),
        migrations.CreateModel(
            name="ReplyTimer",
            fields=[
                (
                    "conversation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="timer",
                        serialize=False,
                        to="crm.conversation",
                    ),
                ),
                ("counter", models.BigIntegerField()),
                ("due_at", models.DateTimeField(null=True, verbose_name="due")),
                ("drops", models.PositiveSmallIntegerField(default=0, verbose_name="drafts dropped in a row")),
                ("failures", models.PositiveSmallIntegerField(default=0, verbose_name="failed turns in a row")),
                ("rung_at", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "reply timer",
                "verbose_name_plural": "reply timers",
            },
        ),
        migrations.AddField(
            model_name="conversation",
            name="account",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="conversations", to="crm.channelaccount"
            ),
        ),
        migrations.AddField(
            model_name="conversation",
            name="contact",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="conversations",
                to="crm.contact",
                verbose_name="contact",
            ),
        ),
        migrations.AddField(
            model_name="conversation",
            name="opportunity",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="conversations",
                to="crm.opportunity",
                verbose_name="deal",
            ),
        ),
        migrations.AddField(
            model_name="conversation",
            name="owner",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="conversations",
                to=settings.AUTH_USER_MODEL,
                verbose_name="person",
            ),
        ),
        migrations.AddField(
            model_name="conversationevent",
            name="account",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="crm.channelaccount",
            ),
        ),
        migrations.AddField(
            model_name="conversationevent",
            name="contact",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="crm.contact",
                verbose_name="contact",
            ),
        ),
        migrations.AddField(
            model_name="conversationevent",
            name="opportunity",
            field=models.ForeignKey(
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
        migrations.AddField(
            model_name="conversationevent",
            name="owner",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to=settings.AUTH_USER_MODEL,
                verbose_name="person",
            ),
        ),
        migrations.AddField(
            model_name="conversationevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="events",
                to="crm.conversation",
            ),
        ),
        migrations.AddField(
            model_name="message",
            name="account",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="crm.channelaccount"
            ),
        ),
        migrations.AddField(
            model_name="message",
            name="conversation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="messages", to="crm.conversation"
            ),
        ),
        migrations.AddField(
            model_name="messageevent",
            name="account",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="crm.channelaccount",
            ),
        ),
        migrations.AddField(
            model_name="messageevent",
            name="conversation",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="crm.conversation",
            ),
        ),
        migrations.AddField(
            model_name="messageevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="events",
                to="crm.message",
            ),
        ),
        migrations.AddField(
            model_name="messagereport",
            name="account",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="crm.channelaccount"
            ),
        ),
        migrations.AddField(
            model_name="messagetemplate",
            name="stage",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="templates",
                to="crm.stage",
                verbose_name="stage",
            ),
        ),
        migrations.AddField(
            model_name="messagetemplateevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="events",
                to="crm.messagetemplate",
            ),
        ),
        migrations.AddField(
            model_name="messagetemplateevent",
            name="stage",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="crm.stage",
                verbose_name="stage",
            ),
        ),
        migrations.AddIndex(
            model_name="channelaccountevent",
            index=models.Index(fields=["pgh_obj", "version"], name="channelaccount_event_version"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="channelaccountevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="cdf81d760d4a1a0a271fb768eaf54ab1756a5b1a",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_27f24",
                    table="crm_channelaccountevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="replytimer",
            index=models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="timer_due"),
        ),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(fields=["waiting_since", "id"], name="conversation_waiting"),
        ),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(fields=["owner_kind", "owner", "-last_inbound_at"], name="conversation_by_owner"),
        ),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(fields=["contact", "-last_inbound_at"], name="conversation_of_contact"),
        ),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(fields=["opportunity"], name="conversation_of_deal"),
        ),
        migrations.AddConstraint(
            model_name="conversation",
            constraint=models.UniqueConstraint(fields=("account", "peer"), name="one_conversation_per_peer"),
        ),
        migrations.AddConstraint(
            model_name="conversation",
            constraint=models.CheckConstraint(
                condition=models.Q(("answered_count__lte", models.F("inbound_count"))), name="answered_what_came"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="conversation",
            trigger=pgtrigger.compiler.Trigger(
                name="guard",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    \n    IF TG_OP = 'DELETE' THEN\n        RAISE EXCEPTION '% % may not be deleted: deleting is a change of state', TG_TABLE_NAME, OLD.id\n            USING ERRCODE = 'VG002';\n    END IF;\n\n    IF TG_OP = 'UPDATE' AND (NEW.version IS DISTINCT FROM OLD.version + 1 OR NEW.id <> OLD.id) THEN\n        RAISE EXCEPTION '% % is at version %, the write says %', TG_TABLE_NAME, OLD.id, OLD.version, NEW.version\n            USING ERRCODE = 'VG001';\n    END IF;\n    IF TG_OP = 'INSERT' AND NEW.version <> 1 THEN\n        RAISE EXCEPTION '% % would begin at version %: it was loaded once and is gone',\n            TG_TABLE_NAME, NEW.id, NEW.version USING ERRCODE = 'VG001';\n    END IF;\n    \n    NEW.changed_by := coalesce(nullif(current_setting('vigente.actor', true), ''),\n                               'system:' || session_user || ':' || session_user);\n    NEW.changed_at := clock_timestamp();\n\n    NEW.changed_in := pg_current_xact_id()::text::bigint;\n    RETURN NEW;\n",
                    hash="b62d10dd6b441436bf81f9f4ef481b999ee7db12",
                    operation="INSERT OR UPDATE OR DELETE",
                    pgid="pgtrigger_guard_de90c",
                    table="crm_conversation",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="conversation",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "crm_conversationevent" ("account_id", "answered_count", "changed_at", "changed_by", "changed_in", "contact_id", "handed_over", "id", "inbound_count", "language", "last_human_at", "last_inbound_at", "last_outbound_at", "medium", "opportunity_id", "owner_epoch", "owner_id", "owner_kind", "peer", "pgh_created_at", "pgh_label", "pgh_obj_id", "reply_to", "status", "title", "version", "waiting_since") VALUES (NEW."account_id", NEW."answered_count", NEW."changed_at", NEW."changed_by", NEW."changed_in", NEW."contact_id", NEW."handed_over", NEW."id", NEW."inbound_count", NEW."language", NEW."last_human_at", NEW."last_inbound_at", NEW."last_outbound_at", NEW."medium", NEW."opportunity_id", NEW."owner_epoch", NEW."owner_id", NEW."owner_kind", NEW."peer", NOW(), \'insert\', NEW."id", NEW."reply_to", NEW."status", NEW."title", NEW."version", NEW."waiting_since"); RETURN NULL;',
                    hash="6a35391f972ee8b646205ddcc2d439c736c95060",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_f8976",
                    table="crm_conversation",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="conversation",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "crm_conversationevent" ("account_id", "answered_count", "changed_at", "changed_by", "changed_in", "contact_id", "handed_over", "id", "inbound_count", "language", "last_human_at", "last_inbound_at", "last_outbound_at", "medium", "opportunity_id", "owner_epoch", "owner_id", "owner_kind", "peer", "pgh_created_at", "pgh_label", "pgh_obj_id", "reply_to", "status", "title", "version", "waiting_since") VALUES (NEW."account_id", NEW."answered_count", NEW."changed_at", NEW."changed_by", NEW."changed_in", NEW."contact_id", NEW."handed_over", NEW."id", NEW."inbound_count", NEW."language", NEW."last_human_at", NEW."last_inbound_at", NEW."last_outbound_at", NEW."medium", NEW."opportunity_id", NEW."owner_epoch", NEW."owner_id", NEW."owner_kind", NEW."peer", NOW(), \'update\', NEW."id", NEW."reply_to", NEW."status", NEW."title", NEW."version", NEW."waiting_since"); RETURN NULL;',
                    hash="9568fb76a1b9764fe1c2e65471afbaab50af9f8d",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_9e80f",
                    table="crm_conversation",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="conversationevent",
            index=models.Index(fields=["pgh_obj", "version"], name="conversation_event_version"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="conversationevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="21079692bb0a66188250a6380551ce8ea8a9dd5d",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_e021f",
                    table="crm_conversationevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(fields=["conversation", "at", "id"], name="message_in_thread"),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(fields=["conversation", "number"], name="message_by_number"),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                condition=models.Q(("outbox_key", ""), _negated=True),
                fields=["outbox_key"],
                name="message_by_outbox_key",
            ),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.UniqueConstraint(
                condition=models.Q(("provider_id", ""), _negated=True),
                fields=("account", "provider_id"),
                name="one_message_per_provider_id",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="message",
            trigger=pgtrigger.compiler.Trigger(
                name="guard",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    declare="DECLARE subject_version bigint; subject_changed_in bigint;",
                    func="\n    \n    IF TG_OP = 'DELETE' THEN\n        RAISE EXCEPTION '% % may not be deleted: deleting is a change of state', TG_TABLE_NAME, OLD.id\n            USING ERRCODE = 'VG002';\n    END IF;\n\n    IF TG_OP = 'UPDATE' AND NEW.conversation_id IS DISTINCT FROM OLD.conversation_id THEN\n        RAISE EXCEPTION '% % belongs to another subject', TG_TABLE_NAME, OLD.id USING ERRCODE = 'VG003';\n    END IF;\n    SELECT s.version, s.changed_in INTO subject_version, subject_changed_in\n      FROM crm_conversation s WHERE s.id = NEW.conversation_id;\n    IF subject_changed_in IS DISTINCT FROM pg_current_xact_id()::text::bigint THEN\n        RAISE EXCEPTION '% of crm_conversation % written without raising its version', TG_TABLE_NAME, NEW.conversation_id\n            USING ERRCODE = 'VG003';\n    END IF;\n    \n    NEW.changed_by := coalesce(nullif(current_setting('vigente.actor', true), ''),\n                               'system:' || session_user || ':' || session_user);\n    NEW.changed_at := clock_timestamp();\n\n    NEW.subject_version := subject_version;\n    RETURN NEW;\n",
                    hash="f8018bdd5b4c772a7d12898317d6f31365a695b9",
                    operation="INSERT OR UPDATE OR DELETE",
                    pgid="pgtrigger_guard_73eb6",
                    table="crm_message",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="message",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "crm_messageevent" ("account_id", "answers_up_to", "at", "automatic", "changed_at", "changed_by", "conversation_id", "direction", "headers", "id", "late", "made_by", "media", "number", "outbox_key", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider_id", "sent_at", "subject_version", "text", "withdrawn") VALUES (NEW."account_id", NEW."answers_up_to", NEW."at", NEW."automatic", NEW."changed_at", NEW."changed_by", NEW."conversation_id", NEW."direction", NEW."headers", NEW."id", NEW."late", NEW."made_by", NEW."media", NEW."number", NEW."outbox_key", NOW(), \'insert\', NEW."id", NEW."provider_id", NEW."sent_at", NEW."subject_version", NEW."text", NEW."withdrawn"); RETURN NULL;',
                    hash="08ff1067abd94c1c1f8095859f04f6b4f838af10",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_8847e",
                    table="crm_message",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="message",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "crm_messageevent" ("account_id", "answers_up_to", "at", "automatic", "changed_at", "changed_by", "conversation_id", "direction", "headers", "id", "late", "made_by", "media", "number", "outbox_key", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider_id", "sent_at", "subject_version", "text", "withdrawn") VALUES (NEW."account_id", NEW."answers_up_to", NEW."at", NEW."automatic", NEW."changed_at", NEW."changed_by", NEW."conversation_id", NEW."direction", NEW."headers", NEW."id", NEW."late", NEW."made_by", NEW."media", NEW."number", NEW."outbox_key", NOW(), \'update\', NEW."id", NEW."provider_id", NEW."sent_at", NEW."subject_version", NEW."text", NEW."withdrawn"); RETURN NULL;',
                    hash="ca14baedfcebc9620d02dd652aaebcbc56549211",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_f9c69",
                    table="crm_message",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="messageevent",
            index=models.Index(fields=["conversation", "subject_version"], name="message_event_version"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="messageevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="40cbcfc0b538298f948cd63d73e07162806ac584",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_0296a",
                    table="crm_messageevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="messagereport",
            index=models.Index(condition=models.Q(("key", ""), _negated=True), fields=["key"], name="report_by_key"),
        ),
        migrations.AddConstraint(
            model_name="messagereport",
            constraint=models.UniqueConstraint(fields=("account", "provider_id"), name="one_report_per_provider_id"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="messagereport",
            trigger=pgtrigger.compiler.Trigger(
                name="forward",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    declare="DECLARE _is_valid_transition BOOLEAN;",
                    func='SELECT CONCAT(OLD."state", \':\', NEW."state") = ANY(\'{sent:delivered,sent:failed,sent:read,delivered:read}\'::text[]) INTO _is_valid_transition; IF (_is_valid_transition IS FALSE AND OLD."state" IS DISTINCT FROM NEW."state") THEN RAISE EXCEPTION \'pgtrigger: Invalid transition of field "state" from "%" to "%" on table %\', OLD."state", NEW."state", TG_TABLE_NAME; ELSE RETURN NEW; END IF;',
                    hash="6aa21e8b5d98a5647b6e28c05e0ce571727d399e",
                    operation="UPDATE",
                    pgid="pgtrigger_forward_5808c",
                    table="crm_messagereport",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="messagetemplate",
            constraint=models.UniqueConstraint(
                fields=("slug", "language", "stage", "medium"), name="one_template_per_use", nulls_distinct=False
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="messagetemplate",
            trigger=pgtrigger.compiler.Trigger(
                name="guard",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    \n    IF TG_OP = 'DELETE' THEN\n        RAISE EXCEPTION '% % may not be deleted: deleting is a change of state', TG_TABLE_NAME, OLD.id\n            USING ERRCODE = 'VG002';\n    END IF;\n\n    IF TG_OP = 'UPDATE' AND (NEW.version IS DISTINCT FROM OLD.version + 1 OR NEW.id <> OLD.id) THEN\n        RAISE EXCEPTION '% % is at version %, the write says %', TG_TABLE_NAME, OLD.id, OLD.version, NEW.version\n            USING ERRCODE = 'VG001';\n    END IF;\n    IF TG_OP = 'INSERT' AND NEW.version <> 1 THEN\n        RAISE EXCEPTION '% % would begin at version %: it was loaded once and is gone',\n            TG_TABLE_NAME, NEW.id, NEW.version USING ERRCODE = 'VG001';\n    END IF;\n    \n    NEW.changed_by := coalesce(nullif(current_setting('vigente.actor', true), ''),\n                               'system:' || session_user || ':' || session_user);\n    NEW.changed_at := clock_timestamp();\n\n    NEW.changed_in := pg_current_xact_id()::text::bigint;\n    RETURN NEW;\n",
                    hash="aa38b9413bd0b809c77ba75351d6a3685b43a72b",
                    operation="INSERT OR UPDATE OR DELETE",
                    pgid="pgtrigger_guard_1c14a",
                    table="crm_messagetemplate",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="messagetemplate",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "crm_messagetemplateevent" ("active", "approved_as", "changed_at", "changed_by", "changed_in", "id", "language", "medium", "name", "pgh_created_at", "pgh_label", "pgh_obj_id", "slug", "stage_id", "text", "version") VALUES (NEW."active", NEW."approved_as", NEW."changed_at", NEW."changed_by", NEW."changed_in", NEW."id", NEW."language", NEW."medium", NEW."name", NOW(), \'insert\', NEW."id", NEW."slug", NEW."stage_id", NEW."text", NEW."version"); RETURN NULL;',
                    hash="42d1edbfac2e04646c8b30e581c601f89d77a211",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_f7cfb",
                    table="crm_messagetemplate",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="messagetemplate",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "crm_messagetemplateevent" ("active", "approved_as", "changed_at", "changed_by", "changed_in", "id", "language", "medium", "name", "pgh_created_at", "pgh_label", "pgh_obj_id", "slug", "stage_id", "text", "version") VALUES (NEW."active", NEW."approved_as", NEW."changed_at", NEW."changed_by", NEW."changed_in", NEW."id", NEW."language", NEW."medium", NEW."name", NOW(), \'update\', NEW."id", NEW."slug", NEW."stage_id", NEW."text", NEW."version"); RETURN NULL;',
                    hash="77672c08f1bfd4a8a80b2adeb2c7801d301b6de7",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_6e46a",
                    table="crm_messagetemplate",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="messagetemplateevent",
            index=models.Index(fields=["pgh_obj", "version"], name="messagetemplate_event_version"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="messagetemplateevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="cc247da7121c0aaef9b7c1e66cee6de11785596c",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_093df",
                    table="crm_messagetemplateevent",
                    when="BEFORE",
                ),
            ),
        ),
    ]
