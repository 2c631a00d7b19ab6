from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("conflicts", "0006_review_queue")]

    operations = [
        migrations.AddIndex(
            model_name="conflict",
            index=models.Index(fields=["key"], name="conflict_of_key", condition=~models.Q(key="")),
        ),
        migrations.AlterField(
            model_name="leaseevent",
            name="kind",
            field=models.CharField(
                choices=[
                    ("granted", "granted"),
                    ("taken_over", "taken over after expiry"),
                    ("renewed", "renewed"),
                    ("released", "released"),
                    ("broken", "broken by a manager"),
                    ("lost", "lost"),
                    ("refused", "asked for in a way it cannot be had"),
                ],
                max_length=10,
                verbose_name="what",
            ),
        ),
    ]
