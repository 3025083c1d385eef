"""``paths`` of a skill: patterns as in .gitignore; it is there only where a file that is worked on fits."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from pathspec import GitIgnoreSpec

_MOST_PATTERNS = 100  # of a skill, its braces expanded
_MOST_CHARACTERS = 300  # of a pattern
_MOST_STARS = 3  # in one part of a pattern, and of ``**``: the time to fail grows with their power
_LONGEST_NAME = 255
_MOST_FOLDERS = 64
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_OUTSIDE = re.compile(r"|\.\.?|~|[A-Za-z]:")  # where a path begins that is not of the project
_MISWRITTEN = re.compile(
    r"#|\.\.?/|~/|[A-Za-z]:|.*\\[\w*]"
)  # a comment, or as a shell or Windows names files
_OUTER_COMMA = re.compile(r",(?![^{]*\})")


def split(text: str) -> list[str]:
    """The patterns of one text: commas part them, but not within braces."""
    return _OUTER_COMMA.split(text)


def fits(patterns: Sequence[str], paths: Collection[str]) -> bool:
    """Whether there is no condition, or one of the files fits it; files outside the project never do."""
    spec = _spec(tuple(patterns))
    return spec is None or any(spec.match_file(path) for path in _within(paths))


def unfit(patterns: Sequence[str]) -> tuple[str, ...]:
    """Those which no file can fit, as they are written."""
    said = [pattern.strip() for pattern in _expanded(patterns)]
    if said and all(pattern.startswith("!") for pattern in said):
        return tuple(said)
    return tuple(
        pattern
        for pattern in said
        if not _is_sound(_bare(pattern)) or _MISWRITTEN.match(pattern.removeprefix("!"))
    )


@lru_cache(maxsize=1024)
def _spec(patterns: tuple[str, ...]) -> GitIgnoreSpec | None:
    """None where every file fits: no pattern, or nothing but ``**``."""
    said = [bare for pattern in _expanded(patterns) if (bare := _bare(pattern.strip()))]
    if all(pattern == "**" for pattern in said):
        return None
    return GitIgnoreSpec.from_lines(pattern for pattern in said if _is_sound(pattern))


def _bare(pattern: str) -> str:
    """Without ``/**`` at its end: a folder stands for what is in it. What is excepted stays as it is."""
    return pattern if pattern.startswith("!") else pattern.removesuffix("/**")


def _expanded(patterns: Iterable[str]) -> list[str]:
    found: list[str] = []
    for pattern in patterns:
        for one in _without_braces(pattern) if len(pattern) <= _MOST_CHARACTERS else (pattern,):
            if len(found) == _MOST_PATTERNS:
                return found
            found.append(one)
    return found


def _without_braces(pattern: str) -> Iterator[str]:
    braces = _BRACES.search(pattern)
    if braces is None:
        yield pattern
        return
    for choice in braces[1].split(","):
        yield from _without_braces(pattern[: braces.start()] + choice.strip() + pattern[braces.end() :])


def _is_sound(pattern: str) -> bool:
    """Whether it can be read, and quickly."""
    parts = pattern.split("/")
    stars = max(len(re.findall(r"\*+", part)) for part in parts)
    if max(stars, parts.count("**")) > _MOST_STARS or len(pattern) > _MOST_CHARACTERS:
        return False
    try:
        GitIgnoreSpec.from_lines([pattern])
    except ValueError:
        return False
    return True


def _within(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        plain = posixpath.normpath(path.replace("\\", "/"))
        parts = plain.split("/")
        is_short = len(parts) <= _MOST_FOLDERS and max(map(len, parts)) <= _LONGEST_NAME
        if is_short and not _OUTSIDE.fullmatch(parts[0]):
            yield plain
