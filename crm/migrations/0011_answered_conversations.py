"""The inbox shows the conversations that wait, then the others, the last to move first: those have an index, too."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("crm", "0010_payment_key")]

    operations = [
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(
                fields=["status", "-changed_at", "-id"],
                condition=models.Q(waiting_since=None),
                name="conversation_answered",
            ),
        )
    ]
