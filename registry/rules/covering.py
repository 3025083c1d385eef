"""Which skills a rule is about, asked of one skill and asked of the catalog."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from registry.actors import Actor
from registry.models import Skill, Team, Visibility
from registry.packages.rule_names import ANY, is_prefix

_CANONICAL = "_canonical_"


def names_of(skill: Skill, team: Team | None) -> tuple[str, ...]:
    """What the skill goes by for this team: its slug alone too, where the team's own or canonical."""
    canonical = tuple(str(row) for row in skill.canonicals.all() if row.version_id)
    bare = (skill.slug,) if canonical or _is_own(skill, team) else ()
    return (str(skill), *bare, *canonical)


def earlier_names_of(skill: Skill, team: Team | None) -> tuple[str, ...]:
    """Those that it had, and those of what was merged into it: a denial follows, an allowance does not."""
    renamed = (f"{row.team.slug}/{row.slug}" for row in skill.redirects.select_related("team"))
    known = ~Q(visibility=Visibility.PRIVATE) | (Q(team=team) if team else Q(pk=None))
    return (*renamed, *(str(row) for row in skill.merged.filter(known).select_related("team")))


def covered_by(name: str, team: Team | None, actor: Actor) -> QuerySet[Skill]:
    """The skills that the actor may see and that a rule of this name is about, now."""
    visible = Skill.objects.visible_to(actor).select_related("team", "latest")
    begins = is_prefix(name)
    name = name.removesuffix(ANY)
    owner, slash, slug = name.partition("/")
    if slash:
        about = Q(team__slug=owner) & _slug(slug, begins)
    else:
        about = (_bare(team) & _slug(name, begins)) | _canonical(name, begins)
        if begins:
            about |= Q(team__slug__startswith=name)
    return visible.filter(about).distinct().order_by("team__slug", "slug")


def _is_own(skill: Skill, team: Team | None) -> bool:
    return team is not None and skill.team_id == team.pk


def _bare(team: Team | None) -> Q:
    canonical = Q(canonicals__version__isnull=False)
    return Q(team=team) | canonical if team else canonical


def _slug(slug: str, begins: bool) -> Q:
    return Q(slug__startswith=slug) if begins else Q(slug=slug)


def _canonical(name: str, begins: bool) -> Q:
    """By ``_canonical_<slug>``, or a beginning of that."""
    named = Q(canonicals__version__isnull=False)
    if name.startswith(_CANONICAL):
        slug = name.removeprefix(_CANONICAL)
        return named & (Q(canonicals__slug__startswith=slug) if begins else Q(canonicals__slug=slug))
    return named if begins and _CANONICAL.startswith(name) else Q(pk=None)
