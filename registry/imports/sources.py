"""Creates, finds and deletes the import sources of teams."""

from collections.abc import Mapping
from datetime import timedelta
from importlib import import_module
from pathlib import Path

from django.db.models import QuerySet
from django.utils import timezone

from registry.core.errors import NOT_FOUND, UPLOAD_EMPTY
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.imports.errors import IMPORT_INTERVAL, IMPORT_LOCATION, IMPORT_OPTION
from registry.models import Import, Source, SourceKind, Team
from registry.packages.archive.paths import printable
from registry.packages.problems import Refusal, gettext_noop
from registry.storage import blobs
from registry.versions.publishing.draft import check_visibility

MIN_INTERVAL_S = 300
_SCHEDULABLE = (SourceKind.URL, SourceKind.GIT, SourceKind.MCP)
_MAX_LOCATION_CHARS = 2000


def prepare_source(
    actor: Actor,
    *,
    team: Team,
    kind: str,
    location: str,
    options: Mapping[str, object] | None = None,
    content: bytes | None = None,
) -> Source:
    """The team's source with this kind, location and options, or a new one, which is not saved. Stores only
    the archive in ``content``, as a blob.

    Requires permission to publish for the team. Raises IMPORT_OPTION for an unknown kind, UPLOAD_EMPTY for
    an archive without content, and IMPORT_LOCATION for a location that is too long. Also raises the errors
    of the reader's ``check``.
    """
    require(actor, Action.PUBLISH, team=team)
    if kind not in SourceKind.values:
        raise IMPORT_OPTION.refusal(option=printable(kind)).at("kind")
    checked_location, checked_options = import_module(f"registry.imports.readers.{kind}").check(
        location, options or {}, actor
    )
    if len(checked_location) > _MAX_LOCATION_CHARS:
        reason = gettext_noop("it is too long")
        raise IMPORT_LOCATION.refusal(location=printable(checked_location), reason=reason).at("location")
    same = Source.objects.select_related("team").filter(team=team, kind=kind, location=checked_location)
    source = next((each for each in same if each.options == checked_options), None)
    source = source or Source(team=team, kind=kind, location=checked_location, options=checked_options)
    if kind == SourceKind.ARCHIVE:
        if not content:
            raise UPLOAD_EMPTY.refusal().at("content")
        source.last_revision = blobs.store(content)
    return source


def save_source(
    source: Source, actor: Actor, *, visibility: str = "", interval_s: int | None = None
) -> Source:
    """Saves a prepared source with these settings and the actor as its creator. ``interval_s`` is the time
    between scheduled imports in seconds; None for imports on demand only.

    Requires permission to publish for the team; a visibility other than private requires a maintainer. Raises
    VISIBILITY_UNKNOWN, or IMPORT_INTERVAL for an interval that is out of range or not possible for this kind.
    """
    require(actor, Action.PUBLISH, team=source.team)
    source.visibility = _visibility(visibility, source.team, actor)
    source.interval_s = _interval(interval_s, source.kind)
    source.next_at = timezone.now() + timedelta(seconds=interval_s) if interval_s else None
    source.created_by = actor.user
    source.save()
    audit.record(actor, "source.add", source.location, team=source.team, kind=source.kind)
    return source


def detect_kind(location: str) -> SourceKind:
    """The kind of source that a location suggests. A path is an archive if it is a file on this machine."""
    if location.startswith("mcp+"):
        return SourceKind.MCP
    if location.startswith(("git+", "git://", "ssh://", "git@")) or location.removesuffix("/").endswith(
        ".git"
    ):
        return SourceKind.GIT
    if "://" in location:
        return SourceKind.URL
    return SourceKind.ARCHIVE if Path(location).is_file() else SourceKind.FOLDER


def remove_source(source: Source, actor: Actor) -> None:
    """Deletes the source and its reports; skills imported from it stay. Requires permission to publish."""
    require(actor, Action.PUBLISH, team=source.team)
    audit.record(actor, "source.remove", source.location, team=source.team, kind=source.kind)
    source.delete()


def find_source(uid: str, actor: Actor) -> Source:
    source = Source.objects.visible_to(actor).select_related("team").filter(uid=uid).first()
    if source is None:
        raise _not_found("source", uid)
    return source


def visible_imports(actor: Actor) -> QuerySet[Import]:
    """The imports of all sources that the actor may see."""
    visible = Import.objects.filter(source__in=Source.objects.visible_to(actor))
    return visible.select_related("source__team")


def find_import(uid: str, actor: Actor) -> Import:
    report = visible_imports(actor).filter(uid=uid).first()
    if report is None:
        raise _not_found("import", uid)
    return report


def _not_found(what: str, uid: str) -> Refusal:
    return NOT_FOUND.refusal(what=what, name=printable(uid))


def _visibility(visibility: str, team: Team, actor: Actor) -> str:
    if visibility:
        check_visibility(visibility)
        if visibility != "private":
            require(actor, Action.SETTINGS, team=team)
    return visibility


def _interval(seconds: int | None, kind: str) -> int | None:
    if seconds is not None and (kind not in _SCHEDULABLE or not MIN_INTERVAL_S <= seconds < 2**31):
        raise IMPORT_INTERVAL.refusal(seconds=seconds, least=MIN_INTERVAL_S).at("interval_s")
    return seconds
