"""Which tools a loop has: those of the portal that ``allowed-tools`` names, as narrowly as it names them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

TOOLS = ("Read", "Glob", "Grep", "Bash", "Script")
READING = ("Read", "Glob", "Grep")
_WRITTEN = re.compile(r"(?P<name>[^()\s]+)\s*(?:\((?P<rule>.*)\))?\s*", re.DOTALL)
_SAME = {"ls": "Glob", "view": "Read"}
_JOINING = re.compile(r"[;&|<>`$\n\r(){}]")  # what makes one command line several, or another one


@dataclass(frozen=True)
class Allowed:
    """For each tool that the loop has, the rules of which one must hold; none means that all is allowed."""

    rules: dict[str, tuple[str, ...]]
    unknown: tuple[str, ...] = ()  # that the skill names and the portal does not have

    def allows(self, tool: str, what: str) -> bool:
        """Whether the tool may be used on ``what``: a command line, a path or a script's id."""
        if tool not in self.rules:
            return False
        rules = self.rules[tool]
        if not rules:
            return True
        if tool == "Bash":
            return not _JOINING.search(what) and any(_fits_command(rule, what) for rule in rules)
        return any(fnmatchcase(what, rule.removeprefix("./")) for rule in rules)


def allowed(named: Iterable[str], *, trusted: bool) -> Allowed:
    """What the skill names of the portal's tools; all of them where it names none.

    A skill that is not ``trusted`` gets tools for reading alone, whatever it names.
    """
    wanted = tuple(named)
    offered = TOOLS if trusted else READING
    rules: dict[str, list[str]] = {}
    unknown: list[str] = []
    for text in wanted:
        match = _WRITTEN.fullmatch(text.strip())
        tool = _tool(match["name"]) if match else None
        if match is None or tool is None or tool not in offered:
            unknown.append(text)
            continue
        rules.setdefault(tool, []).append((match["rule"] or "").strip())
    if not wanted:
        rules = {tool: [""] for tool in offered}
    bare = {tool: () if {"", "*"} & set(each) else tuple(each) for tool, each in rules.items()}
    return Allowed(bare, tuple(unknown))


def _tool(name: str) -> str | None:
    known = {tool.lower(): tool for tool in TOOLS} | _SAME
    return known.get(name.lower())


def _fits_command(rule: str, command: str) -> bool:
    """``git status`` alone, ``git:*`` and what follows it, or a pattern with stars."""
    command = command.strip()
    if rule.endswith(":*"):
        prefix = rule[:-2].rstrip()
        return command == prefix or command.startswith(f"{prefix} ")
    return fnmatchcase(command, rule)
