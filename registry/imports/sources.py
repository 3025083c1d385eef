"""The places from which a team imports: named, changed, forgotten."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from importlib import import_module
from pathlib import Path

from django.db.models import QuerySet
from django.utils import timezone

from registry import audit, storage
from registry.actors import Actor
from registry.models import Import, Source, SourceKind, Team
from registry.packages.paths import shown
from registry.packages.problems import Refused, refuse
from registry.permissions import Action, require
from registry.publishing.draft import check_visibility

LEAST_INTERVAL_S = 300
_BY_ITSELF = (SourceKind.ADDRESS, SourceKind.GIT, SourceKind.MCP)  # what can be read again without anybody
_LONGEST = 2000


def described(
    actor: Actor,
    *,
    team: Team,
    kind: str,
    location: str,
    options: Mapping[str, object] | None = None,
    content: bytes | None = None,
) -> Source:
    """The team's source of this kind, place and options, there already or not kept yet.

    ``content`` is an archive's; a dry run reads what is described and keeps nothing.
    """
    require(actor, Action.PUBLISH, team=team)
    if kind not in SourceKind.values:
        raise refuse("IMPORT_OPTION", path="kind", option=shown(kind))
    place, checked = import_module(f"registry.imports.{kind}").check(location, options or {}, actor)
    if len(place) > _LONGEST:
        raise refuse("IMPORT_LOCATION", path="location", location=shown(place), reason="it is too long")
    same = Source.objects.select_related("team").filter(team=team, kind=kind, location=place)
    source = next((one for one in same if one.options == checked), None)
    source = source or Source(team=team, kind=kind, location=place, options=checked)
    if kind == SourceKind.ARCHIVE:
        if not content:
            raise refuse("UPLOAD_EMPTY", path="content")
        source.seen = storage.store(content)
    return source


def keep(source: Source, actor: Actor, *, visibility: str = "", interval_s: int | None = None) -> Source:
    """Keeps what was described, to be imported by this actor, on demand or every so many seconds."""
    require(actor, Action.PUBLISH, team=source.team)
    source.visibility = _visibility(visibility, source.team, actor)
    source.interval_s = _interval(interval_s, source.kind)
    source.next_at = timezone.now() + timedelta(seconds=interval_s) if interval_s else None
    source.created_by = actor.user
    source.save()
    audit.record(actor, "source.add", source.location, team=source.team, kind=source.kind)
    return source


def kind_of(location: str) -> SourceKind:
    """What somebody means who names only a place."""
    if location.startswith("mcp+"):
        return SourceKind.MCP
    if location.startswith(("git+", "git://", "ssh://", "git@")) or location.removesuffix("/").endswith(
        ".git"
    ):
        return SourceKind.GIT
    if "://" in location:
        return SourceKind.ADDRESS
    return SourceKind.ARCHIVE if Path(location).is_file() else SourceKind.FOLDER


def remove(source: Source, actor: Actor) -> None:
    """Forgets the source and its reports; the skills that came from it stay."""
    require(actor, Action.PUBLISH, team=source.team)
    audit.record(actor, "source.remove", source.location, team=source.team, kind=source.kind)
    source.delete()


def find(uid: str, actor: Actor) -> Source:
    source = Source.objects.visible_to(actor).select_related("team").filter(uid=uid).first()
    if source is None:
        raise _absent("source", uid)
    return source


def reports(actor: Actor) -> QuerySet[Import]:
    """The imports that this actor may know of."""
    visible = Import.objects.filter(source__in=Source.objects.visible_to(actor))
    return visible.select_related("source__team")


def find_report(uid: str, actor: Actor) -> Import:
    report = reports(actor).filter(uid=uid).first()
    if report is None:
        raise _absent("import", uid)
    return report


def _absent(what: str, uid: str) -> Refused:
    return refuse("NOT_FOUND", what=what, name=shown(uid))


def _visibility(visibility: str, team: Team, actor: Actor) -> str:
    if visibility:
        check_visibility(visibility)
        if visibility != "private":
            require(actor, Action.SETTINGS, team=team)
    return visibility


def _interval(seconds: int | None, kind: str) -> int | None:
    if seconds is not None and (kind not in _BY_ITSELF or not LEAST_INTERVAL_S <= seconds < 2**31):
        raise refuse("IMPORT_INTERVAL", path="interval_s", seconds=seconds, least=LEAST_INTERVAL_S)
    return seconds
