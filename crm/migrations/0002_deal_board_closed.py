"""An index for the board's closed columns: the newest won and lost deals first."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("crm", "0001_initial")]

    operations = [
        migrations.AddIndex(
            model_name="opportunity",
            index=models.Index(
                condition=models.Q(("status", "open"), _negated=True),
                fields=["stage", "-closed_on", "-id"],
                name="deal_board_closed",
            ),
        ),
    ]
