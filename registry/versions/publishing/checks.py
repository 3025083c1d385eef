"""The interface of the checks at publication that need matching: phrase notices and trigger tests."""

from collections.abc import Sequence
from typing import Protocol

from registry.core.hooks import Hook
from registry.identity.actors import Actor
from registry.models import Skill, Team, Version
from registry.packages.package import Manifest, Package, PackageFile
from registry.packages.problems import Problem


class PublicationChecks(Protocol):
    """Checks of a package that need matching. This is an interface because matching imports this package."""

    def phrase_notices(self, manifest: Manifest, team: Team, skill: Skill | None) -> tuple[Problem, ...]:
        """A warning for each unusable trigger phrase, and a notice for each of the team's languages without a
        phrase.
        """

    def has_tests(self, package: Package, skill: Skill | None) -> bool:
        """Whether the package or the skill has trigger tests."""

    def trigger_problems(
        self, version: Version, files: Sequence[PackageFile], actor: Actor, *, keep: bool = False
    ) -> tuple[Problem, ...]:
        """The problems that the trigger tests of the package and the skill find. ``keep`` stores the test
        results, unless a problem blocks publication.
        """


checks_provider: Hook[[], PublicationChecks] = Hook()
# Checks that need interpreters or the site's limits for runs.
package_checks: Hook[[Package], tuple[Problem, ...]] = Hook()


def publication_checks() -> PublicationChecks:
    return checks_provider.send()[0]


def package_problems(package: Package) -> tuple[Problem, ...]:
    """The warnings and notices of all ``package_checks``. Takes up to several seconds."""
    return tuple(problem for problems in package_checks.send(package) for problem in problems)
