"""Differences between a source and its last import."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import QuerySet

from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.imports.errors import IMPORT_OPTION
from registry.imports.readers import git
from registry.models import Skill, Source, SourceKind


@dataclass(frozen=True)
class SourceState:
    """The current revision of a git source, and the revision imported last."""

    now: str
    imported: str

    @property
    def has_changes(self) -> bool:
        return self.now != self.imported


def check_source(source: Source, actor: Actor) -> SourceState:
    """The current revision of a git source, requested from the repository, and the revision imported last.

    Requires permission to publish for the team. Raises IMPORT_OPTION for other kinds of sources, and the
    errors of ``git.current_state``.
    """
    require(actor, Action.PUBLISH, team=source.team)
    if source.kind != SourceKind.GIT:
        raise IMPORT_OPTION.refusal(option=source.kind).at("kind")
    return SourceState(git.current_state(source), source.last_revision)


@dataclass(frozen=True)
class Drift:
    """The changes of a source since its last import. ``now`` is the current revision, or None unless the
    source is a git repository.

    ``overwritten_by`` are its skills whose latest version does not come from an import.
    """

    now: str | None
    imported: str
    overwritten_by: tuple[Skill, ...]

    @property
    def has_changes(self) -> bool | None:
        return None if self.now is None else self.now != self.imported


def detect_drift(source: Source, actor: Actor) -> Drift:
    """Compares the source with its last import. Contacts only git sources, and then raises the errors of
    ``git.current_state``. Requires permission to publish for the team.
    """
    require(actor, Action.PUBLISH, team=source.team)
    now = check_source(source, actor).now if source.kind == SourceKind.GIT else None
    return Drift(now, source.last_revision, tuple(overwritten_skills([source], actor)))


def overwritten_skills(sources: Collection[Source], actor: Actor) -> QuerySet[Skill]:
    """The sources' skills that the actor may see and whose latest version does not come from an import,
    sorted by slug.
    """
    skills = Skill.objects.visible_to(actor).filter(origin__in=sources, latest__provenance={})
    return skills.select_related("team", "latest").defer("latest__manifest", "latest__body").order_by("slug")
