"""Checks whether a package mentions network clients. Without network access, runs of such packages record the
connections that they try.
"""

import re
from functools import lru_cache
from pathlib import Path

from registry.packages.manifest.frontmatter import SKILL_MD
from worker.attempts.unpacking import UnpackedPackage
from worker.sandbox.runtimes import command_for

_MAX_BYTES = 1 << 20  # number of bytes read per file
_CLIENTS = re.compile(rb"https?|urllib|socket|fetch|curl|wget|requests|proxy|grpc|websocket", re.IGNORECASE)


def can_try_network(package: UnpackedPackage) -> bool:
    """Whether a script of the package or a command in SKILL.md mentions a network client, such as ``curl``.

    A proxy that records attempts delays the start of a run, so runs of other packages start without it.
    """
    return _mentions_clients(package.folder, package.paths)


@lru_cache(maxsize=1024)
def _mentions_clients(folder: Path, paths: tuple[str, ...]) -> bool:
    code = (path for path in paths if path.startswith("scripts/") or command_for(path) or path == SKILL_MD)
    return any(_CLIENTS.search(_start_of(folder / path, is_text=path == SKILL_MD)) for path in code)


def _start_of(path: Path, *, is_text: bool) -> bytes:
    """The first ``_MAX_BYTES`` bytes of the file; b"" for a SKILL.md without commands."""
    with path.open("rb") as file:
        data = file.read(_MAX_BYTES)
    return b"" if is_text and b"!`" not in data and b"```!" not in data else data
