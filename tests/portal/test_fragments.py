"""Fragments: their HTML is kept, and never shown for another value, language, template or session."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from django.conf import settings
from django.template import Context, Engine
from django.test import Client, RequestFactory
from django.urls import set_script_prefix
from django.utils import translation
from django.utils.functional import SimpleLazyObject
from django.utils.module_loading import import_string
from django.utils.safestring import mark_safe

from portal.templatetags import skillquay_fragments
from portal.templatetags.skillquay_fragments import (
    REQUEST_VALUES,
    Deferred,
    FragmentStore,
    UndeclaredValueError,
    UnkeyableValueError,
    fragment_key,
)
from registry.models import Role, User

pytestmark = pytest.mark.row("P1", "P5")
LIBRARIES = {"skillquay_fragments": "portal.templatetags.skillquay_fragments"}
LIBRARIES |= {"skillquay": "portal.templatetags.skillquay", "i18n": "django.templatetags.i18n"}


@pytest.fixture(autouse=True)
def store(monkeypatch):
    empty = FragmentStore(100_000)
    monkeypatch.setattr(skillquay_fragments, "STORE", empty)
    return empty


def render(tag, inner="{{ value }}", **values):
    """The HTML of a page with this tag; ``inner`` is the template of the fragment."""
    page = "{% load skillquay_fragments %}{% autoescape on %}" + tag + "{% endautoescape %}"
    texts = {"page.html": page, "inner.html": inner, "other.html": f"other {inner}"}
    engine = Engine(loaders=[("django.template.loaders.locmem.Loader", texts)], libraries=LIBRARIES)
    return engine.get_template("page.html").render(Context({"csrf_token": "t" * 64, **values}))


def show(value, inner="{{ value }}", **more):
    return render('{% fragment "inner.html" value=value %}', inner, value=value, **more)


@dataclass(frozen=True)
class Pair:
    left: object
    right: object = None


@dataclass(frozen=True)
class OtherPair(Pair):
    pass


NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
DIFFERENT = [
    ("a", "b"),
    (1, True),
    (1, 1.0),
    (1, "1"),
    (0.0, -0.0),
    (None, "None"),
    ("", None),
    ("<b>", mark_safe("<b>")),
    ((1,), (True,)),
    (("<b>",), (mark_safe("<b>"),)),
    ((), None),
    (("a", "b"), ("a, b",)),
    (("a", ("b",)), ("a", "b")),
    (["a"], ("a",)),
    ([1], [True]),
    ([1], [1.0]),
    ([None], ["None"]),
    ({"a": [1]}, {"a": [True]}),
    ([["a"], "b"], [["a", "b"]]),
    (Pair(1), Pair(True)),
    ({"a": "b", "c": "d"}, {"c": "d", "a": "b"}),
    ({"a": "b"}, {"a": mark_safe("b")}),
    (Pair("a"), Pair("b")),
    (Pair("a", "b"), Pair("a", "c")),
    (Pair("a"), OtherPair("a")),
    (Pair(("<",)), Pair((mark_safe("<"),))),
    (NOON, NOON.astimezone(timezone(timedelta(hours=8)))),
    (Role.OWNER, "owner"),
    (Role.OWNER, Role.MEMBER),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_values_have_different_keys(one, other):
    assert fragment_key("a", {"value": one}) != fragment_key("a", {"value": other})


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_fragment_never_shows_the_html_of_another_value(store, one, other):
    html = [show(value) for value in (one, other, one)]
    store.__init__(100_000)
    assert html[1] == show(other)
    store.__init__(100_000)
    assert html[0] == html[2] == show(one)


def test_key_contains_template_names_language_and_script_prefix():
    found = {fragment_key("a", {"value": 1}), fragment_key("b", {"value": 1}), fragment_key("a", {"v": 1})}
    with translation.override("zh-hans"):
        found.add(fragment_key("a", {"value": 1}))
    set_script_prefix("/below/")
    try:
        found.add(fragment_key("a", {"value": 1}))
    finally:
        set_script_prefix("/")
    assert len(found) == 5


def test_deferred_value_is_made_only_for_html_that_is_not_kept(store):
    made = []

    def make():
        made.append("<b>")
        return made[-1]

    assert show(Deferred("b", make)) == show(Deferred("b", make)) == "&lt;b&gt;"
    assert len(made) == 1
    assert show(Deferred("i", lambda: "<i>")) == "&lt;i&gt;"


def test_equal_values_are_rendered_once(monkeypatch):
    first = show(Pair("a", ("b", {"c": 1})))
    monkeypatch.setattr(skillquay_fragments, "_render", None)
    assert show(SimpleLazyObject(lambda: Pair("a", ("b", {"c": 1})))) == first


def test_lazy_text_follows_the_language():
    text = translation.gettext_lazy("Skills")
    english = show(text)
    with translation.override("zh-hans"):
        assert show(text) != english
    assert show(text) == english == "Skills"


@pytest.mark.parametrize("filters", ["", "|hole"])
def test_values_are_escaped_and_safe_html_is_not(filters):
    tag = '{% fragment "inner.html" value=value' + filters + " %}"
    assert render(tag, value='<a"&') == "&lt;a&quot;&amp;"
    assert render(tag, value=mark_safe("<b>")) == "<b>"


def test_hole_is_filled_for_each_request_without_a_fragment_of_its_own(store):
    tag = '{% fragment "inner.html" value=value|hole more=more|hole %}'
    html = [render(tag, "[{{ value }}|{{ more }}]", value=value, more="m") for value in ("a", "<b>")]
    assert html == ["[a|m]", "[&lt;b&gt;|m]"]
    assert len(store._known) == 1


def test_text_that_names_a_hole_stays_text():
    tag = '{% fragment "inner.html" value=value|hole text="-value- token" %}'
    assert render(tag, "{{ text }} {{ value }}", value="filled") == "-value- token filled"


@pytest.mark.parametrize("name", sorted(REQUEST_VALUES))
def test_fragment_refuses_values_of_the_request_that_it_did_not_get(name):
    for inner in ("{{ %s }}", "{%% if %s %%}yes{%% endif %%}", "{%% for x in %s %%}{%% endfor %%}"):
        with pytest.raises(UndeclaredValueError):
            render('{% fragment "inner.html" %}', inner % name, **{name: "text"})
    assert render(f'{{% fragment "inner.html" {name}="text" %}}', f"{{{{ {name} }}}}") == "text"


@pytest.mark.parametrize("tag", ["when", "clock", "day", "exact"])
def test_fragment_refuses_the_readers_time(tag):
    with pytest.raises(UndeclaredValueError):
        show(NOON, "{% load skillquay %}{% " + tag + " value %}")


def test_fragment_shows_times_in_the_zone_that_it_gets():
    tag = '{% fragment "inner.html" value=value reader_zone=zone %}'
    inner = "{% load skillquay %}{% exact value %}"
    for zone, time in (("UTC", "12:00:00 UTC"), ("Asia/Tokyo", "21:00:00 Asia/Tokyo")):
        assert time in render(tag, inner, value=NOON, zone=zone)


def test_refused_values_are_all_that_pages_have_in_common():
    options: Any = settings.TEMPLATES[0]["OPTIONS"]
    processors = options["context_processors"]
    request: Any = RequestFactory().get("/")
    request.user, request.actor = User(), None
    assert {name for each in processors for name in import_string(each)(request)} - {
        "csrf_token"
    } == REQUEST_VALUES


@pytest.mark.parametrize("value", [User(username="bob"), object(), {1, 2}, b"x"])
def test_fragment_refuses_values_without_a_key(value):
    for wrapped in (value, (value,), Pair(value), {"a": value}):
        with pytest.raises(UnkeyableValueError):
            show(wrapped)


def test_store_drops_the_least_recently_used_above_its_limit():
    store = FragmentStore(3 * 1_400)
    html = mark_safe("x" * 1_000)
    for name in (b"a", b"b", b"c"):
        store.put(name, html)
    assert store.find(b"a")
    store.put(b"d", html)
    assert [bool(store.find(name)) for name in (b"a", b"b", b"c", b"d")] == [True, False, True, True]
    store.put(b"a", html)
    assert 3 * 1_000 < store.bytes <= 3 * 1_400
    store.put(b"large", mark_safe("字" * 5_000))
    assert (len(store._known), store.bytes) == (0, 0)


def test_store_counts_the_bytes_of_wide_characters():
    store = FragmentStore(100_000)
    store.put(b"a", mark_safe("字" * 1_000))
    assert store.bytes > 2_000


@pytest.mark.django_db
def test_forms_in_fragments_have_the_token_of_their_session(alice, bob):
    clients = [Client(enforce_csrf_checks=True) for _ in range(3)]
    clients[0].force_login(alice)
    clients[1].force_login(bob)
    tokens = []
    for client in clients:
        page = client.get("/skills/")
        assert skillquay_fragments._MARK not in page.text
        fields = {*re.findall(r'name="csrfmiddlewaretoken" value="([^"]*)"', page.text)}
        assert len(fields) == 1
        tokens += fields
    assert len(set(tokens)) == 3
    for client, token in zip(clients, tokens, strict=True):
        other = next(each for each in tokens if each != token)
        for value, status in ((token, 302), (other, 403)):
            sent = client.post("/preferences/theme/", {"theme": "dark", "csrfmiddlewaretoken": value})
            assert sent.status_code == status
