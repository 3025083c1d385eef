"""A package on its way to a version, and what can be held against it before anything published is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from registry import texts
from registry.actors import Actor
from registry.models import Source, Team, Visibility
from registry.packages import versions
from registry.packages.package import Manifest, Package
from registry.packages.problems import Problem, Refused, problem, refuse
from registry.packages.repack import digest_of, repack
from registry.packages.trigger_tests import TRIGGERS_YAML
from registry.permissions import Action, require
from registry.publishing.channels import check_channel


@dataclass(frozen=True)
class Wishes:
    """What the publisher says beside the package; "" and None say nothing."""

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
    wishes: Wishes = field(default_factory=Wishes)

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
        """The package's; trigger tests that cannot be tried are errors where failing ones would block."""
        if not self.team.failing_triggers_block:
            return self.package.problems
        return tuple(
            replace(each, severity="error") if each.path == TRIGGERS_YAML else each
            for each in self.package.problems
        )

    @cached_property
    def changelog(self) -> str:
        return plain_changelog(self.wishes.changelog)


def problems_of_draft(draft: Draft) -> tuple[Problem, ...]:
    """What can be held against a draft without asking what is published already; all of it at once."""
    found = [each for each in draft.problems if each.severity == "error"]
    stated, asked = draft.manifest.version, draft.wishes.version
    if asked and not versions.normalise(asked):
        found.append(problem("VERSION_NUMBER_INVALID", path="version", version=asked[:80]))
    elif asked and stated and versions.normalise(asked) != stated:
        found.append(problem("VERSION_DIFFERS", path="version", stated=stated, asked=asked))
    for check in (_check_changelog, _check_visibility, _check_channel):
        try:
            check(draft)
        except Refused as refused:
            found += refused.problems
    return tuple(found)


def _check_changelog(draft: Draft) -> None:
    plain_changelog(draft.wishes.changelog)


def _check_visibility(draft: Draft) -> None:
    if draft.wishes.visibility:
        check_visibility(draft.wishes.visibility)


def _check_channel(draft: Draft) -> None:
    if draft.wishes.channel:
        check_channel(draft.wishes.channel)
        require(draft.actor, Action.SETTINGS, team=draft.team)


def check_visibility(visibility: str) -> None:
    if visibility not in Visibility.values:
        raise refuse("VISIBILITY_UNKNOWN", path="visibility", visibility=visibility[:80])


def plain_changelog(text: str) -> str:
    return texts.plain(text, field="changelog", most=20_000, may_be_empty=True)
