"""All who changed a suggestion, not only the last: it is the proposal of each of them."""

from typing import Any

from django.db import migrations, models


def keep_the_last(apps: Any, schema_editor: Any) -> None:
    suggestions = apps.get_model("agents", "Recommendation").objects
    for editor in suggestions.exclude(edited_by="").values_list("edited_by", flat=True).distinct().order_by():
        suggestions.filter(edited_by=editor).update(editors=[editor])


class Migration(migrations.Migration):
    dependencies = [("agents", "0004_approvals")]

    operations = [
        migrations.AddField(
            model_name="recommendation",
            name="editors",
            field=models.JSONField(blank=True, default=list, verbose_name="all who changed it"),
        ),
        migrations.RunPython(keep_the_last, migrations.RunPython.noop, elidable=True),
    ]
