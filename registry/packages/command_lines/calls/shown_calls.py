"""Finds the calls of scripts that a package's Markdown documents show."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from registry.packages.command_lines.calls.shell_words import Word, simple_commands

MAX_CALLS = 400  # of all scripts
MAX_CHARACTERS = 1_000_000  # of all documents
_MAX_LINE = 2_000
_MAX_WORDS = 60
_MAX_LEADING = 12  # words before the script
_FENCE = re.compile(r"\s{0,12}(?:>\s?)?(`{3,}|~{3,})\s*(\w*)")
_INLINE = re.compile(r"`([^`\n]{3,400})`")
_OPTIONAL = re.compile(r"""\s\[[^\[\]"'{}]{1,200}\](?:\.{3})?(?=[\s\]]|$)""")
_PROMPT = re.compile(r"^\s*(?:\$|%|>|❯)\s+")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_INTERPRETER = re.compile(
    r"python(?:[23](?:\.\d+)?)?|py|bash|sh|zsh|node|tsx|ts-node|bun|deno|uv|npx|poetry|pipenv"
)
_BEFORE = ("sudo", "time", "env", "nohup", "exec", "command", "do", "then", "else", "if", "while", "!", "{")
_SHELLS = ("bash", "sh", "shell", "zsh", "console", "terminal", "shellsession")
_TAKES_VALUE = ("--with", "-p", "--python", "--extra", "--group", "--import", "-r", "--env-file", "-W", "-X")
_HELP = frozenset(("-h", "--help", "-help", "help", "--version"))
_SYNOPSIS = ("[", "(", "…", "...")


@dataclass(frozen=True)
class ShownCall:
    """A call of the script at ``path``, at this line of a document.

    ``is_template`` is set if a word has a placeholder, variable or pattern. ``is_inline`` is set if the call
    is part of a sentence, and ``is_synopsis`` if it is a synopsis without its optional parts.
    """

    path: str
    words: tuple[str, ...]
    document: str
    line: int
    is_template: bool = False
    is_inline: bool = False
    is_synopsis: bool = False


@dataclass(frozen=True)
class _CodeLine:
    text: str
    line: int
    is_shell: bool = False
    is_inline: bool = False


def find_shown_calls(documents: Mapping[str, str], scripts: Collection[str]) -> list[ShownCall]:
    """The calls of the scripts in the documents, in document order and at most ``MAX_CALLS``.

    Omits calls for help, and the optional parts of synopses.
    """
    finder = _ScriptFinder(scripts)
    found: list[ShownCall] = []
    left = MAX_CHARACTERS
    for document, text in documents.items():
        for code in _code_lines(text[:left].splitlines()):
            if finder.may_name(code.text):
                found += _calls(code, document, finder)
        left -= len(text)
        if left <= 0 or len(found) >= MAX_CALLS:
            break
    return found[:MAX_CALLS]


def _code_lines(lines: Iterable[str]) -> Iterator[_CodeLine]:
    """Yields the lines of code blocks and inline code. Indented lines count as code.

    Continuation lines are joined.
    """
    fence, is_shell, joined, start = "", False, "", 0
    for number, line in enumerate(lines, start=1):
        opening = _FENCE.match(line)
        if opening and (not fence or (opening[1].startswith(fence) and not opening[2])):
            fence, is_shell = ("", False) if fence else (opening[1], opening[2].lower() in _SHELLS)
            joined = ""
        elif fence or line.startswith(("    ", "\t")):
            start = start if joined else number
            joined += line
            if joined.endswith("\\") and len(joined) <= _MAX_LINE:
                joined = joined[:-1]
                continue
            yield _CodeLine(_PROMPT.sub("", joined), start, is_shell)
            joined = ""
        if not fence:
            for match in _INLINE.finditer(line[:_MAX_LINE]):
                yield _CodeLine(match[1], number, is_inline=True)


def _calls(code: _CodeLine, document: str, finder: _ScriptFinder) -> Iterator[ShownCall]:
    if len(code.text) > _MAX_LINE:
        return
    text = _OPTIONAL.sub("", _OPTIONAL.sub("", code.text))
    for command in simple_commands(text):
        path, words = finder.find(command, is_shell=code.is_shell)
        texts = tuple(word.text for word in words)
        if not path or len(texts) > _MAX_WORDS or _is_unusable(texts):
            continue
        is_template = any(word.is_template for word in words)
        yield ShownCall(
            path, texts, document, code.line, is_template, code.is_inline, is_synopsis=text != code.text
        )


def _is_unusable(texts: tuple[str, ...]) -> bool:
    """Whether the call only shows the help, or has parts that no call can have, such as "..."."""
    is_help = bool(_HELP & {*texts[:2], *texts[-1:]})
    return is_help or any(text.startswith(_SYNOPSIS) or text.endswith("...") for text in texts)


class _ScriptFinder:
    def __init__(self, scripts: Collection[str]) -> None:
        self.scripts = frozenset(scripts)
        without_suffix = {str(PurePosixPath(path).with_suffix("")): path for path in self.scripts}
        self.by_end = without_suffix | {path: path for path in self.scripts}
        names = Counter(PurePosixPath(path).name for path in self.scripts)
        self.by_name = {name: path for path in self.scripts if names[name := PurePosixPath(path).name] == 1}
        stems = {PurePosixPath(path).stem for path in self.scripts}
        self.stems = re.compile("|".join(map(re.escape, sorted(stems)))) if stems else None

    def may_name(self, text: str) -> bool:
        return self.stems is not None and bool(self.stems.search(text[:_MAX_LINE]))

    def find(self, command: list[Word], *, is_shell: bool) -> tuple[str, list[Word]]:
        """The path of the started script, or "", and the words after it."""
        interpreted, place = False, 0
        for _ in range(_MAX_LEADING):
            word = command[place].text if place < len(command) else ""
            after = command[place + 1].text if place + 1 < len(command) else ""
            if interpreted and word == "-m":
                path = after.replace(".", "/") + ".py"
                return (path if path in self.scripts else ""), command[place + 2 :]
            if interpreted and word in ("-c", "-e"):
                return "", []
            if _INTERPRETER.fullmatch(word.rpartition("/")[2]):
                interpreted = True
            elif interpreted and word in _TAKES_VALUE:
                place += 1
            elif not (
                (interpreted and (word.startswith("-") or word in ("run", "exec", "tsx")))
                or word in _BEFORE
                or _ASSIGNMENT.fullmatch(word)
            ):
                break
            place += 1
        if not word or not (interpreted or is_shell or word.startswith("./") or after.startswith("-")):
            return "", []
        return self._match(word), command[place + 1 :]

    def _match(self, word: str) -> str:
        """The path of the script that the word names, or "".

        A word names a script if it ends with the script's path, with or without suffix. It also names a
        script if it is the name of only one script.
        """
        parts = PurePosixPath(word).parts[-8:]
        ends = ("/".join(parts[start:]) for start in range(len(parts)))
        found = next((self.by_end[end] for end in ends if end in self.by_end), "")
        return found or (self.by_name.get(parts[0], "") if len(parts) == 1 else "")
