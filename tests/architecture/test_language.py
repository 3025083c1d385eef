"""Plain product English: banned phrases in texts, banned words in identifiers, one meaning a class name."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

import pytest

from tests.architecture.sources import MODULES, ROOT, comments_of, source_of

pytestmark = pytest.mark.row("P9")

PHRASES = re.compile(
    r"""\b(
    told | tells\ of | said | says?\ of\ (it|him|her|them|one)sel(f|ves) | heard | unheard | mend(s|ed|ing)?
    | anew | made\ of | stands?\ (against|for\ nothing) | is\ not\ there | beside(?!s) | by\ now
    | go(es|ne|ing)?\ on\b(?!\ (a|the|to|with|until)\b) | who(m)?ever | what\ was\ to\ be
    | tak(e|es|en|ing)\ back | lets?\ (it\ |a\ )?run | asks?\ for\ nothing | offered\ to | unasked | of\ which
    | nobody | somebody | whom | waits?\ for\ [^.]{0,30}\bleave | or\ else | (?-i:[Dd]ocuments?\ [A-E]\b)
    | (?-i:[Rr]ows?\ [A-EP]\d+)
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
TOKENS = {
    *(
        "told",
        "said",
        "heard",
        "unheard",
        "mend",
        "mended",
        "anew",
        "whoever",
        "unasked",
        "nobody",
        "somebody",
    ),
    *("beside", "leash", "doorkeeper", "warden", "fare", "fares", "wishes", "reach", "sight", "spare"),
    *("lanes", "showing", "hearing", "asking", "leave"),
}
ALLOWED_TOKENS: dict[str, str] = {}  # identifier: why it is right


def _docs() -> Iterator[tuple[str, str]]:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "bench/README.md"]
    for page in pages:
        in_code = False
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            in_code ^= line.lstrip().startswith("```")
            if not in_code and page.name != "requirements.md":
                yield f"{page.relative_to(ROOT)}:{number}", re.sub(r"`[^`]*`", "", line)


def _messages() -> Iterator[tuple[str, str]]:
    catalogue = (ROOT / "portal/locale/zh_Hans/LC_MESSAGES/django.po").read_text(encoding="utf-8")
    for match in re.finditer(r'^msgid(?:_plural)? ((?:"(?:[^"\\]|\\.)*"\n?)+)', catalogue, re.MULTILINE):
        text = "".join(ast.literal_eval(part) for part in match[1].splitlines())
        yield "message", re.sub(r"%\(\w+\)s|`[^`]*`", "", text)


def _docstrings_and_comments() -> Iterator[tuple[str, str]]:
    for path in MODULES.values():
        place = path.relative_to(ROOT)
        for line, text in source_of(path).docstrings:
            yield f"{place}:{line}", re.sub(r"``[^`]*``", "", text)
        yield from ((f"{place}:{line}", text) for line, text in comments_of(path))


@pytest.mark.parametrize("texts", [_docs, _messages, _docstrings_and_comments])
def test_texts_hold_no_banned_phrase(texts) -> None:
    found = [
        f"{place}: “{match[0]}” in {text[max(0, match.start() - 30) : match.end() + 30]!r}"
        for place, text in texts()
        for match in [PHRASES.search(text)]
        if match
    ]
    assert found == []


def _identifiers() -> Iterator[tuple[str, str]]:
    for path in MODULES.values():
        place = path.relative_to(ROOT)
        yield from ((f"{place}:{line}", name) for line, name in source_of(path).names)
        yield str(place), path.stem


def _words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def test_identifiers_hold_no_banned_word() -> None:
    found = {
        f"{place} {name}"
        for place, name in _identifiers()
        if TOKENS & _words(name) and name not in ALLOWED_TOKENS
    }
    assert sorted(found) == []


def test_public_class_names_are_unique_on_each_floor() -> None:
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for module, path in MODULES.items():
        if "management" in path.parts:
            continue
        for name in source_of(path).classes:
            places[module.split(".")[0], name].append(module)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_sql_stands_in_sql_modules() -> None:
    modules = [path for path in MODULES.values() if path.name != "sql.py"]
    assert [f"{path.relative_to(ROOT)}:{line}" for path in modules for line in source_of(path).sql] == []


MAX_TEMPLATE_LINE = 160


def test_template_lines_are_short() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "portal/templates").rglob("*.html"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > MAX_TEMPLATE_LINE
    ]
    assert long == []
