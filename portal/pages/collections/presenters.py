"""Presents collections: their commands for clients, and the teams for which a user may create one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from registry.collections.documents import public_url
from registry.collections.find import is_computed
from registry.collections.members import Member, named_versions
from registry.core.addresses import absolute_url
from registry.identity.actors import Actor
from registry.identity.permissions import Action, active_teams_where
from registry.models import Collection, Team, Visibility

_MAX_PLUGINS = 20  # more commands would hide the list of skills


def editable_teams(actor: Actor) -> QuerySet[Team]:
    """The teams for which the actor may create collections."""
    return active_teams_where(actor, Action.COLLECTIONS).order_by("slug")


def collection_title(collection: Collection) -> str:
    """The title; for the computed collection of a team, a translated one."""
    if is_computed(collection):
        return _("All skills of %(team)s") % {"team": collection.team.name}
    return collection.title


def client_lines(collection: Collection, found: Iterable[Member]) -> list[dict[str, str]]:
    """Commands of clients: dicts with id, label and text. They require a token unless all skills and the
    collection are public; then ``npx skills``, which sends no token, is included.
    """
    named, base = named_versions(found), public_url(collection)
    if not named:
        return []
    visibilities = {each.version.skill.effective_visibility for each in named}
    is_stored = not is_computed(collection)
    is_public = visibilities == {Visibility.PUBLIC} and (
        not is_stored or collection.visibility == Visibility.PUBLIC
    )
    git = f"{base}.git" if is_public else f"{base}.private.git"
    market = f"{collection.team.slug}-{collection.slug}" if is_stored else collection.team.slug
    plugins = [f"{each.name}@{market}" for each in named]
    header = "" if is_public else ' -H "Authorization: Bearer $SKILLQUAY_TOKEN"'
    prompt = absolute_url(f"/api/v1/collections/{collection}/prompt")
    skills = [{"id": "install-skills", "label": "npx skills", "text": f"npx skills add {base}"}]
    claude = _plugin_lines("claude plugin marketplace add", git, "claude plugin install", plugins)
    codex = _plugin_lines("codex plugin marketplace add", git, "codex plugin add", plugins)
    return [
        *(skills if is_public else []),
        {"id": "install-claude", "label": "Claude Code", "text": claude},
        {"id": "install-codex", "label": "Codex", "text": codex},
        {"id": "install-git", "label": "git", "text": f"git clone {git} {collection.slug}"},
        {"id": "install-prompt", "label": _("System prompt"), "text": f"curl -fsSL{header} {prompt}"},
    ]


def _plugin_lines(add: str, git: str, install: str, plugins: Sequence[str]) -> str:
    """The commands that add the marketplace and install its plugins, at most ``_MAX_PLUGINS``."""
    lines = [f"{add} {git}", *(f"{install} {plugin}" for plugin in plugins[:_MAX_PLUGINS])]
    if (omitted := len(plugins) - _MAX_PLUGINS) > 0:
        text = ngettext("%(n)s more skill in the list below", "%(n)s more skills in the list below", omitted)
        lines.append(f"# {text % {'n': omitted}}")
    return "\n".join(lines)


def member_rows(found: Iterable[Member]) -> list[dict[str, Any]]:
    """The skills for templates. ``state`` is ``pinned``, ``channel``, ``latest`` or ``unavailable``."""
    return [
        {
            "skill": member.skill,
            "version": member.version,
            "selector": member.selector,
            "state": _state(member),
        }
        for member in found
    ]


def _state(member: Member) -> str:
    if member.version is None:
        return "unavailable"
    if member.item and member.item.pin_id:
        return "pinned"
    return "channel" if member.selector else "latest"
