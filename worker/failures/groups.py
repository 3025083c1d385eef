"""Finds and lists error groups, with the figures that the actor can see.

Counts and times include only runs that the actor can see, like the statistics of a skill. The message,
exception type and file are shown only to actors who can read one of the group's runs.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, Max, Min, Q, QuerySet, Sum, Window
from django.db.models.functions import RowNumber

from registry.core.errors import NOT_FOUND
from registry.core.sql import Reads, read_together, reader, reads_of
from registry.identity.actors import Actor
from registry.identity.permissions import Action, may
from registry.models import Skill, User
from worker.failures.newest import newest_readable
from worker.models import ErrorGroup, ErrorGroupQuerySet, FailureCount, Run, RunQuerySet

Position = tuple[datetime, str]  # ``last_seen`` and ``uid`` of a group
MAX_CALLERS = 50
MAX_EXAMINED = 300  # groups of a skill among which its most frequent ones are found
_NEWEST_OF_SITE = 500  # groups examined first to find the newest of some teams
_RELATED = ("skill__team", "assigned_to")


@dataclass(frozen=True)
class GroupView:
    """An error group as the actor sees it. ``readable`` is True if the actor can read one of its runs.

    ``newest`` is the newest run that the actor can read, without its content, if it is among the group's
    newest runs.
    """

    group: ErrorGroup
    count: int
    first_seen: datetime
    last_seen: datetime
    readable: bool
    may_change: bool  # whether the actor may resolve, reopen and assign the group
    newest: Run | None = None

    @property
    def pattern(self) -> str:
        """The normalized cause, such as ``ValueError: no column <value>``; "" if there is none or the actor
        can't read it.
        """
        if not self.readable:
            return ""
        return ": ".join(filter(None, (self.group.type, self.group.message)))

    @property
    def position(self) -> Position:
        return self.last_seen, self.group.uid


@dataclass(frozen=True)
class GroupFilter:
    """Filters for the list of error groups. A group must match all fields that are set."""

    skill: str = ""  # team/slug
    team: str = ""  # slug of the skill's team
    state: str = ""
    assigned_to_me: bool = False
    skill_contains: str = ""  # a part of the skill's name


@dataclass(frozen=True)
class CountRow:
    """The failures of one version or caller; ``name`` is "" for runs without a caller."""

    name: str
    count: int
    last_seen: datetime


@dataclass(frozen=True)
class TopGroup:
    """One of the most frequent error groups. ``title`` is the cause, or the failure code if there is no cause
    or the actor can't read it.
    """

    uid: str
    title: str
    count: int


def list_groups(
    actor: Actor, chosen: GroupFilter, *, limit: int, after: Position | None = None
) -> list[GroupView]:
    """At most ``limit`` groups with a failure that the actor can see, newest failure first.

    For the actor's teams, reads the groups' stored figures, because a team can see all runs of its skills.
    For other skills, adds up the failures of runs by the actor and the actor's teams. Administrators get the
    stored figures of all groups. The cost is independent of the number of runs.
    """
    groups = _filter(ErrorGroup.objects.all(), chosen, actor)
    older = Q(last_seen__lt=after[0]) | Q(last_seen=after[0], uid__lt=after[1]) if after else Q()
    ordered = groups.filter(older).order_by("-last_seen", "-uid")
    related = ErrorGroup.objects.select_related(*_RELATED)
    if actor.is_administrator:
        newest = related.filter(pk__in=ordered.values("pk")[:limit])
        rows = [_stored_figures(group) for group in newest]
    else:
        site = ordered.values_list("pk", "skill__team_id")[:_NEWEST_OF_SITE]
        others = _of_other_teams(None if chosen == GroupFilter() else groups, actor, after)[:limit]
        read_together(reads_of(site, others))
        own = _newest_of_teams(ordered, list(site), actor, limit)
        by_key = related.in_bulk([*own, *(row["group"] for row in others)])
        rows = [_stored_figures(by_key[key]) for key in own]
        rows += [(by_key[row["group"]], row["n"], row["first"], row["last"]) for row in others]
    rows.sort(key=lambda row: (row[3], row[0].uid), reverse=True)
    return _views(rows[:limit], actor)


def find_group(uid: str, actor: Actor) -> GroupView:
    """The group with this uid. Raises NOT_FOUND unless the actor can see one of its runs."""
    groups = ErrorGroup.objects.visible_to(actor).select_related("skill__team", "assigned_to", "resolved_by")
    group = groups.filter(uid=uid).first()
    if group is None:
        raise NOT_FOUND.refusal(what="error group", name=uid[:80])
    if _sees_all(group, actor):
        return _views([_stored_figures(group)], actor)[0]
    figures = FailureCount.objects.visible_to(actor).filter(group=group)
    total = figures.aggregate(n=Sum("count"), first=Min("first_seen"), last=Max("last_seen"))
    return _views([(group, total["n"], total["first"], total["last"])], actor)[0]


@reader
def group_of_run(run: Run) -> Reads[ErrorGroup | None]:
    """The group of a run, or None. An actor who can see the run can see its group."""
    if not run.error_key:
        return None
    yield (groups := ErrorGroup.objects.filter(key=run.error_key))
    return next(iter(groups), None)


@reader
def versions_of(group: ErrorGroup, actor: Actor) -> Reads[list[CountRow]]:
    """The failures by version that the actor can see, sorted by newest failure."""
    rows = FailureCount.objects.visible_to(actor).filter(group=group).values("version_number")
    counted = rows.annotate(n=Sum("count"), last=Max("last_seen")).order_by("-last", "version_number")
    yield counted
    return [CountRow(row["version_number"], row["n"], row["last"]) for row in counted]


def top_groups(skill: Skill, actor: Actor, *, limit: int = 3) -> dict[str, list[TopGroup]]:
    """Maps each version of the skill to up to ``limit`` groups with the most failures that the actor can see.
    Examines the ``MAX_EXAMINED`` groups of the skill that failed last.
    """
    newest = ErrorGroup.objects.filter(skill=skill).order_by("-last_seen", "-uid").values("pk")[:MAX_EXAMINED]
    counts = FailureCount.objects.visible_to(actor).filter(group__in=newest)
    rows = counts.values("version_number", "group").annotate(n=Sum("count"))
    place = Window(RowNumber(), partition_by="version_number", order_by=[F("n").desc(), "group"])
    top = rows.annotate(place=place).filter(place__lte=limit).order_by("place")
    found: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for version, group, number in top.values_list("version_number", "group", "n"):
        found[version].append((group, number))
    keys = {group for groups in found.values() for group, _number in groups}
    groups = ErrorGroup.objects.in_bulk(keys) if keys else {}
    readable = set(_readable(list(groups), actor))
    return {
        version: [TopGroup(groups[key].uid, _title(groups[key], key in readable), n) for key, n in chosen]
        for version, chosen in found.items()
    }


@reader
def frequent_groups(skill: Skill, actor: Actor, *, since: datetime, limit: int = 5) -> Reads[list[GroupView]]:
    """The skill's groups with the most failures that the actor can see, of those that failed after
    ``since``. Their figures include earlier failures.
    """
    counts = FailureCount.objects.visible_to(actor).filter(group__skill=skill).values("group")
    rows = counts.annotate(n=Sum("count"), first=Min("first_seen"), last=Max("last_seen"))
    yield (found := rows.filter(last__gte=since).order_by("-n", "group")[:limit])
    keys = [row["group"] for row in found]
    groups = ErrorGroup.objects.select_related("skill__team", "assigned_to").filter(pk__in=keys)
    readable, newest = _readable(keys, actor), newest_readable(keys, actor)
    yield groups, readable, newest
    by_key = {group.pk: group for group in groups}
    shown = [(by_key[row["group"]], row["n"], row["first"], row["last"]) for row in found]
    return _views_with(shown, actor, readable, newest)


def _title(group: ErrorGroup, readable: bool) -> str:
    parts = (group.type, group.message) if readable else ()
    return ": ".join(filter(None, parts)) or group.failure_code


@reader
def callers_of(group: ErrorGroup, actor: Actor) -> Reads[list[CountRow]]:
    """The failures by caller that the actor can see, sorted by number of failures, at most
    ``MAX_CALLERS``.
    """
    rows = FailureCount.objects.visible_to(actor).filter(group=group).values("caller_key")
    counted = rows.annotate(n=Sum("count"), last=Max("last_seen")).order_by("-n", "caller_key")[:MAX_CALLERS]
    yield counted
    keys = {row["caller_key"] for row in counted}
    yield (users := User.objects.filter(pk__in=keys).values_list("pk", "username"))
    names = dict(users)
    return [CountRow(names.get(row["caller_key"], ""), row["n"], row["last"]) for row in counted]


def runs_of(group: ErrorGroup, actor: Actor) -> RunQuerySet:
    """The group's runs that the actor can see."""
    return Run.objects.visible_to(actor).filter(error_key=group.key)


def _filter(groups: ErrorGroupQuerySet, chosen: GroupFilter, actor: Actor) -> ErrorGroupQuerySet:
    if chosen.skill:
        team, _slash, slug = chosen.skill.rpartition("/")
        groups = groups.filter(skill__slug=slug, **({"skill__team__slug": team} if team else {}))
    if chosen.skill_contains:
        skills = Skill.objects.resolvable_by(actor).name_contains(chosen.skill_contains)
        groups = groups.filter(skill__in=skills.values("pk"))
    if chosen.team:
        groups = groups.filter(skill__team__slug=chosen.team)
    if chosen.state:
        groups = groups.filter(state=chosen.state)
    if chosen.assigned_to_me:
        groups = groups.filter(assigned_to=actor.user) if actor.user else groups.none()
    return groups


_Row = tuple[ErrorGroup, int, datetime, datetime]  # group, count, first_seen, last_seen


def _stored_figures(group: ErrorGroup) -> _Row:
    return group, group.count, group.first_seen, group.last_seen


def _newest_of_teams(
    ordered: ErrorGroupQuerySet, newest_of_site: Sequence[tuple[int, int]], actor: Actor, limit: int
) -> list[int]:
    """The keys of the first groups whose skills belong to the actor's teams.

    They are usually among the newest of the whole site, pairs of a group and the team of its skill. Only if
    not, the groups of all skills of the teams are read.
    """
    found = [key for key, team in newest_of_site if team in actor.team_ids][:limit]
    if len(found) == limit or len(newest_of_site) < _NEWEST_OF_SITE:
        return found
    own = ordered.filter(skill__team_id__in=actor.team_ids)
    return list(own.values_list("pk", flat=True)[:limit])


def _of_other_teams(
    groups: ErrorGroupQuerySet | None, actor: Actor, after: Position | None
) -> QuerySet[FailureCount, Any]:
    """Figures of the groups of other teams' skills, newest failure first, of runs by the actor or the actor's
    teams.
    """
    counts = FailureCount.objects.of_caller_or_team(actor).exclude(group__skill__team_id__in=actor.team_ids)
    if groups is not None:
        counts = counts.filter(group__in=groups.order_by().values("pk"))
    rows = counts.values("group", "group__uid").annotate(
        n=Sum("count"), first=Min("first_seen"), last=Max("last_seen")
    )
    if after:
        rows = rows.filter(Q(last__lt=after[0]) | Q(last=after[0], group__uid__lt=after[1]))
    return rows.order_by("-last", "-group__uid")


def _views(rows: Sequence[_Row], actor: Actor) -> list[GroupView]:
    keys = [row[0].pk for row in rows]
    readable, newest = _readable(keys, actor), newest_readable(keys, actor)
    read_together(reads_of(readable, newest))
    return _views_with(rows, actor, readable, newest)


def _views_with(
    rows: Sequence[_Row], actor: Actor, readable: Iterable[int], newest: Iterable[Run]
) -> list[GroupView]:
    keys, runs = set(readable), {run.error_key: run for run in newest}
    return [
        GroupView(
            group=group,
            count=n,
            first_seen=first,
            last_seen=last,
            readable=group.pk in keys,
            may_change=may(actor, Action.RELEASE, skill=group.skill),
            newest=runs.get(group.key),
        )
        for group, n, first, last in rows
    ]


def _readable(keys: Sequence[int], actor: Actor) -> QuerySet[FailureCount, int]:
    """Those of the groups with these keys that have a run whose content the actor can read."""
    counts = FailureCount.objects.readable_by(actor).filter(group__in=keys)
    return counts.values_list("group", flat=True).distinct()


def _sees_all(group: ErrorGroup, actor: Actor) -> bool:
    return actor.is_administrator or group.skill.team_id in actor.team_ids
