"""Packages written as authors of published skills write them, with the call and the artifacts to expect.

Each YAML file next to this module lists packages:

- ``files`` by path, ``body`` of SKILL.md, ``npm`` dependencies; ``crlf`` converts all line ends.
- ``uploads``: the texts of the files to send, by name.
- ``arguments``, in which ``{file: NAME}`` is an upload; ``inputs``, ``script`` and ``stdin`` of the request.
- ``form``: the values of the fields by label, with the chosen ``command``; ``line`` instead for an argument
  line. A value ``{file: NAME}`` or ``{files: [NAME…]}`` is an upload.
- ``index``: the package needs the local index. ``programs``: those that the worker must have.
- ``artifacts``: the exact text of each artifact by path.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.real_style.libraries import NPM_PACKAGES
from tests.servers.package_index import integrity

_LOCKED = "https://registry.npmjs.org/{name}/-/{name}-1.0.0.tgz"


@dataclass(frozen=True)
class RealStylePackage:
    """One package of the YAML files; see the module for the fields."""

    name: str
    files: dict[str, str]
    artifacts: dict[str, str]
    body: str = ""
    npm: dict[str, str] = field(default_factory=dict)
    crlf: bool = False
    uploads: dict[str, str] = field(default_factory=dict)
    arguments: tuple[Any, ...] = ()
    inputs: dict[str, Any] = field(default_factory=dict)
    script: str = ""
    stdin: str = ""
    form: dict[str, Any] | None = None
    command: str = ""
    line: str | None = None
    index: bool = False
    programs: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name

    def contents(self) -> dict[str, bytes]:
        """The files of the package by path."""
        head = f"---\nname: {self.name}\ndescription: Packages as authors write them.\nversion: 1.0.0\n---\n"
        texts = {"SKILL.md": f"{head}# {self.name}\n{self.body}", **self.files, **self._npm_files()}
        newline = "\r\n" if self.crlf else "\n"
        return {path: text.replace("\n", newline).encode() for path, text in texts.items()}

    def _npm_files(self) -> dict[str, str]:
        if not self.npm:
            return {}
        wanted = {"name": self.name, "dependencies": self.npm}
        entries = {
            f"node_modules/{name}": {
                "version": "1.0.0",
                "resolved": _LOCKED.format(name=name),
                "integrity": integrity(NPM_PACKAGES[name]),
            }
            for name in self.npm
        }
        lock = {"lockfileVersion": 3, "packages": {"": wanted, **entries}}
        return {"package.json": json.dumps(wanted), "package-lock.json": json.dumps(lock)}


def real_style_packages() -> list[RealStylePackage]:
    paths = sorted(Path(__file__).parent.glob("*.yaml"))
    documents: list[dict[str, Any]] = [
        each for path in paths for each in yaml.safe_load(path.read_text("utf-8"))
    ]
    for document in documents:
        document.update({key: tuple(document[key]) for key in ("arguments", "programs") if key in document})
    return [RealStylePackage(**document) for document in documents]
