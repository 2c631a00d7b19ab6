import concurrency.fields
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conflicts", "0005_ledger_outbound"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AuthorityLevel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("version", concurrency.fields.AutoIncVersionField(default=0, help_text="record revision number")),
                ("changed_in", models.BigIntegerField(default=0, editable=False)),
                ("role", models.CharField(max_length=40, unique=True, verbose_name="role")),
                (
                    "amount",
                    models.DecimalField(
                        blank=True, decimal_places=2, max_digits=14, null=True, verbose_name="amounts up to"
                    ),
                ),
                ("currency", models.CharField(max_length=3, verbose_name="currency")),
                (
                    "discount",
                    models.DecimalField(
                        decimal_places=2, default=0, max_digits=5, verbose_name="discounts up to, in percent"
                    ),
                ),
                ("legal", models.BooleanField(default=False, verbose_name="legal terms")),
                ("note", models.CharField(blank=True, max_length=200, verbose_name="agreed with")),
            ],
            options={
                "verbose_name": "authority level",
                "verbose_name_plural": "authority levels",
            },
        ),
        migrations.CreateModel(
            name="AuthorityLevelEvent",
            fields=[
                ("version", models.BigIntegerField()),
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("changed_in", models.BigIntegerField(default=0, editable=False)),
                ("role", models.CharField(max_length=40, verbose_name="role")),
                (
                    "amount",
                    models.DecimalField(
                        blank=True, decimal_places=2, max_digits=14, null=True, verbose_name="amounts up to"
                    ),
                ),
                ("currency", models.CharField(max_length=3, verbose_name="currency")),
                (
                    "discount",
                    models.DecimalField(
                        decimal_places=2, default=0, max_digits=5, verbose_name="discounts up to, in percent"
                    ),
                ),
                ("legal", models.BooleanField(default=False, verbose_name="legal terms")),
                ("note", models.CharField(blank=True, max_length=200, verbose_name="agreed with")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Decision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("version", concurrency.fields.AutoIncVersionField(default=0, help_text="record revision number")),
                ("changed_in", models.BigIntegerField(default=0, editable=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("drop", "dropped"),
                            ("apply", "applied on the version in force"),
                            ("edit", "changed and applied"),
                            ("ask_again", "the agent asked again"),
                            ("hand_over", "handed over"),
                            ("escalate", "moved up: the deadline had passed"),
                        ],
                        max_length=9,
                        verbose_name="decision",
                    ),
                ),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("still_right", "looked at it: still right"),
                            ("agreed", "agreed with those concerned"),
                            ("overtaken", "overtaken by what happened"),
                            ("mistake", "meant by mistake"),
                            ("elsewhere", "done in another way"),
                            ("knows_more", "somebody else knows more"),
                            ("overdue", "nobody had decided in time"),
                        ],
                        max_length=11,
                        verbose_name="reason",
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=300, verbose_name="in words")),
                ("revision", models.PositiveIntegerField(verbose_name="revision")),
                ("decided_on", models.BigIntegerField(null=True, verbose_name="decided on version")),
                ("before", models.JSONField(default=dict, verbose_name="before")),
            ],
            options={
                "verbose_name": "decision",
                "verbose_name_plural": "decisions",
            },
        ),
        migrations.CreateModel(
            name="DecisionEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("version", models.BigIntegerField()),
                ("id", models.BigIntegerField()),
                ("changed_at", models.DateTimeField(editable=False, null=True, verbose_name="changed at")),
                ("changed_by", models.CharField(default="", editable=False, max_length=200, verbose_name="changed by")),
                ("changed_in", models.BigIntegerField(default=0, editable=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("drop", "dropped"),
                            ("apply", "applied on the version in force"),
                            ("edit", "changed and applied"),
                            ("ask_again", "the agent asked again"),
                            ("hand_over", "handed over"),
                            ("escalate", "moved up: the deadline had passed"),
                        ],
                        max_length=9,
                        verbose_name="decision",
                    ),
                ),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("still_right", "looked at it: still right"),
                            ("agreed", "agreed with those concerned"),
                            ("overtaken", "overtaken by what happened"),
                            ("mistake", "meant by mistake"),
                            ("elsewhere", "done in another way"),
                            ("knows_more", "somebody else knows more"),
                            ("overdue", "nobody had decided in time"),
                        ],
                        max_length=11,
                        verbose_name="reason",
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=300, verbose_name="in words")),
                ("revision", models.PositiveIntegerField(verbose_name="revision")),
                ("decided_on", models.BigIntegerField(null=True, verbose_name="decided on version")),
                ("before", models.JSONField(default=dict, verbose_name="before")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.RemoveIndex(
            model_name="conflict",
            name="conflict_waiting",
        ),
        migrations.AddField(
            model_name="conflict",
            name="amount",
            field=models.DecimalField(blank=True, decimal_places=2, max_digits=14, null=True, verbose_name="amount"),
        ),
        migrations.AddField(
            model_name="conflict",
            name="currency",
            field=models.CharField(blank=True, max_length=3, verbose_name="currency"),
        ),
        migrations.AddField(
            model_name="conflict",
            name="escalated_at",
            field=models.DateTimeField(blank=True, null=True, verbose_name="moved up at"),
        ),
        migrations.AddField(
            model_name="conflict",
            name="level",
            field=models.PositiveSmallIntegerField(default=0, verbose_name="moved up"),
        ),
        migrations.AddField(
            model_name="conflict",
            name="needs",
            field=models.JSONField(blank=True, default=dict, verbose_name="authority needed"),
        ),
        migrations.AddField(
            model_name="conflict",
            name="revision",
            field=models.PositiveIntegerField(default=1, verbose_name="revision"),
        ),
        migrations.AddField(
            model_name="conflict",
            name="team_key",
            field=models.BigIntegerField(blank=True, null=True, verbose_name="team"),
        ),
        migrations.AddIndex(
            model_name="conflict",
            index=models.Index(
                condition=models.Q(("closed_at", None)), fields=["deadline", "id"], name="conflict_waiting"
            ),
        ),
        migrations.AddIndex(
            model_name="conflict",
            index=models.Index(
                condition=models.Q(("closed_at", None)),
                fields=["team_key", "deadline", "id"],
                name="conflict_waiting_by_team",
            ),
        ),
        migrations.AddConstraint(
            model_name="authoritylevel",
            constraint=models.CheckConstraint(
                condition=models.Q(("discount__gte", 0), ("discount__lte", 100)), name="authority_discount_is_a_share"
            ),
        ),
        migrations.AddConstraint(
            model_name="authoritylevel",
            constraint=models.CheckConstraint(
                condition=models.Q(("amount", None), ("amount__gte", 0), _connector="OR"),
                name="authority_amount_not_negative",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="authoritylevel",
            trigger=pgtrigger.compiler.Trigger(
                name="guard",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    \n    IF TG_OP = 'DELETE' THEN\n        RAISE EXCEPTION '% % may not be deleted: deleting is a change of state', TG_TABLE_NAME, OLD.id\n            USING ERRCODE = 'VG002';\n    END IF;\n\n    IF TG_OP = 'UPDATE' AND (NEW.version IS DISTINCT FROM OLD.version + 1 OR NEW.id <> OLD.id) THEN\n        RAISE EXCEPTION '% % is at version %, the write says %', TG_TABLE_NAME, OLD.id, OLD.version, NEW.version\n            USING ERRCODE = 'VG001';\n    END IF;\n    IF TG_OP = 'INSERT' AND NEW.version <> 1 THEN\n        RAISE EXCEPTION '% % would begin at version %: it was loaded once and is gone',\n            TG_TABLE_NAME, NEW.id, NEW.version USING ERRCODE = 'VG001';\n    END IF;\n    \n    NEW.changed_by := coalesce(nullif(current_setting('vigente.actor', true), ''),\n                               'system:' || session_user || ':' || session_user);\n    NEW.changed_at := clock_timestamp();\n\n    NEW.changed_in := pg_current_xact_id()::text::bigint;\n    RETURN NEW;\n",
                    hash="1ba5aa747a9295ea750c48104e665be850afa04e",
                    operation="INSERT OR UPDATE OR DELETE",
                    pgid="pgtrigger_guard_eefc4",
                    table="conflicts_authoritylevel",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="authoritylevel",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "conflicts_authoritylevelevent" ("amount", "changed_at", "changed_by", "changed_in", "currency", "discount", "id", "legal", "note", "pgh_created_at", "pgh_label", "pgh_obj_id", "role", "version") VALUES (NEW."amount", NEW."changed_at", NEW."changed_by", NEW."changed_in", NEW."currency", NEW."discount", NEW."id", NEW."legal", NEW."note", NOW(), \'insert\', NEW."id", NEW."role", NEW."version"); RETURN NULL;',
                    hash="3f36af76900ed19f556d2f14220a28e03004ce98",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_d86e1",
                    table="conflicts_authoritylevel",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="authoritylevel",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "conflicts_authoritylevelevent" ("amount", "changed_at", "changed_by", "changed_in", "currency", "discount", "id", "legal", "note", "pgh_created_at", "pgh_label", "pgh_obj_id", "role", "version") VALUES (NEW."amount", NEW."changed_at", NEW."changed_by", NEW."changed_in", NEW."currency", NEW."discount", NEW."id", NEW."legal", NEW."note", NOW(), \'update\', NEW."id", NEW."role", NEW."version"); RETURN NULL;',
                    hash="68d911907d3d989bfcff5c1a4837917e52c88455",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_7e50d",
                    table="conflicts_authoritylevel",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddField(
            model_name="authoritylevelevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="events",
                to="conflicts.authoritylevel",
            ),
        ),
        migrations.AddField(
            model_name="decision",
            name="conflict",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="decisions",
                to="conflicts.conflict",
                verbose_name="conflict",
            ),
        ),
        migrations.AddField(
            model_name="decision",
            name="to",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
                verbose_name="handed to",
            ),
        ),
        migrations.AddField(
            model_name="decisionevent",
            name="conflict",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="conflicts.conflict",
                verbose_name="conflict",
            ),
        ),
        migrations.AddField(
            model_name="decisionevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="events",
                to="conflicts.decision",
            ),
        ),
        migrations.AddField(
            model_name="decisionevent",
            name="to",
            field=models.ForeignKey(
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to=settings.AUTH_USER_MODEL,
                verbose_name="handed to",
            ),
        ),
        migrations.AddIndex(
            model_name="authoritylevelevent",
            index=models.Index(fields=["pgh_obj", "version"], name="authoritylevel_event_version"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="authoritylevelevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="42747c0a2ea46eedc9c3b22f0b98c80330e19399",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_4b04c",
                    table="conflicts_authoritylevelevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="decision",
            trigger=pgtrigger.compiler.Trigger(
                name="guard",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    \n    IF TG_OP = 'DELETE' THEN\n        RAISE EXCEPTION '% % may not be deleted: deleting is a change of state', TG_TABLE_NAME, OLD.id\n            USING ERRCODE = 'VG002';\n    END IF;\n\n    IF TG_OP = 'UPDATE' AND (NEW.version IS DISTINCT FROM OLD.version + 1 OR NEW.id <> OLD.id) THEN\n        RAISE EXCEPTION '% % is at version %, the write says %', TG_TABLE_NAME, OLD.id, OLD.version, NEW.version\n            USING ERRCODE = 'VG001';\n    END IF;\n    IF TG_OP = 'INSERT' AND NEW.version <> 1 THEN\n        RAISE EXCEPTION '% % would begin at version %: it was loaded once and is gone',\n            TG_TABLE_NAME, NEW.id, NEW.version USING ERRCODE = 'VG001';\n    END IF;\n    \n    NEW.changed_by := coalesce(nullif(current_setting('vigente.actor', true), ''),\n                               'system:' || session_user || ':' || session_user);\n    NEW.changed_at := clock_timestamp();\n\n    NEW.changed_in := pg_current_xact_id()::text::bigint;\n    RETURN NEW;\n",
                    hash="583f562ded5e1b7ab9deb3498a0b70d91963b94c",
                    operation="INSERT OR UPDATE OR DELETE",
                    pgid="pgtrigger_guard_ee94e",
                    table="conflicts_decision",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="decision",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "conflicts_decisionevent" ("before", "changed_at", "changed_by", "changed_in", "conflict_id", "decided_on", "id", "kind", "note", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "revision", "to_id", "version") VALUES (NEW."before", NEW."changed_at", NEW."changed_by", NEW."changed_in", NEW."conflict_id", NEW."decided_on", NEW."id", NEW."kind", NEW."note", NOW(), \'insert\', NEW."id", NEW."reason", NEW."revision", NEW."to_id", NEW."version"); RETURN NULL;',
                    hash="838548d4e438c91fd4c7c2f25b0f32453c046000",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_3c28a",
                    table="conflicts_decision",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="decision",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "conflicts_decisionevent" ("before", "changed_at", "changed_by", "changed_in", "conflict_id", "decided_on", "id", "kind", "note", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "revision", "to_id", "version") VALUES (NEW."before", NEW."changed_at", NEW."changed_by", NEW."changed_in", NEW."conflict_id", NEW."decided_on", NEW."id", NEW."kind", NEW."note", NOW(), \'update\', NEW."id", NEW."reason", NEW."revision", NEW."to_id", NEW."version"); RETURN NULL;',
                    hash="7c765fabb179ecef6437f928e0479ad5fbb429dc",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_9c3d2",
                    table="conflicts_decision",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="decisionevent",
            index=models.Index(fields=["pgh_obj", "version"], name="decision_event_version"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="decisionevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="a966fef3fd8c21d8a63f3ed0dfae0141c1aa2821",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_f5a59",
                    table="conflicts_decisionevent",
                    when="BEFORE",
                ),
            ),
        ),
    ]
