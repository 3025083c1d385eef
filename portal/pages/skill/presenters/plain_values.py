"""The values of a skill and a version from which the fragments of their pages are rendered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.template.defaultfilters import floatformat

from portal.presenters.skill.runnable_version import ProfileReport, RunnableVersion
from registry.models import Skill, Version
from registry.usage.scores import Score

_MAX_INTENTS = 20
_MAX_PHRASES = 5


@dataclass(frozen=True)
class TeamValues:
    slug: str
    name: str


@dataclass(frozen=True)
class SkillValues:
    team: TeamValues
    slug: str
    source: str

    def __str__(self) -> str:
        return f"{self.team.slug}/{self.slug}"


@dataclass(frozen=True)
class VersionValues:
    number: str
    digest: str
    profile: str
    created_at: datetime
    archive_size: int
    changelog: str
    provenance: Mapping[str, Any]
    is_held: bool


@dataclass(frozen=True)
class ErrorPlace:
    code: str
    path: str
    line: int | None


@dataclass(frozen=True)
class ReportValues:
    """A profile and the errors of the version under it, for ``parts/profile_reports.html``."""

    profile: str
    is_own: bool
    errors: tuple[ErrorPlace, ...]


def skill_values(skill: Skill) -> SkillValues:
    return SkillValues(TeamValues(skill.team.slug, skill.team.name), skill.slug, skill.source)


def version_values(version: Version | None) -> VersionValues | None:
    if version is None:
        return None
    return VersionValues(
        number=version.number,
        digest=version.digest,
        profile=version.profile,
        created_at=version.created_at,
        archive_size=version.archive_size,
        changelog=version.changelog,
        provenance=version.provenance,
        is_held=version.is_held,
    )


def report_values(reports: Iterable[ProfileReport]) -> list[ReportValues]:
    return [
        ReportValues(
            report.profile,
            report.is_own,
            tuple(ErrorPlace(error.code, error.path, error.line) for error in report.errors),
        )
        for report in reports
    ]


@dataclass(frozen=True)
class ActionValues:
    """What the buttons in the header of a skill's pages depend on, besides skill and version."""

    tab: str
    is_signed_in: bool
    is_pinned: bool
    may_edit: bool
    may_run: bool
    is_invocable: bool
    is_latest: bool


@dataclass(frozen=True)
class AboutValues:
    """What the card "About" shows, besides skill and version. ``publisher`` is "" for anonymous users."""

    is_signed_in: bool
    earlier: str | None
    publisher: str
    owners: tuple[str, ...]
    license: str
    compatibility: str
    file_count: int


@dataclass(frozen=True)
class DetailValues:
    """Rarely needed facts. ``score`` is the exact one; ``uses`` × ``factor`` is the shown one. ``fields`` are
    those of ``RunnableVersion``. ``reports`` is empty for people who may not edit the skill.
    """

    type: str | None
    intents: tuple[str, ...]
    uses: int
    score: str
    short_score: str
    factor: str
    fields: Sequence[Mapping[str, Any]]
    reports: Sequence[ReportValues]


@dataclass(frozen=True)
class PurposeValues:
    """What the skill is for, by its SKILL.md. ``unavailable`` is why it can't be started; "" if it can."""

    description: str
    when_to_use: str
    phrases: tuple[str, ...]
    tags: tuple[str, ...]
    is_internal: bool
    unavailable: str


def purpose_values(runnable: RunnableVersion) -> PurposeValues:
    manifest = runnable.manifest
    return PurposeValues(
        description=manifest.description,
        when_to_use=manifest.when_to_use,
        phrases=manifest.triggers.phrases[:_MAX_PHRASES],
        tags=manifest.tags,
        is_internal=runnable.is_internal,
        unavailable=runnable.entry_points.unavailable,
    )


def detail_values(runnable: RunnableVersion, score: Score, reports: Sequence[ReportValues]) -> DetailValues:
    manifest = runnable.manifest
    return DetailValues(
        type=manifest.type,
        intents=manifest.triggers.intents[:_MAX_INTENTS],
        uses=score.count,
        score=f"{score.value:.2f}",
        short_score=floatformat(score.value, 1),
        factor=floatformat(score.factor, 2),
        fields=runnable.fields,
        reports=reports,
    )
