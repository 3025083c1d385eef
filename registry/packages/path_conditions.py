"""Matches the ``paths`` of skills: agents see such a skill only if a file in use matches a pattern."""

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from pathspec import GitIgnoreSpec

_MAX_PATTERNS = 100  # per skill, after brace expansion
_MAX_PATTERN_LENGTH = 300  # characters per pattern
# stars per path segment, and ``**`` per pattern; each one multiplies the time of a failed match
_MAX_STARS = 3
_MAX_NAME_LENGTH = 255
_MAX_DEPTH = 64
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_OUTSIDE = re.compile(r"|\.\.?|~|[A-Za-z]:")  # first segment of a path outside the project
_NOT_GITIGNORE = re.compile(r"#|\.\.?/|~/|[A-Za-z]:|.*\\[\w*]")  # a comment, or a shell or Windows path
_OUTER_COMMA = re.compile(r",(?![^{]*\})")


def split(text: str) -> list[str]:
    """The patterns in a text, split at commas outside braces. Keeps white space around patterns."""
    return _OUTER_COMMA.split(text)


def any_file_matches(patterns: Sequence[str], paths: Collection[str]) -> bool:
    """Whether one of the paths matches. Always True without patterns or with only ``**``.

    Paths outside the project and overlong paths never match.
    """
    spec = _spec(tuple(patterns))
    return spec is None or any(spec.match_file(path) for path in _project_paths(paths))


def unmatchable_patterns(patterns: Sequence[str]) -> tuple[str, ...]:
    """The patterns, after brace expansion, that no file can match. Returns all patterns if every one is
    negated.
    """
    expanded = [pattern.strip() for pattern in _expand(patterns)]
    if expanded and all(pattern.startswith("!") for pattern in expanded):
        return tuple(expanded)
    return tuple(
        pattern
        for pattern in expanded
        if not _is_valid(_strip_folder_suffix(pattern)) or _NOT_GITIGNORE.match(pattern.removeprefix("!"))
    )


@lru_cache(maxsize=1024)
def _spec(patterns: tuple[str, ...]) -> GitIgnoreSpec | None:
    """The compiled valid patterns; None if every file matches, because there is no pattern or only ``**``."""
    expanded = [bare for pattern in _expand(patterns) if (bare := _strip_folder_suffix(pattern.strip()))]
    if all(pattern == "**" for pattern in expanded):
        return None
    return GitIgnoreSpec.from_lines(pattern for pattern in expanded if _is_valid(pattern))


def _strip_folder_suffix(pattern: str) -> str:
    """The pattern without a final ``/**``, because a folder alone matches its content too.

    Negated patterns stay unchanged.
    """
    return pattern if pattern.startswith("!") else pattern.removesuffix("/**")


def _expand(patterns: Iterable[str]) -> list[str]:
    expanded: list[str] = []
    for pattern in patterns:
        for one in _without_braces(pattern) if len(pattern) <= _MAX_PATTERN_LENGTH else (pattern,):
            if len(expanded) == _MAX_PATTERNS:
                return expanded
            expanded.append(one)
    return expanded


def _without_braces(pattern: str) -> Iterator[str]:
    braces = _BRACES.search(pattern)
    if braces is None:
        yield pattern
        return
    for choice in braces[1].split(","):
        yield from _without_braces(pattern[: braces.start()] + choice.strip() + pattern[braces.end() :])


def _is_valid(pattern: str) -> bool:
    """Whether the pattern is valid .gitignore syntax and fast to match."""
    parts = pattern.split("/")
    stars = max(len(re.findall(r"\*+", part)) for part in parts)
    if max(stars, parts.count("**")) > _MAX_STARS or len(pattern) > _MAX_PATTERN_LENGTH:
        return False
    try:
        GitIgnoreSpec.from_lines([pattern])
    except ValueError:
        return False
    return True


def _project_paths(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        normalized = posixpath.normpath(path.replace("\\", "/"))
        parts = normalized.split("/")
        is_short = len(parts) <= _MAX_DEPTH and max(map(len, parts)) <= _MAX_NAME_LENGTH
        if is_short and not _OUTSIDE.fullmatch(parts[0]):
            yield normalized
