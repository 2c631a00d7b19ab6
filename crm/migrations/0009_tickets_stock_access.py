from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("crm", "0008_contracts_and_invoices")]

    operations = []
