from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("agents", "0003_replies")]

    operations = []
