from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("conflicts", "0006_review_queue")]

    operations = []
