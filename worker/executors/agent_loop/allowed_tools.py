"""The tools that an agent loop may use, from the manifest's ``allowed-tools``."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

TOOLS = ("Read", "Glob", "Grep", "Bash", "Script")
READ_ONLY_TOOLS = ("Read", "Glob", "Grep")
_ENTRY = re.compile(r"(?P<name>[^()\s]+)\s*(?:\((?P<rule>.*)\))?\s*", re.DOTALL)
_ALIASES = {"ls": "Glob", "view": "Read"}
_SHELL_OPERATORS = re.compile(r"[;&|<>`$\n\r(){}]")  # characters that chain or nest commands


@dataclass(frozen=True)
class AllowedTools:
    """The rules of each allowed tool: a call must match one of them; a tool without rules allows any call."""

    rules: dict[str, tuple[str, ...]]
    unknown: tuple[str, ...] = ()  # named entries that are unknown or not allowed

    def allows(self, tool: str, argument: str) -> bool:
        """Whether the tool may be called with ``argument``: a command line, a path or a script's id."""
        if tool not in self.rules:
            return False
        rules = self.rules[tool]
        if not rules:
            return True
        if tool == "Bash":
            return not _SHELL_OPERATORS.search(argument) and any(
                _matches_command(rule, argument) for rule in rules
            )
        return any(fnmatchcase(argument, rule.removeprefix("./")) for rule in rules)


def parse_allowed_tools(named: Iterable[str], *, trusted: bool) -> AllowedTools:
    """The tools that the skill names; all tools if it names none.

    A skill that is not ``trusted`` gets only tools that read, even if it names others. Named tools that the
    skill does not get are in ``unknown``.
    """
    entries = tuple(named)
    available = TOOLS if trusted else READ_ONLY_TOOLS
    rules: dict[str, list[str]] = {}
    unknown: list[str] = []
    for text in entries:
        match = _ENTRY.fullmatch(text.strip())
        tool = _canonical_name(match["name"]) if match else None
        if match is None or tool is None or tool not in available:
            unknown.append(text)
            continue
        rules.setdefault(tool, []).append((match["rule"] or "").strip())
    if not entries:
        rules = {tool: [""] for tool in available}
    bare = {tool: () if {"", "*"} & set(each) else tuple(each) for tool, each in rules.items()}
    return AllowedTools(bare, tuple(unknown))


def _canonical_name(name: str) -> str | None:
    known = {tool.lower(): tool for tool in TOOLS} | _ALIASES
    return known.get(name.lower())


def _matches_command(rule: str, command: str) -> bool:
    """Whether a rule allows the command: ``git status`` exactly, ``git:*`` as a prefix, or a glob pattern."""
    command = command.strip()
    if rule.endswith(":*"):
        prefix = rule[:-2].rstrip()
        return command == prefix or command.startswith(f"{prefix} ")
    return fnmatchcase(command, rule)
