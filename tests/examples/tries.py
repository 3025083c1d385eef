"""The tries of the example skills: inputs and the answer to expect, in each package's ``tests/tries.yaml``.

A try names ``script``, ``action`` or ``tool``, ``inputs``, ``stdin``, ``debug`` and ``context``. It expects
``refused`` (the code that keeps it from starting) or ``code`` ("" is success), and what it likes to say of
``output``, ``outputs``, ``message``, ``metadata`` (a part), ``warnings``, ``artifacts``, ``steps`` (each a
part), ``memory_writes``, ``stdout`` and ``stderr`` (text that stands in it), ``progress`` and ``action``. A
memory write's owner ``{user_id}`` is the user of the context, which a portal fills in itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from worker.protocols.call import Request

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
_REQUEST = ("script", "action", "tool", "inputs", "stdin", "debug", "context")


@dataclass(frozen=True)
class Try:
    slug: str
    name: str
    request: Request
    expect: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        return EXAMPLES / self.slug

    def __str__(self) -> str:
        return f"{self.slug}: {self.name}"


def slugs() -> list[str]:
    return sorted(path.parent.name for path in EXAMPLES.glob("*/SKILL.md"))


def tries() -> Iterator[Try]:
    """Every try of every example, in order."""
    for slug in slugs():
        for told in yaml.safe_load((EXAMPLES / slug / "tests" / "tries.yaml").read_text("utf-8")):
            request = Request(**{name: told[name] for name in _REQUEST if name in told})
            yield Try(slug, told["name"], request, told["expect"])
