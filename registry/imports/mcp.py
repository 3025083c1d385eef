"""The prompts of an MCP server over streamable HTTP → a prompt skill each."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from registry.actors import Actor
from registry.imports import options as reading
from registry.imports.credentials import credentials_for
from registry.imports.found import Found, Reading
from registry.imports.mcp_client import Session
from registry.models import Source
from registry.outbound.addresses import target
from registry.packages.entries import Entry
from registry.packages.frontmatter import SKILL_MD
from registry.packages.problems import refuse

_PROMPTS = 500  # of one server
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def check(location: str, options: Mapping[str, Any], actor: Actor) -> tuple[str, dict[str, Any]]:
    location = location.removeprefix("mcp+")
    target(location)
    return location, reading.checked(options, texts=("credentials",))


def read(source: Source, actor: Actor, scratch: Path) -> Reading:
    session = Session(source.location, credentials_for(source).bearer())
    texts = {}
    for prompt in session.listed("prompts/list", "prompts", most=_PROMPTS):
        texts[_name(prompt)] = _skill_md(prompt, _messages(session, prompt)).encode()
    kept = reading.provenance(server=source.location)
    found = [_found(name, text, {**kept, "prompt": name}) for name, text in texts.items()]
    said = b"\0".join(name.encode() + b"\0" + text for name, text in sorted(texts.items()))
    return Reading(found, f"sha256:{hashlib.sha256(said).hexdigest()}")


def _found(name: str, text: bytes, provenance: Mapping[str, str]) -> Found:
    return Found(name, "mcp", lambda: [Entry(SKILL_MD, text)], name, provenance=provenance)


def _name(prompt: Mapping[str, Any]) -> str:
    name = prompt.get("name")
    if not isinstance(name, str) or not name.strip():
        raise refuse("MCP_REFUSED", path="location", method="prompts/list", reason="a prompt has no name")
    return name[:200]


def _arguments(prompt: Mapping[str, Any]) -> list[str]:
    rows = prompt.get("arguments") or []
    return [str(row["name"]) for row in rows if isinstance(row, dict) and row.get("name")][:50]


def _messages(session: Session, prompt: Mapping[str, Any]) -> Sequence[Any]:
    """The prompt with a placeholder of ours for each argument, where the server puts the argument."""
    placed = dict(zip(_arguments(prompt), _placeholders(_arguments(prompt)), strict=True))
    answer = session.call("prompts/get", {"name": _name(prompt), "arguments": placed})
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
    kept = {key: value for key, value in front.items() if value}
    head = yaml.safe_dump(kept, allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{head}---\n\n{_body(messages)}\n"


def _body(messages: Sequence[Any]) -> str:
    """The texts of the messages; who speaks is said where somebody but the user does."""
    rows = [row for row in messages if isinstance(row, dict)]
    alone = all(row.get("role") == "user" for row in rows)
    spoken = [(str(row.get("role") or ""), _text(row.get("content"))) for row in rows]
    return "\n\n".join(text if alone else f"**{role}:** {text}" for role, text in spoken)


def _text(content: Any) -> str:
    if not isinstance(content, dict):
        return str(content or "")
    inner = content.get("resource")
    text = content.get("text") or (inner.get("text") if isinstance(inner, dict) else None)
    return text if isinstance(text, str) else f"({content.get('type') or 'something'} that is no text)"
