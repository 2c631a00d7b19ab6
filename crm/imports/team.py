"""People who sell, their managers and their teams.

Accounts are made without a password: an administrator gives it. Users and teams are no subjects (two people do not
work on one at the same time), so they do not go through the gate; an account that is here keeps its role.
"""

import re
import unicodedata
from collections.abc import Hashable, Sequence
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from crm import naming
from crm.imports import cells
from crm.imports.columns import Column
from crm.imports.kind import Kind, Row, author
from crm.imports.problems import BadCell
from crm.imports.report import Fate
from crm.models import Team, User
from crm.models.user import Role


class TeamKind(Kind):
    name = "team"
    columns = (
        Column(
            target="name", required=True, read=cells.line(200),
            words=("sales agent", "agent", "salesperson", "full name", "user", "employee", "nome", "vendedor",
                   "vendedora", "nome completo", "pessoa"),
        ),
        Column(target="email", read=cells.line(254), words=("e-mail", "mail", "email address", "correio")),
        Column(target="username", read=cells.line(150), words=("login", "user name", "usuário")),
        Column(target="manager", read=cells.line(200), words=("sales manager", "supervisor", "gerente", "gestor")),
        Column(target="team", read=cells.line(120), words=("team name", "equipe", "time")),
        Column(target="region", read=cells.line(120), words=("regional office", "office", "região", "escritório")),
    )  # fmt: skip

    def begin(self) -> None:
        author(self.options)  # an unknown --by is an error here too
        self.by_name: dict[str, list[User]] = {}
        self.by_login: dict[str, User] = {}
        for user in User.objects.all():
            self._remember(user)
        self.teams = {naming.key(team.name): team for team in Team.objects.all()}

    def key(self, row: Row) -> Hashable:
        key = naming.key(row.values["name"])
        if not key:
            raise BadCell(_("A name needs at least one letter or digit."), column="name")
        return row.values.get("email", "").lower() or key

    def handle(self, rows: Sequence[Row]) -> None:
        for row in rows:
            try:
                with transaction.atomic():
                    self._take(row)
                    if self.options.dry_run:
                        transaction.set_rollback(True)
            except BadCell as error:
                self.refuse(row, error)

    def _take(self, row: Row) -> None:
        values = row.values
        team = self._team(values)
        if "manager" in values:
            self._person(values["manager"], role=Role.MANAGER, team=team)
        self.report.mark(row.line, self._person(
            values["name"], role=Role.SALESPERSON, team=team,
            email=values.get("email", ""), username=values.get("username", ""),
        ))  # fmt: skip

    def _team(self, values: dict[str, Any]) -> Team | None:
        """That of the row, else that of its manager."""
        name = values.get("team") or (
            _("Team %(manager)s") % {"manager": values["manager"]} if "manager" in values else values.get("region")
        )
        if not name:
            return None
        name = name[:120]
        team = self.teams.get(naming.key(name))
        if team is None:
            team = Team(name=name, region=values.get("region", ""))
            if not self.options.dry_run:
                team.save()
                self.report.made.append(_("Made a team: %(name)s.") % {"name": name})
            self.teams[naming.key(name)] = team
        return team

    def _person(self, name: str, *, role: Role, team: Team | None, email: str = "", username: str = "") -> Fate:
        user = self._find(name, email=email, username=username)
        if user is not None:
            return self._place(user, team)
        first, _space, last = name.partition(" ")
        user = User(
            username=username or self._free_login(name),
            first_name=first[:150],
            last_name=last.strip()[:150],
            email=email,
            role=role,
            team=team,
        )
        user.set_unusable_password()
        if not self.options.dry_run:
            user.save()
        self._remember(user)
        if role == Role.MANAGER:
            self.report.made.append(_("Made an account for a manager: %(name)s.") % {"name": name})
        return Fate.CREATED

    def _find(self, name: str, *, email: str, username: str) -> User | None:
        for login in (email.lower(), username.lower()):
            if login and login in self.by_login:
                return self.by_login[login]
        if email:
            # The same name with another address is another person.
            return next((user for user in self.by_name.get(naming.key(name), []) if not user.email), None)
        found = self.by_name.get(naming.key(name), [])
        if len(found) > 1:
            raise BadCell(
                _("%(count)s people here have this name; an e-mail column tells which.") % {"count": len(found)},
                column="name",
            )
        return found[0] if found else None

    def _place(self, user: User, team: Team | None) -> Fate:
        """Into the team of the file. Somebody who leads a team stays in it."""
        if team is None or user.team_id == team.pk or (user.role != Role.SALESPERSON and user.team_id):
            return Fate.UNCHANGED
        user.team = team
        if not self.options.dry_run:
            user.save(update_fields=["team"])
        return Fate.CHANGED

    def _remember(self, user: User) -> None:
        self.by_name.setdefault(naming.key(user.get_full_name() or user.username), []).append(user)
        for login in (user.email.lower(), user.username.lower()):
            if login:
                self.by_login[login] = user

    def _free_login(self, name: str) -> str:
        """ "Mei-Mei Johns" -> mei-mei.johns, with a number where that is taken."""
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        base = re.sub(r"[^a-z0-9.-]+", "", re.sub(r"\s+", ".", plain.strip()))[:140] or "user"
        login, number = base, 2
        while login in self.by_login:
            login, number = f"{base}{number}", number + 1
        return login
