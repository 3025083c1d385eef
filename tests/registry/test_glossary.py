"""A site's own words that mean the same: written by administrators, counted at once, taken back."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command

from registry import matching
from registry.actors import ANONYMOUS, Actor
from registry.glossary import built_in, editing
from registry.glossary.documents import built_in_lines
from registry.matching import Request
from registry.models import AuditEntry, GlossaryEntry
from registry.packages.problems import Refused

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]


@pytest.fixture
def slugs(alice, published):
    published("invoice-sorter", description="Sorts invoices for reimbursement.")
    published("tickets", description="Reads support tickets and drafts replies.")
    return lambda text: [row.skill.slug for row in matching.match(Request(text), Actor(user=alice)).rows]


def test_a_line_counts_from_the_next_match_on_and_no_longer_once_removed(slugs, root):
    assert slugs("flumph the thing") == []
    entry, _done = editing.add("flumph, invoice", root)
    assert slugs("flumph the thing") == ["invoice-sorter"]
    editing.change(entry, "flumph, ticket", root)
    assert slugs("flumph the thing") == ["tickets"]
    editing.remove(entry, root)
    assert slugs("flumph the thing") == []


def test_a_line_is_kept_tidy(root):
    entry, _done = editing.add("  # Flumph ，invoice、 发票,, FLUMPH , 弗伦夫 ", root)
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
    editing.add("flumph, zwibble, plonk", root)
    with pytest.raises(Refused) as refused:
        editing.add(text, root)
    assert refused.value.code == code
    assert refused.value.problems[0].path == "text"
    assert GlossaryEntry.objects.count() == 1


def test_a_line_may_be_written_as_it_is_or_shorter(root):
    entry, _done = editing.add("flumph, zwibble, plonk", root)
    assert editing.change(entry, "flumph, zwibble", root)[0].text == "flumph, zwibble"
    assert editing.change(entry, "flumph, zwibble", root)[0].text == "flumph, zwibble"


def test_each_change_is_undone_and_audited(root):
    entry, added = editing.add("flumph, invoice", root)
    entry, changed = editing.change(entry, "flumph, ticket", root)
    assert editing.undo(changed.uid, root).detail == {"text": "flumph, invoice", "before": "flumph, ticket"}
    removed = editing.remove(editing.find_entry(entry.uid, root), root)
    assert not GlossaryEntry.objects.exists()
    editing.undo(removed.uid, root)
    assert GlossaryEntry.objects.get().text == "flumph, invoice"
    editing.undo(added.uid, root)
    assert not GlossaryEntry.objects.exists()
    deeds = list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))
    parts = ["add", "change", "change", "remove", "add", "remove"]
    assert deeds == [f"glossary.{part}" for part in parts]
    with pytest.raises(Refused, match="There is no"):
        editing.undo(added.uid, root)


def test_nobody_but_an_administrator_writes_or_knows_of_a_line(root, actor_of, alice, charlie):
    entry, done = editing.add("flumph, invoice", root)
    for actor in (actor_of(alice), actor_of(charlie), ANONYMOUS):
        assert not editing.entries(actor).exists()
        for code, deed in (
            ("FORBIDDEN", lambda actor: editing.add("a, b", actor)),
            ("FORBIDDEN", lambda actor: editing.change(entry, "a, b", actor)),
            ("FORBIDDEN", lambda actor: editing.remove(entry, actor)),
            ("NOT_FOUND", lambda actor: editing.find_entry(entry.uid, actor)),
            ("NOT_FOUND", lambda actor: editing.undo(done.uid, actor)),
        ):
            with pytest.raises(Refused) as refused:
                deed(actor)
            assert refused.value.code == code


def test_what_came_with_the_site_is_found_by_a_part_of_it():
    every = built_in_lines()
    assert len(every) > 900
    assert all(line.about and not line.text.startswith("#") for line in every)
    assert {line.text for line in every} <= set(built_in())
    assert all("发票" in line.text for line in built_in_lines(find="发票"))
    assert built_in_lines(find="PDF") == built_in_lines(find=" pdf ") != []


def test_the_command_reads_and_writes(administrator):
    def run(*words):
        out = StringIO()
        call_command("glossary", *words, "--json", stdout=out)
        return json.loads(out.getvalue())

    added = run("--add", "flumph, invoice")
    assert added["entry"]["words"] == ["flumph", "invoice"]
    found = run("flumph")
    assert [entry["id"] for entry in found["entries"]] == [added["entry"]["id"]]
    assert found["built_in"] == []
    assert run("发票")["built_in"][0].keys() == {"about", "text"}
    changed = run("--change", added["entry"]["id"], "flumph, ticket")
    run("--undo", changed["change"])
    assert run("flumph")["entries"][0]["text"] == "flumph, invoice"
    run("--remove", added["entry"]["id"])
    with pytest.raises(SystemExit, match="1"):
        run("--remove", added["entry"]["id"])
