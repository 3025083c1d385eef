"""What commands print for people, where one JSON document is what programs get."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from registry.shell import plain_lines

pytestmark = pytest.mark.row("P9")


def test_a_document_is_told_in_lines_that_need_no_python_to_read():
    document = {
        "team": "docs",
        "rule": None,
        "bundled": True,
        "new": {},
        "asks": {"tools": ["Read", "Bash"], "properties": []},
        "payload": {"a": [1, {"b": False}], "说": "好"},
        "limits": [{"name": "runs_a_day", "limit": None, "own": False}, {"name": "kept_bytes", "limit": 5}],
    }
    assert list(plain_lines(document)) == [
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
        "  name: runs_a_day  limit: -  own: no",
        "  name: kept_bytes  limit: 5",
    ]


def test_what_somebody_wrote_moves_no_cursor_and_begins_no_line():
    (line,) = plain_lines({"note": "one\nok: yes \x1b[31mred\x1b[0m \u202e"})
    assert line == "note: one ok: yes [31mred[0m"


@pytest.mark.django_db
@pytest.mark.row("D6")
def test_a_decision_and_an_event_are_told_so(published, alice, capsys):
    published("report", allowed_tools=("Read", "Bash"))
    call_command("may_run", "docs/report", "--as", "alice")
    told = capsys.readouterr().out
    assert "outcome: ask\n" in told
    assert "asks:\n  filesystem: read-only\n  tools: Bash, Read\n" in told
    call_command("send_event", "report.ready", "--payload", '{"file": "a.csv"}', "--as", "alice", "--propose")
    assert "payload:\n  file: a.csv\nmatches: -\n" in capsys.readouterr().out
