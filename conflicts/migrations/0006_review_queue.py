from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("conflicts", "0005_ledger_outbound")]

    operations = []
