"""A package to publish with its options, and the checks that do not depend on published versions."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from registry.core import text as texts
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import Source, Team, Visibility
from registry.packages import version_numbers
from registry.packages.archive.repack import digest_of, repack
from registry.packages.checks.trigger_tests import TRIGGERS_YAML
from registry.packages.package import Manifest, Package
from registry.packages.problems import Problem, Refusal
from registry.versions.errors import VERSION_DIFFERS, VERSION_NUMBER_INVALID, VISIBILITY_UNKNOWN
from registry.versions.lifecycle.channels import check_channel


@dataclass(frozen=True)
class PublishOptions:
    """The options of a publication. None or an empty text stands for an option that is not set."""

    version: str | None = None
    visibility: str | None = None
    channel: str | None = None
    changelog: str = ""
    source: str = "upload"
    provenance: Mapping[str, object] | None = None
    origin: Source | None = None
    origin_path: str = ""


@dataclass(frozen=True)
class Draft:
    package: Package
    team: Team
    actor: Actor
    options: PublishOptions = field(default_factory=PublishOptions)

    @cached_property
    def archive(self) -> bytes:
        return repack(self.package.files)

    @cached_property
    def digest(self) -> str:
        return digest_of(self.archive)

    @property
    def manifest(self) -> Manifest:
        return self.package.manifest

    @property
    def label(self) -> str:
        return f"{self.team.slug}/{self.manifest.slug}"

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """The package's problems. If failing trigger tests block publication in the team, unreadable tests
        are errors.
        """
        if not self.team.failing_triggers_block:
            return self.package.problems
        return tuple(
            replace(each, severity="error") if each.path == TRIGGERS_YAML else each
            for each in self.package.problems
        )

    @cached_property
    def changelog(self) -> str:
        return validate_changelog(self.options.changelog)


def draft_errors(draft: Draft) -> tuple[Problem, ...]:
    """All errors of the draft that can be found without published versions. They come from the package and
    the options, and include missing permission to set the channel.
    """
    errors = [each for each in draft.problems if each.severity == "error"]
    stated, requested = draft.manifest.version, draft.options.version
    if requested and not version_numbers.normalise(requested):
        errors.append(VERSION_NUMBER_INVALID.problem(version=requested[:80]).at("version"))
    elif requested and stated and version_numbers.normalise(requested) != stated:
        errors.append(VERSION_DIFFERS.problem(stated=stated, asked=requested).at("version"))
    for check in (_check_changelog, _check_visibility, _check_channel):
        try:
            check(draft)
        except Refusal as refused:
            errors += refused.problems
    return tuple(errors)


def _check_changelog(draft: Draft) -> None:
    validate_changelog(draft.options.changelog)


def _check_visibility(draft: Draft) -> None:
    if draft.options.visibility:
        check_visibility(draft.options.visibility)


def _check_channel(draft: Draft) -> None:
    if draft.options.channel:
        check_channel(draft.options.channel)
        require(draft.actor, Action.RELEASE, team=draft.team)


def check_visibility(visibility: str) -> None:
    if visibility not in Visibility.values:
        raise VISIBILITY_UNKNOWN.refusal(visibility=visibility[:80]).at("visibility")


def validate_changelog(text: str) -> str:
    return texts.validated(text, field="changelog", max_length=20_000, allow_blank=True)
