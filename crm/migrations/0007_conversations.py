from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("crm", "0006_user_manager")]

    operations = []
