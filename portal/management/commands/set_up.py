"""``manage.py set_up``: database, administrator and examples; done again, it changes nothing."""

from __future__ import annotations

import secrets
from itertools import chain
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from portal.builtin import publish_builtin
from registry.actors import Actor
from registry.canonical import indexed
from registry.indexing import reindex
from registry.models import Membership, Role, Team, User, Visibility
from registry.packages.limits import Limits
from registry.packages.problems import CODES, Refused
from registry.packages.reading import read_folder
from registry.publishing import publish
from registry.subscriptions import set_bundled

EXAMPLES = settings.BASE_DIR / "examples"


class Command(BaseCommand):
    help = "Make the database and an administrator (name and password shown once), publish the examples."

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        for _ in chain(reindex(), indexed.reindex()):
            pass
        administrator = self._administrator()
        team, _ = Team.objects.get_or_create(slug="examples", defaults={"name": "Examples"})
        Membership.objects.get_or_create(team=team, user=administrator, defaults={"role": Role.OWNER})
        self._publish_builtin(administrator)
        if settings.SKILLQUAY_EXAMPLES:
            self._publish_examples(team, administrator)

    def _administrator(self) -> User:
        if found := User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first():
            return found
        password = secrets.token_urlsafe(12)
        user = User.objects.create_superuser("admin", password=password, must_change_password=True)
        self.stdout.write(
            "An administrator was made. This is shown once; you choose a new password at sign-in:"
        )
        self.stdout.write(f"    name      admin\n    password  {password}")
        return user

    def _publish_builtin(self, administrator: User) -> None:
        if created := publish_builtin(Actor(user=administrator)):
            self.stdout.write(f"{created} skills that teach an agent to use Skillquay were published.")

    def _publish_examples(self, team: Team, administrator: User) -> None:
        actor = Actor(user=administrator)
        created = 0
        for folder in sorted(path.parent for path in EXAMPLES.glob("*/SKILL.md")):
            try:
                package = read_folder(folder, limits=Limits())
                done = publish(
                    package, team=team, actor=actor, visibility=Visibility.PUBLIC, source="bundled"
                )
                if done.created and done.version.skill.versions.count() == 1:
                    set_bundled(done.version.skill, True, actor)
                created += done.created
            except Refused as refused:
                if CODES[refused.code].retryable:  # not what the example is: what it was to be put into
                    raise
                self.stderr.write(f"example {folder.name}: {refused.code}: {refused}")
        if created:
            self.stdout.write(f"{created} example skills were published in team examples.")
