"""The filters of runs that lists and run batches share."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Q

from registry.identity.actors import Actor
from worker.models import ErrorGroup, Run, RunQuerySet

_LOOKUPS = {
    "version": "version_number",
    "team": "team__slug",
    "failure_code": "failure_code",
    "since": "created_at__gte",
    "until": "created_at__lt",
}


def filter_runs(rows: RunQuerySet, given: Mapping[str, Any], actor: Actor) -> RunQuerySet:
    """The rows that match all given filters: the fields of ``RunFilterFields``. Ignores empty filters.

    Labels, pins and request ids match only in runs whose content the actor can read.
    """
    if skill := given.get("skill"):
        rows = rows.of_skill(skill)
    if text := given.get("skill_contains"):
        rows = rows.of_skills_containing(text, actor)
    if given.get("pinned"):
        rows = rows.pinned(actor)
    if label := given.get("label"):
        rows = rows.with_label(label, actor)
    chosen = Q(**{lookup: given[name] for name, lookup in _LOOKUPS.items() if given.get(name)})
    if statuses := given.get("status"):
        chosen &= Q(status__in=sorted(statuses))
    if given.get("mine"):
        chosen &= Q(caller=actor.user)
    if caller := given.get("caller"):
        chosen &= _started_by(caller, actor)
    if request_id := given.get("request_id"):
        readable = Run.objects.readable_by(actor)
        chosen &= Q(request_id=request_id, pk__in=readable.values("pk"))
    if group := given.get("error_group"):
        groups = ErrorGroup.objects.visible_to(actor).filter(uid=group)
        chosen &= Q(error_key__in=groups.values("key"))
    if ids := given.get("ids"):
        chosen &= Q(uid__in=ids.split(","))
    return rows.filter(chosen)


def _started_by(caller: str, actor: Actor) -> Q:
    """Selects runs by their caller: a user name, or "me" for the actor.

    "agents" selects the runs of all tokens, "people" all other runs.
    """
    if caller == "me":
        return Q(caller=actor.user)
    if caller in ("agents", "people"):
        return Q(token_name="") if caller == "people" else ~Q(token_name="")
    return Q(caller__username=caller)
