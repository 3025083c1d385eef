"""Skills as plugins of Claude Code and Codex, and the marketplaces that list them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from registry.facades.git.objects import BuiltRepository, Entry

CLAUDE, CODEX = ".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json"


@dataclass(frozen=True)
class Plugin:
    """A skill in a marketplace."""

    name: str
    number: str
    description: str


def plugin_folder(repository: BuiltRepository, name: str, number: str, package: Entry) -> Entry:
    """The folder of a plugin that contains the package as its only skill."""
    manifest = {"name": name, "version": number}
    claude = repository.file(_json(manifest))
    codex = repository.file(_json({**manifest, "skills": "./skills/"}))
    return repository.folder(
        {
            ".claude-plugin/plugin.json": claude,
            ".codex-plugin/plugin.json": codex,
            f"skills/{name}": package,
        }
    )


def claude_marketplace(name: str, rows: Iterable[tuple[Plugin, Any]]) -> dict[str, Any]:
    """The marketplace document for Claude Code. Each plugin comes with its source: a path or an object with a
    URL.
    """
    plugins = [
        {"name": row.name, "description": row.description, "version": row.number, "source": source}
        for row, source in rows
    ]
    return {"name": name, "owner": {"name": name}, "plugins": plugins}


def codex_marketplace(name: str, rows: Iterable[tuple[Plugin, Any]]) -> dict[str, Any]:
    """The marketplace document for Codex, with the same sources."""
    plugins = [
        {
            "name": row.name,
            "source": source if isinstance(source, Mapping) else {"source": "local", "path": source},
            "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
            "category": "Productivity",
        }
        for row, source in rows
    ]
    return {"name": name, "interface": {"displayName": name}, "plugins": plugins}


def marketplace_files(repository: BuiltRepository, name: str, plugins: Iterable[Plugin]) -> dict[str, Entry]:
    """The marketplace files of a repository that contains the plugins."""
    rows = [(plugin, f"./plugins/{plugin.name}") for plugin in plugins]
    return {
        CLAUDE: repository.file(_json(claude_marketplace(name, rows))),
        CODEX: repository.file(_json(codex_marketplace(name, rows))),
    }


def _json(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n"
