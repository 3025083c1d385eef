"""``manage.py set_up``: migrates the database and creates an administrator and examples; safe to repeat."""

import secrets
from itertools import chain
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from portal.builtin import publish_builtin
from portal.delivery.static_files import collect_static_files
from portal.operations import pre_migration_copy
from registry.canonical import pinned_postings
from registry.identity import site_key
from registry.identity.actors import Actor
from registry.index.postings import reindex
from registry.models import Membership, Role, Team, User, Visibility
from registry.packages.limits import Limits
from registry.packages.problems import Refusal, code_named
from registry.packages.read_package import read_folder
from registry.versions.publishing.publish import publish

EXAMPLES = settings.BASE_DIR / "examples"


class Command(BaseCommand):
    help = "Create the database and an administrator, show the password once, and publish the example skills."

    def handle(self, *args: Any, **options: Any) -> None:
        if copy := pre_migration_copy.make():
            self.stdout.write(f"Copied the database to {copy} before its migration.")
        call_command("migrate", verbosity=0, interactive=False)
        call_command("createcachetable", verbosity=0)
        collect_static_files()
        site_key.record()
        for _ in chain(reindex(), pinned_postings.reindex()):
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
            "Created an administrator. Sign in with this password, which is shown once, and choose a new one:"
        )
        self.stdout.write(f"    name      admin\n    password  {password}")
        return user

    def _publish_builtin(self, administrator: User) -> None:
        if created := publish_builtin(Actor(user=administrator)):
            self.stdout.write(f"Published {created} skills that teach agents to use Skillquay.")

    def _publish_examples(self, team: Team, administrator: User) -> None:
        actor = Actor(user=administrator)
        created = 0
        for folder in sorted(path.parent for path in EXAMPLES.glob("*/SKILL.md")):
            try:
                package = read_folder(folder, limits=Limits())
                done = publish(
                    package, team=team, actor=actor, visibility=Visibility.PUBLIC, source="bundled"
                )
                created += done.created
            except Refusal as refused:
                if code_named(refused.code).retryable:  # the storage failed, not the example
                    raise
                self.stderr.write(f"Can't publish the example {folder.name}: {refused.code}: {refused}")
        if created:
            self.stdout.write(f"Published {created} example skills in the team examples.")
