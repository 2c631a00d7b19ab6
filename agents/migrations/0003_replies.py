from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("agents", "0002_autonomy_and_score")]

    operations = []
