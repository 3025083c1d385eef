"""Fingerprints by which ClawHub clients recognize the version of an installed folder."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from registry.models import File, Version

_MAX_KNOWN = 20_000  # versions whose fingerprints a process remembers, about 300 bytes each
# The order of the root locale of ICU, in which JavaScript's localeCompare sorts.
_PUNCTUATION = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"
_RANKS = {character: rank for rank, character in enumerate(_PUNCTUATION)}
# Clients before 0.23 ignore files with other extensions.
_TEXT_NAME = re.compile(
    r"\.(mdx?|txt|json5?|ya?ml|toml|[cm]?js|[jt]sx?|py|sh|ps[dm]?1|r|rb|go|rs|swift|kt|java|cs|cpp|[ch]|hpp|sql"
    r"|[ct]sv|ini|cfg|conf|env|properties|dat|xml|html|s?css|sass|svg)\Z",
    re.IGNORECASE,
)
_known: dict[str, frozenset[str]] = {}


def find_by_fingerprint(versions: Sequence[Version], fingerprint: str) -> Version | None:
    """The first version with this fingerprint. Older and newer clients compute fingerprints in different
    ways; both are compared.
    """
    found = {each.digest: _known[each.digest] for each in versions if each.digest in _known}
    unknown = [version for version in versions if version.digest not in found]
    files = _files([version.pk for version in unknown])
    new = {version.digest: _fingerprints(files[version.pk]) for version in unknown}
    if len(_known) > _MAX_KNOWN:
        _known.clear()
    _known.update(new)
    found.update(new)
    return next((version for version in versions if fingerprint in found[version.digest]), None)


def _files(versions: Sequence[int]) -> defaultdict[int, list[File]]:
    found: defaultdict[int, list[File]] = defaultdict(list)
    if versions:
        for file in File.objects.filter(version__in=versions).only("version_id", "path", "digest", "is_text"):
            found[file.version_id].append(file)
    return found


def _fingerprints(files: Iterable[File]) -> frozenset[str]:
    """The fingerprint of all files and the fingerprint of the text files. Both omit files and
    folders with a leading dot, as clients do.
    """
    listed = [file for file in files if not any(part.startswith(".") for part in file.path.split("/"))]
    texts = [file for file in listed if _is_text(file)]
    return frozenset({_fingerprint(listed), _fingerprint(texts)})


def _is_text(file: File) -> bool:
    name = file.path.rpartition("/")[2]
    return bool(_TEXT_NAME.search(name)) if "." in name else file.is_text


def _fingerprint(files: Iterable[File]) -> str:
    rows = sorted(files, key=lambda file: sort_key(file.path))
    text = "\n".join(f"{file.path}:{file.digest.removeprefix('sha256:')}" for file in rows)
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=1000)
def sort_key(path: str) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...], tuple[bool, ...]]:
    """The key that sorts paths like JavaScript's localeCompare: by characters without accents and case, then
    by accents, then lower case first. Characters of scripts other than Latin sort by code point.
    """
    characters = unicodedata.normalize("NFD", path)
    base = [character for character in characters if not unicodedata.combining(character)]
    marks = tuple(ord(character) for character in characters if unicodedata.combining(character))
    return tuple(map(_rank, base)), marks, tuple(character.isupper() for character in base)


def _rank(character: str) -> tuple[int, int]:
    if character in _RANKS:
        return 0, _RANKS[character]
    return (1, int(character)) if character in "0123456789" else (2, ord(character.lower()[0]))
