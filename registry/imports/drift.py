"""How far a source and the skills that came from it have gone apart."""

from __future__ import annotations

from dataclasses import dataclass

from registry.actors import Actor
from registry.imports import git
from registry.models import Skill, Source, SourceKind
from registry.packages.problems import refuse
from registry.permissions import Action, require


@dataclass(frozen=True)
class Look:
    """The state of a repository now, and the one that was imported last."""

    now: str
    imported: str

    @property
    def is_ahead(self) -> bool:
        return self.now != self.imported


def look(source: Source, actor: Actor) -> Look:
    """Asks the repository what it holds now, and reads nothing of it."""
    require(actor, Action.PUBLISH, team=source.team)
    if source.kind != SourceKind.GIT:
        raise refuse("IMPORT_OPTION", path="kind", option=source.kind)
    return Look(git.head(source), source.seen)


@dataclass(frozen=True)
class Drift:
    """``now`` is None where only importing tells: of all that is no repository."""

    now: str | None
    imported: str
    published_over: tuple[Skill, ...]

    @property
    def is_ahead(self) -> bool | None:
        return None if self.now is None else self.now != self.imported


def drift(source: Source, actor: Actor) -> Drift:
    """Both ways of going apart; a repository is asked."""
    require(actor, Action.PUBLISH, team=source.team)
    now = look(source, actor).now if source.kind == SourceKind.GIT else None
    return Drift(now, source.seen, tuple(published_over(source, actor)))


def published_over(source: Source, actor: Actor) -> list[Skill]:
    """The skills from this source whose latest version came another way."""
    skills = Skill.objects.visible_to(actor).filter(origin=source, latest__isnull=False)
    found = skills.select_related("team", "latest").order_by("slug")
    return [skill for skill in found if skill.latest and not skill.latest.provenance]
