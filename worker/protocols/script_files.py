"""Distinguishes the skill's own files in stack traces from files of the platform, libraries and
interpreters.
"""

from collections.abc import Sequence

_FOREIGN = ("<", "node:", "ext:", "http:", "https:", "internal/")
_LIBRARIES = ("site-packages", "node_modules", "dist-packages")


def own_file(path: str, folders: Sequence[str]) -> str:
    """The path of a file of the skill, relative to its package; "" for any other file."""
    for folder in folders:
        if path.startswith(f"{folder}/"):
            path = path[len(folder) + 1 :]
            break
    else:
        if path.startswith(("/", "..", *_FOREIGN)) or not ("/" in path or "." in path):
            return ""
    parts = path.removeprefix("./").split("/")
    known = any(part in _LIBRARIES for part in parts) or not parts[-1]
    return "" if known else "/".join(parts)
