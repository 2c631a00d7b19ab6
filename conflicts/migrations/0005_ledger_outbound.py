"""Which ledger entries had an effect outside. Those written before nobody can tell apart: where the outbox holds
anything, all of them are kept. The same holds for a release before this one that still runs beside it: it does not
name the column, and the database puts in that the entry is kept."""

from django.db import migrations, models

KEEP = "UPDATE conflicts_ledgerentry SET outbound = true WHERE EXISTS (SELECT FROM conflicts_outboxmessage)"

BESIDE = "ALTER TABLE conflicts_ledgerentry ALTER COLUMN outbound SET DEFAULT true"


class Migration(migrations.Migration):
    dependencies = [
        ("conflicts", "0004_jobs_and_outbox"),
    ]

    operations = [
        migrations.AddField(
            model_name="ledgerentry",
            name="outbound",
            field=models.BooleanField(default=False),
        ),
        migrations.RunSQL([KEEP, BESIDE], migrations.RunSQL.noop),
    ]
