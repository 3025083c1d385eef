"""The Chinese catalogue: whole, compiled, and true to the templates' places."""

from __future__ import annotations

import ast
import gettext
import re
from pathlib import Path

import pytest

from portal.pages.runs.presenters.timeline import PLATFORM
from registry.identity.permissions import Action
from registry.packages.problems import CODES
from tests.conftest import ROOT

pytestmark = pytest.mark.row("P8")
FOLDER = ROOT / "portal/locale/zh_Hans/LC_MESSAGES"
_LINE = re.compile(r'^(msgctxt|msgid|msgid_plural|msgstr(?:\[\d\])?) (".*")$')
_PLACES = re.compile(r"%\(\w+\)[sd]")
_TEMPLATE_TEXTS = (
    re.compile(r"""\{%\s*translate\s+(?:"([^"]*)"|'([^']*)')(?:\s+context\s+"([^"]*)")?"""),
    re.compile(r"\{%\s*blocktranslate([^%]*)%\}(.*?)\{%\s*(?:plural|endblocktranslate)\s*%\}", re.S),
)
_MARKS = {"_", "gettext", "gettext_lazy", "gettext_noop"}
_MARKS_WITH_CONTEXT = {"pgettext", "pgettext_lazy"}


@pytest.fixture(scope="module")
def entries() -> list[dict[str, str]]:
    """The catalogue's entries: msgctxt, msgid, msgid_plural, msgstr or msgstr[0]."""
    found = []
    for block in (FOLDER / "django.po").read_text("utf-8").split("\n\n"):
        entry, last = {"comment": ""}, ""
        for line in block.splitlines():
            if match := _LINE.match(line):
                last = match[1]
                entry[last] = ast.literal_eval(match[2])
            elif line.startswith('"'):
                entry[last] += ast.literal_eval(line)
            elif line.startswith("#"):
                entry["comment"] += line
        if entry.get("msgid"):
            found.append(entry)
    return found


@pytest.fixture(scope="module")
def compiled() -> gettext.GNUTranslations:
    with open(FOLDER / "django.mo", "rb") as file:
        return gettext.GNUTranslations(file)


def test_every_entry_is_translated_and_none_is_a_guess(entries):
    assert len(entries) > 500
    left = [entry["msgid"] for entry in entries if not (entry.get("msgstr") or entry.get("msgstr[0]"))]
    assert left == []
    assert [entry["msgid"] for entry in entries if "fuzzy" in entry["comment"]] == []


def test_chinese_addresses_the_reader_politely(entries):
    familiar = [entry["msgid"] for entry in entries if "你" in (entry.get("msgstr") or entry["msgstr[0]"])]
    assert familiar == []


def test_chinese_has_one_rule_for_spaces_and_punctuation(entries):
    """A space between Chinese and Latin letters or digits; full-width punctuation without spaces."""
    han, wide = "[\u4e00-\u9fff]", "[，。：；、？！（）“”]"
    wrong = re.compile(
        rf"{han}[A-Za-z0-9`]|[A-Za-z0-9`]{han}|{wide} | {wide}|{han} {han}|{han}[,:;?!()]|[,:;?!()]{han}"
    )
    texts = [entry.get("msgstr") or entry["msgstr[0]"] for entry in entries]
    assert [text for text in texts if wrong.search(_PLACES.sub("%", text))] == []


def test_what_is_put_into_a_text_is_put_into_its_translation(entries):
    for entry in entries:
        source = entry.get("msgid_plural") or entry["msgid"]
        translation = entry.get("msgstr") or entry["msgstr[0]"]
        assert set(_PLACES.findall(translation)) == set(_PLACES.findall(source)), entry["msgid"]


def test_what_is_compiled_is_what_is_written(entries, compiled):
    for entry in entries:
        if "msgid_plural" in entry:
            said = compiled.ngettext(entry["msgid"], entry["msgid_plural"], 2)
        elif "msgctxt" in entry:
            said = compiled.pgettext(entry["msgctxt"], entry["msgid"])
        else:
            said = compiled.gettext(entry["msgid"])
        assert said == (entry.get("msgstr") or entry["msgstr[0]"]), "run manage.py compilemessages"


def test_every_code_speaks_chinese(entries):
    known = {entry["msgid"] for entry in entries}
    texts = {text for code in CODES.values() for text in (code.message, code.remedy)}
    assert sorted(texts - known - {""}) == [], "run manage.py makemessages -l zh_Hans and translate"


def test_every_text_of_code_and_templates_is_in_the_catalogue(entries):
    known = {(entry.get("msgctxt", ""), entry["msgid"]) for entry in entries}
    missing = {
        (path.name, *text)
        for path, *text in (*_texts_of_code(), *_texts_of_templates())
        if tuple(text) not in known
    }
    assert sorted(missing) == [], "run manage.py makemessages -l zh_Hans and translate"


def test_every_noun_and_action_of_an_error_is_in_the_catalogue(entries):
    known = {entry["msgid"] for entry in entries if "msgctxt" not in entry}
    named = {text for path in _code() for text in _nouns_and_actions(path)}
    assert sorted((named | {action.value for action in Action}) - known) == []


def test_a_mark_has_one_of_the_names_by_which_texts_are_found():
    other = re.compile(r"\w*gettext\w* as (?!_\b)\w+")
    found = {path.name: other.findall(path.read_text("utf-8")) for path in _code()}
    assert {name: names for name, names in found.items() if names} == {}


@pytest.mark.row("C11")
def test_every_step_that_the_portal_takes_has_words():
    taken = [re.findall(r'\.step\("(\w+)"\)', path.read_text("utf-8")) for path in _code()]
    assert {name for names in taken for name in names} == set(PLATFORM)


def _code():
    return [
        path for floor in ("registry", "worker", "portal") for path in sorted((ROOT / floor).rglob("*.py"))
    ]


def _nouns_and_actions(path):
    # argparse has actions too, and the shell speaks English
    if "management" in path.parts or path.name == "skillquay.py":
        return
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.keyword) and node.arg in {"what", "action"}:
            text = getattr(node.value, "value", None)
            if isinstance(text, str):
                yield text


def _texts_of_code():
    for path in _code():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            text = _marked_text(node)
            if text is not None:
                yield path, *text


def _marked_text(node: ast.AST) -> tuple[str, str] | None:
    """The context, "" for most texts, and the text."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return None
    size = 2 if node.func.id in _MARKS_WITH_CONTEXT else 1 if node.func.id in _MARKS else 0
    values = [each.value for each in node.args[:size] if isinstance(each, ast.Constant)]
    texts = [value for value in values if isinstance(value, str)]
    if not size or len(texts) < size:
        return None
    return texts[-2] if size == 2 else "", texts[-1]


def _texts_of_templates():
    for path in sorted(Path(ROOT / "portal/templates").rglob("*.html")):
        text = path.read_text("utf-8")
        for match in _TEMPLATE_TEXTS[0].finditer(text):
            yield path, match[3] or "", match[1] or match[2]
        for match in _TEMPLATE_TEXTS[1].finditer(text):
            block = match[2].strip("\n")
            if "trimmed" in match[1].split():
                block = " ".join(line.strip() for line in block.strip().splitlines())
            context = re.search(r'context "([^"]*)"', match[1])
            yield path, context[1] if context else "", re.sub(r"\{\{\s*(\w+)[^}]*\}\}", r"%(\1)s", block)
