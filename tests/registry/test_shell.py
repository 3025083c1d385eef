"""What commands print for people, where one JSON document is what programs get."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from registry.management.cli import text_lines

pytestmark = pytest.mark.row("P9")


def test_a_document_is_told_in_lines_that_need_no_python_to_read():
    document = {
        "team": "docs",
        "rule": None,
        "bundled": True,
        "new": {},
        "asks": {"tools": ["Read", "Bash"], "properties": []},
        "payload": {"a": [1, {"b": False}], "说": "好"},
        "limits": [
            {"name": "runs_per_day", "limit": None, "overridden": False},
            {"name": "stored_bytes", "limit": 5},
        ],
    }
    assert list(text_lines(document)) == [
        "team: docs",
        "rule: -",
        "bundled: yes",
        "new: -",
        "asks:",
        "  tools: Read, Bash",
        "  properties: -",
        "payload:",
        "  a:",
        "    1",
        "    b: no",
        "  说: 好",
        "limits:",
        "  name: runs_per_day  limit: -  overridden: no",
        "  name: stored_bytes  limit: 5",
    ]


def test_what_somebody_wrote_moves_no_cursor_and_begins_no_line():
    (line,) = text_lines({"note": "one\nok: yes \x1b[31mred\x1b[0m \u202e"})
    assert line == "note: one ok: yes [31mred[0m"


@pytest.mark.django_db
def test_export_of_a_person_is_printed_in_lines(publish_skill, alice, capsys):
    publish_skill("report")
    call_command("export_person", "alice")
    printed = capsys.readouterr().out
    assert "account:\n  uid: " in printed
    assert "  username: alice\n" in printed
