"""A stranger's Markdown: what it may show, and that nothing in it acts or fetches."""

from __future__ import annotations

import re

import pytest

from portal.presenters.content import highlighting, markdown
from portal.templatetags.skillquay import duration, plain, plain_attr, size
from portal.templatetags.skillquay_values import step_time
from tests.factories.skills import HOSTILE

pytestmark = pytest.mark.row("P1")
PATHS = ("references/style.md", "assets/chart.png", "assets/evil.svg")


def rendered(text: str) -> str:
    return markdown.render(
        text, paths=PATHS, page=lambda path: f"/files/{path}", raw=lambda path: f"/raw/{path}"
    )


def test_what_markdown_is_for_is_shown():
    html = rendered("# Title\n\n*a* **b** ~~c~~\n\n- one\n\n|a|b|\n|-|-|\n|1|2|\n\n```python\nimport os\n```")
    for part in (
        "<h2>Title</h2>",
        "<em>a</em>",
        "<s>c</s>",
        "<li>one</li>",
        "<td>1</td>",
        '<span class="kn">import',
    ):
        assert part in html


def test_links_into_the_package_lead_to_its_files():
    assert 'href="/files/references/style.md"' in rendered("[style](./references/style.md)")
    assert 'src="/raw/assets/chart.png"' in rendered("![chart](assets/chart.png)")


def test_links_elsewhere_vouch_for_nothing():
    assert 'rel="nofollow noopener noreferrer"' in rendered("[x](https://example.org)")


@pytest.mark.parametrize(
    "address", ["https://evil.example/p.png", "//evil.example/p.png", "data:image/png;base64,x"]
)
def test_no_picture_is_fetched_from_elsewhere(address):
    assert "<img" not in rendered(f"![tracker]({address})")
    assert "<img" not in rendered(f"[![tracker]({address})](https://example.org)")


def test_a_drawing_that_may_hold_scripts_is_only_named():
    assert "<img" not in rendered("![evil](assets/evil.svg)")


def test_hostile_markdown_is_only_text():
    html = rendered(HOSTILE)
    assert not re.search(r"<(script|svg|iframe|object|style|form|input|base|meta|link)", html)
    assert not re.search(r"<[^>]+\son\w+=", html)
    assert not re.search(r"(href|src)=\"\s*(javascript|data|vbscript):", html, re.I)


@pytest.mark.parametrize("character", ["\u202e", "\u200b", "\x1b", "\u2066", "\U000e0041"])
def test_what_hides_is_shown(character):
    number = f"U+{ord(character):04X}"
    assert number in rendered(f"a{character}b")
    assert number in plain(f"a{character}b")
    assert number in plain_attr(f"a{character}b")
    assert number in highlighting.lines(f"x = 'a{character}b'", "py")[0]


def test_plain_text_is_escaped_and_isolated():
    assert plain("<b>&") == "<bdi>&lt;b&gt;&amp;</bdi>"
    assert plain(None) == "<bdi></bdi>"


@pytest.mark.parametrize("text", ["", "\n", "a\r\nb\r\n", "x" * 200_000, "'''\n" * 10])
def test_every_line_of_a_file_is_shown(text):
    expected = text.replace("\r\n", "\n").removesuffix("\n").count("\n") + 1
    assert len(highlighting.lines(text, "py")) == expected


@pytest.mark.parametrize("text", ["[" * 30_000, "*a_" * 10_000, "> " * 20_000, "`" * 30_000, "![a](" * 5_000])
def test_markdown_made_to_be_slow_still_ends(text):
    assert len(rendered(text)) >= 0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.994, "0.99 s"),
        (0.996, "1.0 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (3599.6, "1 h 0 min"),
    ],
)
def test_duration_is_rounded_before_its_unit_is_chosen(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(9.94, "9.9 ms"), (9.96, "10 ms"), (999.4, "999 ms"), (999.6, "1.0 s"), (None, "–")],
)
def test_step_time_is_rounded_before_its_unit_is_chosen(value, text):
    assert step_time(value) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(9_940, "9.9 kB"), (9_960, "10 kB"), (999_499, "999 kB"), (999_999, "1.0 MB"), (999_999_999, "1.0 GB")],
)
def test_size_is_rounded_before_its_unit_is_chosen(count, text):
    assert size(count) == text


def test_sizes_and_durations_read_well():
    assert [size(n) for n in (0, 999, 1700, 20_000_000, 3_100_000_000)] == [
        "0 B",
        "999 B",
        "1.7 kB",
        "20 MB",
        "3.1 GB",
    ]
    assert [duration(n) for n in (0.123, 5, 42, 185, 7800)] == [
        "0.12 s",
        "5.0 s",
        "42 s",
        "3 min 5 s",
        "2 h 10 min",
    ]
