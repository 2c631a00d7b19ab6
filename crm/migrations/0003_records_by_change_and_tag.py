"""Indexes for the lists of companies and contacts: the last changed first, and those with a tag."""

from django.contrib.postgres.indexes import GinIndex
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("crm", "0002_deal_board_closed")]

    operations = [
        migrations.AddIndex(
            model_name="company",
            index=models.Index(fields=["-changed_at", "-id"], name="company_by_change"),
        ),
        migrations.AddIndex(model_name="company", index=GinIndex(fields=["tags"], name="company_by_tag")),
        migrations.AddIndex(
            model_name="contact",
            index=models.Index(fields=["-changed_at", "-id"], name="contact_by_change"),
        ),
        migrations.AddIndex(model_name="contact", index=GinIndex(fields=["tags"], name="contact_by_tag")),
    ]
