"""An index for the sectors of the list of companies: which there are, and the companies of one in order."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("crm", "0003_records_by_change_and_tag")]

    operations = [
        migrations.AddIndex(
            model_name="company",
            index=models.Index(fields=["sector", "name_key", "id"], name="company_by_sector"),
        ),
    ]
