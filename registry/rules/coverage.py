"""Finds the skills that a rule's name covers, and the rule names that match a skill."""

from collections.abc import Iterable

from django.db.models import Q, QuerySet

from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from registry.models import Canonical, Skill, Team, Visibility
from registry.packages.rule_names import PREFIX_MARK, is_prefix

_CANONICAL = "_canonical_"


def rule_names(
    skill: Skill, team: Team | None, canonicals: Iterable[Canonical] | None = None
) -> tuple[str, ...]:
    """The names by which rules match the skill: team/slug, its canonical names and, if the skill is canonical
    or owned by ``team``, the bare slug. ``canonicals`` are the skill's, if the caller has read them.
    """
    rows = skill.canonicals.all() if canonicals is None else canonicals
    canonical = tuple(str(row) for row in rows if row.version_id)
    bare = (skill.slug,) if canonical or _is_own(skill, team) else ()
    return (str(skill), *bare, *canonical)


@reader
def former_names(skill: Skill, team: Team | None) -> Reads[tuple[str, ...]]:
    """Former names of the skill, and names of skills merged into it. Merged skills that are private to
    another team are excluded. Only deny rules match these names.
    """
    visible = ~Q(visibility=Visibility.PRIVATE) | (Q(team=team) if team else Q(pk=None))
    renamed = skill.redirects.select_related("team")
    merged = skill.merged.filter(visible).select_related("team")
    yield renamed, merged
    return (*(f"{row.team.slug}/{row.slug}" for row in renamed), *map(str, merged))


def covered_skills(name: str, team: Team | None, actor: Actor) -> QuerySet[Skill]:
    """The skills visible to the actor that a rule with this name covers now, sorted by team and slug."""
    visible = Skill.objects.visible_to(actor).select_related("team", "latest")
    is_prefix_rule = is_prefix(name)
    name = name.removesuffix(PREFIX_MARK)
    owner, slash, slug = name.partition("/")
    if slash:
        condition = Q(team__slug=owner) & _slug(slug, is_prefix_rule)
    else:
        condition = (_bare_name(team) & _slug(name, is_prefix_rule)) | _canonical(name, is_prefix_rule)
        if is_prefix_rule:
            condition |= Q(team__slug__startswith=name)
    return visible.filter(condition).distinct().order_by("team__slug", "slug")


def _is_own(skill: Skill, team: Team | None) -> bool:
    return team is not None and skill.team_id == team.pk


def _bare_name(team: Team | None) -> Q:
    canonical = Q(canonicals__version__isnull=False)
    return Q(team=team) | canonical if team else canonical


def _slug(slug: str, is_prefix_rule: bool) -> Q:
    return Q(slug__startswith=slug) if is_prefix_rule else Q(slug=slug)


def _canonical(name: str, is_prefix_rule: bool) -> Q:
    named = Q(canonicals__version__isnull=False)
    if name.startswith(_CANONICAL):
        slug = name.removeprefix(_CANONICAL)
        return named & (Q(canonicals__slug__startswith=slug) if is_prefix_rule else Q(canonicals__slug=slug))
    return named if is_prefix_rule and _CANONICAL.startswith(name) else Q(pk=None)
