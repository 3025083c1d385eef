"""A site's own words that mean the same: written by administrators, counted at once, taken back."""

from __future__ import annotations

import pytest

from registry.core import search_terms
from registry.identity.actors import ANONYMOUS, Actor
from registry.matching import match as matching
from registry.matching.match import MatchQuery
from registry.matching.query import concepts, expand_concept, glossary_word
from registry.models import AuditEntry, GlossaryEntry
from registry.packages.problems import Refusal
from registry.search.glossary import edit
from registry.search.glossary.documents import built_in_lines
from registry.search.glossary.lines import (
    MAX_KEY_TOKENS,
    file_lines,
    load_glossary,
    read_line,
    request_lines,
)
from tests.shell import api, refusal

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]


@pytest.fixture
def slugs(alice, publish_skill):
    publish_skill("invoice-sorter", description="Sorts invoices for reimbursement.")
    publish_skill("tickets", description="Reads support tickets and drafts replies.")
    return lambda text: [row.skill.slug for row in matching.match(MatchQuery(text), Actor(user=alice)).rows]


def test_a_line_counts_from_the_next_match_on_and_no_longer_once_removed(slugs, root):
    assert slugs("flumph") == []
    entry, _done = edit.add("flumph, invoice", root)
    assert slugs("flumph") == ["invoice-sorter"]
    edit.change(entry, "flumph, ticket", root)
    assert slugs("flumph") == ["tickets"]
    edit.remove(entry, root)
    assert slugs("flumph") == []


def test_a_line_is_kept_tidy(root):
    entry, _done = edit.add("  # Flumph ，invoice、 发票,, FLUMPH , 弗伦夫 ", root)
    assert entry.text == "Flumph, invoice, 发票, 弗伦夫"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "TEXT_INVALID"),
        ("flumph", "GLOSSARY_LINE_INVALID"),
        ("flumph, Flumph", "GLOSSARY_LINE_INVALID"),
        (", ".join(f"word{n}" for n in range(40)), "GLOSSARY_LINE_INVALID"),
        ("flumph, +++", "GLOSSARY_WORD_INVALID"),
        ("flumph, one two three four five six seven", "GLOSSARY_WORD_INVALID"),
        ("flumph, 一二三四五六七", "GLOSSARY_WORD_INVALID"),
        ("flumph, zwibble\ninvoice, bill", "GLOSSARY_WORD_INVALID"),
        ("flumph, \u202ezwibble", "GLOSSARY_WORD_INVALID"),
        ("flumph, \0", "TEXT_INVALID"),
        ("x" * 501, "TEXT_INVALID"),
        ("pdf, 便携文档", "GLOSSARY_LINE_KNOWN"),
        ("Zwibbles, flumph", "GLOSSARY_LINE_KNOWN"),
    ],
)
def test_a_line_that_would_do_nothing_is_refused_with_the_remedy(root, text, code):
    edit.add("flumph, zwibble, plonk", root)
    with pytest.raises(Refusal) as refused:
        edit.add(text, root)
    assert refused.value.code == code
    assert refused.value.problems[0].path == "text"
    assert GlossaryEntry.objects.count() == 1


def test_a_line_may_be_written_as_it_is_or_shorter(root):
    entry, _done = edit.add("flumph, zwibble, plonk", root)
    assert edit.change(entry, "flumph, zwibble", root)[0].text == "flumph, zwibble"
    assert edit.change(entry, "flumph, zwibble", root)[0].text == "flumph, zwibble"


def test_each_change_is_undone_and_audited(root):
    entry, added = edit.add("flumph, invoice", root)
    entry, changed = edit.change(entry, "flumph, ticket", root)
    assert edit.undo(changed.uid, root).detail == {"text": "flumph, invoice", "before": "flumph, ticket"}
    removed = edit.remove(edit.find_entry(entry.uid, root), root)
    assert not GlossaryEntry.objects.exists()
    edit.undo(removed.uid, root)
    assert GlossaryEntry.objects.get().text == "flumph, invoice"
    edit.undo(added.uid, root)
    assert not GlossaryEntry.objects.exists()
    deeds = list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))
    parts = ["add", "change", "change", "remove", "add", "remove"]
    assert deeds == [f"glossary.{part}" for part in parts]
    with pytest.raises(Refusal) as refused:
        edit.undo(added.uid, root)
    assert refused.value.code == "NOT_FOUND"


def test_nobody_but_an_administrator_writes_or_knows_of_a_line(root, actor_of, alice, charlie):
    entry, done = edit.add("flumph, invoice", root)
    for actor in (actor_of(alice), actor_of(charlie), ANONYMOUS):
        assert not edit.entries(actor).exists()
        for code, deed in (
            ("FORBIDDEN", lambda actor: edit.add("a, b", actor)),
            ("FORBIDDEN", lambda actor: edit.change(entry, "a, b", actor)),
            ("FORBIDDEN", lambda actor: edit.remove(entry, actor)),
            ("NOT_FOUND", lambda actor: edit.find_entry(entry.uid, actor)),
            ("NOT_FOUND", lambda actor: edit.undo(done.uid, actor)),
        ):
            with pytest.raises(Refusal) as refused:
                deed(actor)
            assert refused.value.code == code


def test_what_came_with_the_site_is_found_by_a_part_of_it():
    every = built_in_lines()
    assert len(every) > 900
    assert all(line.topic and not line.text.startswith("#") for line in every)
    assert {line.text for line in every} <= {*file_lines(), *request_lines()}
    assert all("发票" in line.text for line in built_in_lines(find="发票"))
    assert built_in_lines(find="PDF") == built_in_lines(find=" pdf ") != []


def test_shell_reads_and_writes(administrator):
    status, added = api("POST", "glossary", {"text": "flumph, invoice"})
    uid = added["entry"]["id"]
    assert (status, added["entry"]["words"]) == (0, ["flumph", "invoice"])
    assert [entry["id"] for entry in api("GET", "glossary?q=flumph")[1]["items"]] == [uid]
    assert api("GET", "glossary/built-in?q=flumph")[1]["items"] == []
    assert api("GET", "glossary/built-in?q=发票")[1]["items"][0].keys() == {"topic", "text"}
    changed = api("PATCH", f"glossary/{uid}", {"text": "flumph, ticket"})[1]
    assert api("POST", f"glossary/changes/{changed['change_id']}/undo")[0] == 0
    assert api("GET", "glossary?q=flumph")[1]["items"][0]["text"] == "flumph, invoice"
    assert api("DELETE", f"glossary/{uid}")[0] == 0
    assert refusal("DELETE", f"glossary/{uid}") == "NOT_FOUND"


def _concepts(text):
    index = load_glossary()
    found = concepts(text, search_terms.text_tokens(text), index)
    return {each.text: expand_concept(each, index).synonyms for each in found}


def test_line_of_requests_works_in_one_direction_only():
    assert "tts" in _concepts("read aloud")["read aloud"]
    assert not any(key in load_glossary().get("tt", ()) for key in ("read aloud", "out loud"))


def test_phrase_of_requests_adds_a_concept_if_its_words_are_known():
    assert list(_concepts("check how long to drive")) == ["check", "long", "drive", "how long to drive"]
    assert list(_concepts("火车时刻")) == ["火车", "时刻", "火车时刻"]


def test_chinese_phrase_of_requests_without_known_words_replaces_its_characters():
    assert list(_concepts("登机牌")) == ["登机牌"]


def test_line_of_requests_adds_weaker_synonyms_to_word_of_another_line():
    synonyms = _concepts("london")["london"]
    assert {"伦敦", "uk"} <= synonyms.keys()
    assert synonyms["uk"] < synonyms["伦敦"]


def test_reason_names_the_word_of_a_line_of_requests():
    text = "london"
    index = load_glossary()
    (concept,) = concepts(text, search_terms.text_tokens(text), index)
    assert glossary_word(concept, "tfl", index) == "tfl"


def test_lines_of_requests_are_well_formed():
    assert request_lines()[0].startswith("#")
    lines = [line for line in request_lines() if not line.startswith("#")]
    assert len(lines) > 2000
    for line in lines:
        request_words, _, meant = line.partition(" > ")
        keys = [search_terms.phrase_key(word) for word in read_line(request_words)]
        assert keys, line
        assert read_line(meant), line
        assert all(0 <= key.count(" ") < MAX_KEY_TOKENS for key in keys), line
        assert not search_terms.STOP_TERMS & set(keys), line
