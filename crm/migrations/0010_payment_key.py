"""A payment is counted once however its provider and number were typed: the unique key is of the folded words.

Rows that are there get their key without raising their invoice's version: nothing of what they say has changed. Where
two spellings were counted before, both stay (a person has to look), and the first has the key.
"""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

from crm.naming import once


def fill(apps, schema_editor):
    payments = apps.get_model("crm", "Payment")._base_manager.using(schema_editor.connection.alias)
    events = apps.get_model("crm", "PaymentEvent")._base_manager.using(schema_editor.connection.alias)
    if not payments.exists():
        return
    with schema_editor.connection.cursor() as cursor:
        # The guards are for writers of the product; a key that is computed from the row is none of their business.
        for table in ("crm_payment", "crm_paymentevent"):
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        taken = set()
        for row in payments.order_by("pk"):
            key = once(row.provider, row.provider_key)
            key = once(key, str(row.pk)) if key in taken else key
            taken.add(key)
            payments.filter(pk=row.pk).update(once=key)
            events.filter(id=row.pk).update(once=key)
        for table in ("crm_payment", "crm_paymentevent"):
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


class Migration(migrations.Migration):
    dependencies = [
        ("crm", "0009_tickets_stock_access"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="payment",
            name="kept",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="payment",
            name="insert_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="payment",
            name="update_update",
        ),
        migrations.RemoveConstraint(
            model_name="payment",
            name="payment_once",
        ),
        migrations.AddField(
            model_name="payment",
            name="once",
            field=models.CharField(default="", editable=False, max_length=64),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="paymentevent",
            name="once",
            field=models.CharField(default="", editable=False, max_length=64),
            preserve_default=False,
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        pgtrigger.migrations.AddTrigger(
            model_name="payment",
            trigger=pgtrigger.compiler.Trigger(
                name="kept",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."provider" IS DISTINCT FROM (NEW."provider") OR OLD."provider_key" IS DISTINCT FROM (NEW."provider_key") OR OLD."once" IS DISTINCT FROM (NEW."once") OR OLD."amount" IS DISTINCT FROM (NEW."amount") OR OLD."at" IS DISTINCT FROM (NEW."at"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="6d250ce4cfaa2730dd8ce78bb8b9cad4a6a1e744",
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
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "crm_paymentevent" ("amount", "at", "changed_at", "changed_by", "doubt", "id", "installment_id", "invoice_id", "once", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "provider_key", "reason", "state", "subject_version") VALUES (NEW."amount", NEW."at", NEW."changed_at", NEW."changed_by", NEW."doubt", NEW."id", NEW."installment_id", NEW."invoice_id", NEW."once", NOW(), \'insert\', NEW."id", NEW."provider", NEW."provider_key", NEW."reason", NEW."state", NEW."subject_version"); RETURN NULL;',
                    hash="dffc5861c339c76d72a4a9072a06935b3e45df78",
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
                    func='INSERT INTO "crm_paymentevent" ("amount", "at", "changed_at", "changed_by", "doubt", "id", "installment_id", "invoice_id", "once", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "provider_key", "reason", "state", "subject_version") VALUES (NEW."amount", NEW."at", NEW."changed_at", NEW."changed_by", NEW."doubt", NEW."id", NEW."installment_id", NEW."invoice_id", NEW."once", NOW(), \'update\', NEW."id", NEW."provider", NEW."provider_key", NEW."reason", NEW."state", NEW."subject_version"); RETURN NULL;',
                    hash="12867c55151831fa5d0b6bbbb45ba30045fd0df7",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_b0d4f",
                    table="crm_payment",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="payment",
            constraint=models.UniqueConstraint(fields=("once",), name="payment_once"),
        ),
    ]
