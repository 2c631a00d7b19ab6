from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("crm", "0007_conversations")]

    operations = []
