"""Punctuation of Chinese pages: full-width marks, without spaces next to them."""

from __future__ import annotations

import re
from datetime import timedelta
from html.parser import HTMLParser

import pytest
from django.template import Context, Template
from django.template.loader import render_to_string
from django.utils import timezone, translation

from portal.pages.skill.presenters.plain_values import PurposeValues
from portal.presenters.content.punctuation import close_up
from registry.api.errors import QUERY_UNKNOWN
from registry.models import User
from tests.demo.pages import demo_pages, fill_records
from tests.demo.seed import seed
from tests.pages import VOID

pytestmark = pytest.mark.row("P8")
_INLINE = {"a", "bdi", "code", "em", "kbd", "mark", "span", "strong", "time"}
_APART = {"badge", "button", "lone", "sr", "tag", "title"}  # classes of elements that don't continue a text
_FLEX = {"facts", "row"}  # classes whose children are set apart by a gap
_FOREIGN = {"bdi", "code", "kbd", "mark", "pre", "samp", "script", "style", "textarea"}  # values of users
_VALUE = "\ufffc"
_HAN, _END = "[\u4e00-\u9fff]", "[，。：；、]"
_WRONG = re.compile(
    rf"{_HAN}{_VALUE}*[,:;?!()]|[,:;?!()]{_VALUE}*{_HAN}"  # half-width punctuation of a Chinese text
    rf"|{_END} +[^ ]|[^ ] +{_END}|[^ ] +（"
)


class _Texts(HTMLParser):
    """The texts of a page, one for each element that is not part of a line; a value stands for user text."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = [""]
        self.open: list[tuple[str, set[str], bool, bool]] = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        classes = set((given.get("class") or "").split())
        parent = self.open[-1][1] if self.open else set()
        is_apart = tag not in _INLINE or bool(classes & _APART) or bool(parent & _FLEX)
        if is_apart:
            self.found.append("")
        if tag in VOID:
            return
        foreign = tag in _FOREIGN or given.get("lang") == "en"
        if foreign and not self._is_foreign():
            self.found[-1] += _VALUE
        self.open.append((tag, classes, is_apart, foreign))

    def handle_endtag(self, tag):
        while self.open:
            name, _classes, is_apart, _foreign = self.open.pop()
            if is_apart:
                self.found.append("")
            if name == tag:
                return

    def handle_data(self, data):
        if not self._is_foreign():
            self.found[-1] += data

    def _is_foreign(self):
        return any(foreign for *_rest, foreign in self.open)


def _wrong(response):
    parser = _Texts()
    parser.feed(response.content.decode().partition("<footer")[0])
    texts = {" ".join(text.split()) for text in parser.found}
    return {text for text in texts if _WRONG.search(text)}


@pytest.mark.django_db
@pytest.mark.slow(reason="opens every page of the demo site")
def test_chinese_pages_have_full_width_punctuation_without_spaces(browse):
    seed(runs=60)
    paths = demo_pages(fill_records())
    alice, root = (browse(User.objects.get(username=name), language="zh-hans") for name in ("alice", "root"))
    wrong = {}
    for path in paths:
        if path.startswith("/glossary/"):  # its rows are texts of users
            continue
        response = (root if path.startswith("/site/") else alice).get(path)
        if not response["Content-Type"].startswith("text/html"):
            response.close()
        elif texts := _wrong(response):
            wrong[path] = texts
    assert wrong == {}


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<b>所有者：</b>\n  <a>data</a>", "<b>所有者：</b><a>data</a>"),
        ("alice\n <span>（访问令牌）</span>", "alice<span>（访问令牌）</span>"),
        ("第一句。 第二句。", "第一句。第二句。"),
        ("Owner\n  : alice", "Owner: alice"),
        ("First. Second.", "First. Second."),
    ],
)
def test_close_up_keeps_only_the_spaces_of_the_language(html, expected):
    assert close_up(html) == expected


@pytest.mark.parametrize(("language", "expected"), [("en", "a, b, c"), ("zh-hans", "a、b、c")])
def test_list_in_an_error_has_the_separator_of_the_language(language, expected):
    problem = QUERY_UNKNOWN.problem(field="x", known=("a", "b", "c"))
    with translation.override(language):
        assert expected in problem.remedy(translation.gettext) + problem.message(translation.gettext)


@pytest.mark.parametrize(("language", "between"), [("en", "”, “"), ("zh-hans", "”、“")])
def test_phrases_of_a_skill_have_the_separator_of_the_language(language, between):
    purpose = PurposeValues("", "", ("first", "second"), (), is_internal=False, unavailable="")
    with translation.override(language):
        html = render_to_string("skill/purpose.html", {"purpose": purpose})
    assert between in re.sub(r"<[^>]*>", "", html)


def test_age_in_chinese_counts_days_as_all_other_texts_do():
    moment = timezone.now() - timedelta(days=2)
    with translation.override("zh-hans"):
        html = Template("{% load skillquay %}{% when moment %}").render(
            Context({"moment": moment, "reader_zone": "UTC", "request": None})
        )
    assert html.endswith(">2\xa0天前</time>")
