"""Finds the actions of a script with the JSON stdin protocol in its source and in the front matter."""

import re
from collections.abc import Iterator

from registry.packages.package import Manifest

CONVENTIONAL = ("analyze", "report", "fetch", "push", "full")
_MAX_ACTIONS = 100
_READ_BYTES = 262_144
_NAME = re.compile(r"[^\W\d][\w.-]{0,63}")
_QUOTED = re.compile(r"[\"']([^\"'\n]{1,64})[\"']")
_SUPPORTED = re.compile(
    r"supported_actions\b[\"']?[ \t]*(?::[ \t]*[\w\[\], ]{0,40})?[=:][ \t]*[\[({]([^\])}]{0,4000})",
    re.IGNORECASE,
)
_COMPARISON = re.compile(r"\baction[ \t]*={2,3}[ \t]*[\"']([^\"'\n]{1,64})[\"']")
_DOCSTRING = re.compile(r"(\"\"\"|''')(.{0,8000}?)\1", re.DOTALL)
_EXAMPLE = re.compile(r"[\"']action[\"'][ \t]*:[ \t]*[\"']([^\"'\n]{1,64})[\"']")
_PLACEHOLDERS = {"action_name", "string", "action"}


def find_actions(source: bytes, manifest: Manifest) -> tuple[str, ...]:
    """Up to 100 distinct actions, from the front matter and the first 256 KiB of the script.

    In the script, looks at ``supported_actions``, comparisons with ``action`` and the first docstring.
    """
    text = source[:_READ_BYTES].decode("utf-8", "replace")
    named = [*_front_matter(manifest), *_in_source(text)]
    valid = [name for name in named if _NAME.fullmatch(name) and name not in _PLACEHOLDERS]
    return tuple(dict.fromkeys(valid))[:_MAX_ACTIONS]


def _front_matter(manifest: Manifest) -> Iterator[str]:
    actions = manifest.extra.get("actions") or manifest.extra.get("supported_actions") or ()
    for item in actions if isinstance(actions, list | dict) else ():
        name = item.get("name") if isinstance(item, dict) else item
        if isinstance(name, str):
            yield name


def _in_source(text: str) -> Iterator[str]:
    for match in _SUPPORTED.finditer(text):
        yield from _QUOTED.findall(match[1])
    yield from _COMPARISON.findall(text)
    if docstring := _DOCSTRING.search(text[:16_384]):
        yield from _EXAMPLE.findall(docstring[2])
