"""The methods of MCP except tools: handshake, resources and the skills extension."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db.models import Q, QuerySet

from registry.api import pagination
from registry.identity.actors import Actor
from registry.listing.listed_skill import canonical_pins
from registry.models import File, Skill, Version
from registry.packages.archive.layout import SKILL_MD
from worker.facades.mcp import messages
from worker.facades.mcp.kept_lists import keep_list
from worker.facades.mcp.messages import ProtocolError, RpcCall
from worker.facades.mcp.skill_files import SkillEntry, children, entries_of, find_entry, read_content

_PAGE = 250  # skills per page; the files of a skill are never split over pages
_SKILLS = "io.modelcontextprotocol/skills"
_INSTRUCTIONS = (
    "Skills are instructions and scripts for a task. Call skills_match with the user's request or "
    "skills_list, then skills_load and follow the instructions. skills_run runs a skill's script on the "
    "server. If its status is waiting_approval, show the user approval.page_url: a person approves it there."
)
_TEMPLATE = {
    "uriTemplate": "skill://{team}/{skill}/{+path}",
    "name": "skill-file",
    "title": "File of a skill",
    "description": "A file of the latest version of a skill, such as SKILL.md.",
}

Method = Callable[[RpcCall, Actor], dict[str, Any]]


def initialize(call: RpcCall, actor: Actor) -> dict[str, Any]:
    requested = call.params.get("protocolVersion")
    version = requested if requested in messages.HANDSHAKES else messages.HANDSHAKES[0]
    return {"protocolVersion": version, **_server(actor)}


def discover(call: RpcCall, actor: Actor) -> dict[str, Any]:
    return {"supportedVersions": [messages.STATELESS], **_server(actor)}


def ping(call: RpcCall, actor: Actor) -> dict[str, Any]:
    return {}


def list_skills(call: RpcCall, actor: Actor) -> dict[str, Any]:
    entries, cursor = _page(call, actor)
    return {"skills": [entry.document() for entry in entries], **cursor}


def get_skill(call: RpcCall, actor: Actor) -> dict[str, Any]:
    entry, path = find_entry(call.text("uri"), actor)
    if path != SKILL_MD or not entry.is_listable:
        raise ProtocolError(messages.INVALID_PARAMS, "The URI is not the SKILL.md of a skill.")
    return {"skill": entry.document()}


def list_resources(call: RpcCall, actor: Actor) -> dict[str, Any]:
    """A page of resources: the SKILL.md of each skill.

    ``skills/get`` and ``resources/directory/read`` list the other files.
    """
    entries, cursor = _page(call, actor)
    return {"resources": [entry.resource(SKILL_MD) for entry in entries], **cursor}


def read_resource(call: RpcCall, actor: Actor) -> dict[str, Any]:
    return {"contents": [read_content(call.text("uri"), actor)]}


def read_directory(call: RpcCall, actor: Actor) -> dict[str, Any]:
    found = children(call.text("uri"), actor)
    if found is None:
        raise ProtocolError(messages.INVALID_PARAMS, "The URI is not a folder of a skill.")
    return {"resources": found}


def list_templates(call: RpcCall, actor: Actor) -> dict[str, Any]:
    return {"resourceTemplates": [_TEMPLATE]}


METHODS: Mapping[str, Method] = {
    "initialize": initialize,
    "server/discover": discover,
    "ping": ping,
    "skills/list": list_skills,
    "skills/get": get_skill,
    "resources/list": list_resources,
    "resources/read": read_resource,
    "resources/directory/read": read_directory,
    "resources/templates/list": list_templates,
}
CACHEABLE = frozenset(METHODS) - {"initialize", "ping"} | {"tools/list"}


def _server(actor: Actor) -> dict[str, Any]:
    """The server's description.

    Declares directory reads only if a listed skill has a folder, because clients then expect one.
    """
    nested = File.objects.filter(path__contains="/", version__in=_listed(actor).values("latest"))
    has_folders = keep_list("folders", actor, nested.exists)
    return {
        "serverInfo": {"name": "skillquay", "title": "Skillquay", "version": "1"},
        "capabilities": {
            "tools": {"listChanged": False},
            "resources": {"listChanged": False, "subscribe": False},
            "extensions": {_SKILLS: {"directoryRead": True} if has_folders else {}},
        },
        "instructions": _INSTRUCTIONS,
    }


def _listed(actor: Actor) -> QuerySet[Skill]:
    """The skills that agents of the caller may load.

    With a token, these are the skills that listings recommend, because hosts may put their descriptions into
    prompts. Without a token, these are the public skills for agents and the canonical ones.
    """
    if actor.is_signed_in:
        return Skill.objects.recommendable_to(actor)
    usable = Skill.objects.discoverable_by(actor).filter(latest__isnull=False)
    return usable.filter(Q(for_agents=True) | Q(pk__in=canonical_pins(actor)))


def _page(call: RpcCall, actor: Actor) -> tuple[list[SkillEntry], dict[str, str]]:
    """A page of the listed skills, most used first. Within a page, skills with folders come first."""
    query = {"limit": _PAGE, "cursor": call.params.get("cursor")}
    if query["cursor"] is not None and not isinstance(query["cursor"], str):
        raise ProtocolError(messages.INVALID_PARAMS, "`cursor` must be a text.")
    page = pagination.read_page("mcp skills", query, kinds=(float, str))
    pins = canonical_pins(actor)
    related = _listed(actor).select_related("team", "latest").defer("latest__body", "latest__problems")
    found, cursor = pagination.highest_first(related, page, "hot_key")
    entries = entries_of(_version_of(skill, pins.get(skill.pk)) for skill in found)
    entries.sort(key=lambda entry: not any("/" in file.path for file in entry.files))
    return [entry for entry in entries if entry.is_listable], {"nextCursor": cursor} if cursor else {}


def _version_of(skill: Skill, pin: Any) -> tuple[str, Version]:
    version = pin.version if pin else skill.latest
    assert version
    version.skill = skill
    return str(pin or skill), version
