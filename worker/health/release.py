"""The version of the running code."""

import tomllib
from functools import cache
from pathlib import Path


@cache
def version() -> str:
    """The version, such as ``0.1.0``; in a git checkout with the commit, such as ``0.1.0+ddccc34``."""
    root = Path(__file__).resolve().parents[2]
    number = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    commit = _commit(root / ".git")
    return f"{number}+{commit[:7]}" if commit else number


def _commit(git: Path) -> str:
    try:
        head = (git / "HEAD").read_text().strip()
        name = head.removeprefix("ref: ")
        if name == head:
            return head
        if (git / name).is_file():
            return (git / name).read_text().strip()
        packed = (git / "packed-refs").read_text().splitlines()
    except OSError:
        return ""
    return next((line.split()[0] for line in packed if line.endswith(f" {name}")), "")
