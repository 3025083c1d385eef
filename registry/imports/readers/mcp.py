"""Reads the prompts of an MCP server as prompt skills."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from registry.http_client.addresses import parse_target
from registry.identity.actors import Actor
from registry.imports.candidates import ReadProgress, SkillCandidate, SourceContent
from registry.imports.clients.credentials import load_url_credentials
from registry.imports.clients.mcp import McpSession
from registry.imports.readers import options as reading
from registry.imports.readers.errors import MCP_REFUSED
from registry.models import Source
from registry.packages.archive.entries import ArchiveEntry
from registry.packages.manifest.frontmatter import SKILL_MD
from registry.packages.problems import gettext_noop

_MAX_PROMPTS = 500  # per server
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def check(location: str, options: Mapping[str, Any], actor: Actor) -> tuple[str, dict[str, Any]]:
    location = location.removeprefix("mcp+")
    parse_target(location)
    return location, reading.validate_options(options, texts=("credentials",))


def read(source: Source, actor: Actor, scratch: Path, progress: ReadProgress) -> SourceContent:
    session = McpSession(source.location, load_url_credentials(source).bearer(), on_read=progress.add_bytes)
    texts = {}
    for prompt in session.list_items("prompts/list", "prompts", limit=_MAX_PROMPTS):
        texts[_name(prompt)] = _skill_md(prompt, _messages(session, prompt)).encode()
    provenance = reading.provenance(server=source.location)
    found = [_candidate(name, text, {**provenance, "prompt": name}) for name, text in texts.items()]
    content = b"\0".join(name.encode() + b"\0" + text for name, text in sorted(texts.items()))
    return SourceContent(found, f"sha256:{hashlib.sha256(content).hexdigest()}")


def _candidate(name: str, text: bytes, provenance: Mapping[str, str]) -> SkillCandidate:
    return SkillCandidate(name, "mcp", lambda: [ArchiveEntry(SKILL_MD, text)], name, provenance=provenance)


def _name(prompt: Mapping[str, Any]) -> str:
    name = prompt.get("name")
    if not isinstance(name, str) or not name.strip():
        reason = gettext_noop("a prompt has no name")
        raise MCP_REFUSED.refusal(method="prompts/list", reason=reason).at("location")
    return name[:200]


def _arguments(prompt: Mapping[str, Any]) -> list[str]:
    rows = prompt.get("arguments") or []
    return [str(row["name"]) for row in rows if isinstance(row, dict) and row.get("name")][:50]


def _messages(session: McpSession, prompt: Mapping[str, Any]) -> Sequence[Any]:
    arguments = dict(zip(_arguments(prompt), _placeholders(_arguments(prompt)), strict=True))
    answer = session.call("prompts/get", {"name": _name(prompt), "arguments": arguments})
    messages = answer.get("messages")
    return messages if isinstance(messages, list) else []


def _placeholders(names: list[str]) -> list[str]:
    if all(_WORD.fullmatch(name) for name in names):
        return [f"${name}" for name in names]
    return [f"$ARGUMENTS[{number}]" for number in range(len(names))]


def _skill_md(prompt: Mapping[str, Any], messages: Sequence[Any]) -> str:
    names = _arguments(prompt)
    name = _name(prompt)
    front = {
        "name": name,
        "displayName": prompt.get("title"),
        "description": prompt.get("description") or f"The prompt {name} of an MCP server.",
        "arguments": names if all(_WORD.fullmatch(each) for each in names) else None,
        "argument-hint": " ".join(f"[{each}]" for each in names),
    }
    fields = {key: value for key, value in front.items() if value}
    head = yaml.safe_dump(fields, allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{head}---\n\n{_body(messages)}\n"


def _body(messages: Sequence[Any]) -> str:
    """The texts of the messages, each with its role unless all are from the user."""
    rows = [row for row in messages if isinstance(row, dict)]
    is_user_only = all(row.get("role") == "user" for row in rows)
    texts = [(str(row.get("role") or ""), _text(row.get("content"))) for row in rows]
    return "\n\n".join(text if is_user_only else f"**{role}:** {text}" for role, text in texts)


def _text(content: Any) -> str:
    if not isinstance(content, dict):
        return str(content or "")
    inner = content.get("resource")
    text = content.get("text") or (inner.get("text") if isinstance(inner, dict) else None)
    return text if isinstance(text, str) else f"({content.get('type') or 'something'} without text)"
