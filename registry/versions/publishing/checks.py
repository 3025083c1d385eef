"""The interface of checks that need matching and run at publication: phrase notices and trigger tests."""

from collections.abc import Sequence
from typing import Protocol

from registry.core.hooks import Hook
from registry.identity.actors import Actor
from registry.models import Skill, Team, Version
from registry.packages.package import Manifest, Package, PackageFile
from registry.packages.problems import Problem


class PublicationChecks(Protocol):
    """Checks that need matching. This is an interface because matching imports this package."""

    def phrase_notices(self, manifest: Manifest, team: Team, skill: Skill | None) -> tuple[Problem, ...]:
        """Notices about the trigger phrases of a package."""

    def has_tests(self, package: Package, skill: Skill | None) -> bool:
        """Whether the package or the skill has trigger tests."""

    def trigger_problems(
        self, version: Version, files: Sequence[PackageFile], actor: Actor, *, keep: bool = False
    ) -> tuple[Problem, ...]:
        """Problems that the trigger tests find. ``keep`` stores the results unless they block publication."""


checks_provider: Hook[[], PublicationChecks] = Hook()


def publication_checks() -> PublicationChecks:
    return checks_provider.send()[0]
