"""The page of the glossary: what administrators do there, and that nobody else gets in."""

from __future__ import annotations

import re

import pytest

from portal.pages.glossary.presenters import TOPICS
from registry.models import GlossaryEntry
from registry.search.glossary.documents import built_in_lines
from tests.checks import not_none
from tests.pages import codes, messages, part, parts, select

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]


@pytest.fixture
def root(browse, administrator):
    return browse(administrator)


def test_every_topic_of_the_built_in_entries_has_a_label():
    assert {line.topic for line in built_in_lines()} == set(TOPICS)


def post(client, address, **fields):
    return client.post(address, fields, follow=True)


def test_a_line_is_added_changed_and_removed_and_each_message_offers_the_way_back(root):
    page = post(root, "/glossary/", text="flumph, invoice")
    assert "flumph, invoice" in part(page, "message", kind="success")
    entry = GlossaryEntry.objects.get()
    page = post(root, f"/glossary/{entry.uid}/change/", text="flumph, ticket")
    assert "flumph, ticket" in part(page, "message", kind="success")
    page = post(root, f"/glossary/{entry.uid}/remove/")
    assert "flumph, ticket" in part(page, "message", kind="success")
    assert not GlossaryEntry.objects.exists()
    undo = not_none(re.search(r"/glossary/changes/\w+/undo/", page.text))[0]
    assert messages(post(root, undo)) == ["success"]
    assert GlossaryEntry.objects.get().text == "flumph, ticket"
    assert part(post(root, undo), "message")["code"] == "GLOSSARY_LINE_KNOWN"


def test_a_refused_line_stands_in_its_form_with_the_remedy(root):
    page = post(root, "/glossary/", text="alone")
    assert page.status_code == 422
    assert codes(part(page, "errors")) == ["GLOSSARY_LINE_INVALID"]
    assert 'value="alone"' in page.text
    post(root, "/glossary/", text="flumph, invoice")
    entry = GlossaryEntry.objects.get()
    page = post(root, f"/glossary/{entry.uid}/change/", text="")
    assert page.status_code == 422
    assert f'href="#{entry.uid}-text"' in page.text


def test_a_word_is_found_in_both_parts(root):
    post(root, "/glossary/", text="flumph, invoice")
    page = root.get("/glossary/", {"q": "invoice"})
    assert page.context["page"].paginator.count == 1
    assert 0 < page.context["built_in"].paginator.count < 20
    assert parts(root.get("/glossary/", {"q": "flumph"}), "empty", state="built-in")
    assert root.get("/glossary/?page=x&file=-2&q=%00").status_code == 200


def test_pages_of_built_in_entries_keep_the_search(root):
    following = select(root.get("/glossary/", {"q": "a"}), "a", rel="next")[0]["href"]
    assert following == "?q=a&file=2#file"
    assert root.get(f"/glossary/{following}").context["built_in"].number == 2


def test_only_administrators_get_in(browse, root, alice):
    post(root, "/glossary/", text="flumph, invoice")
    uid = GlossaryEntry.objects.get().uid
    assert browse(None).get("/glossary/").status_code == 302
    assert browse(alice).get("/glossary/").status_code == 403
    assert browse(alice).post(f"/glossary/{uid}/remove/").status_code == 404
    assert "/glossary/" not in browse(alice).get("/").text
    assert 'href="/glossary/"' in root.get("/").text


def test_hostile_words_are_harmless(root):
    post(root, "/glossary/", text="<script>alert(1)</script>, invoice")
    text = root.get("/glossary/").text
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text
    refused = post(root, "/glossary/", text="invoice\u202e, bill")
    assert refused.status_code == 422
    assert codes(part(refused, "errors")) == ["GLOSSARY_WORD_INVALID"]
