"""How the scripts of a package are called is read when it is published."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command

from registry.versions.publishing import command_lines
from registry.versions.publishing.version_rows import load_problems
from tests.factories.skills import publish_files

pytestmark = [pytest.mark.django_db, pytest.mark.row("A7")]

HEAD = "---\nname: tables\ndescription: For tests.\nversion: 1.0.0\n{more}---\n# Tables\n"
ARGPARSE = (
    b"import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('%s')\nparser.parse_args()\n"
)


@pytest.fixture
def publish_scripts(team, alice):
    def publish(more="", count=2):
        files = {f"scripts/s{number}.py": ARGPARSE % f"a{number}".encode() for number in range(count)}
        return publish_files({"SKILL.md": HEAD.format(more=more).encode(), **files}, team=team, user=alice)

    return publish


def test_publishing_stores_the_parameters_of_each_script(publish_scripts):
    rows = publish_scripts().command_lines.order_by("script")
    assert [(row.script, row.path, row.origin) for row in rows] == [
        ("s0", "scripts/s0.py", "script"),
        ("s1", "scripts/s1.py", "script"),
    ]
    assert [row.command_line.root.parameters[0].name for row in rows] == ["a0", "a1"]


def test_input_schema_of_the_author_wins(publish_scripts):
    version = publish_scripts("input_schema: {type: object, properties: {city: {type: string}}}\n")
    assert {row.origin for row in version.command_lines.all()} == {"input_schema"}
    assert {row.command_line.kind for row in version.command_lines.all()} == {"none"}


def test_scripts_that_are_not_read_in_time_get_an_argument_line(publish_scripts, monkeypatch):
    monkeypatch.setattr(command_lines, "MAX_SECONDS", -1)
    rows = publish_scripts().command_lines.all()
    assert [(row.command_line.kind, row.command_line.gaps[0].reason) for row in rows] == [
        ("line", "time")
    ] * 2


def test_failing_reader_does_not_prevent_publication(publish_scripts, monkeypatch, caplog):
    def fail(path, text):
        raise ZeroDivisionError

    monkeypatch.setattr(command_lines, "read_command_line", fail)
    assert [row.command_line.kind for row in publish_scripts(count=1).command_lines.all()] == ["line"]
    assert caplog.records


SHOWN = """
```bash
python scripts/count.py notes.txt --top 3
python scripts/count.py notes.txt --colour red
python scripts/hand.py notes.txt 5
```
"""


@pytest.fixture
def shown():
    source = (
        ARGPARSE.replace(b"parser.parse", b"parser.add_argument('--top', type=int)\nparser.parse") % b"file"
    )
    return {
        "SKILL.md": (HEAD.format(more="") + SHOWN).encode(),
        "scripts/count.py": source,
        "scripts/hand.py": b"import sys\nprint(sys.argv)\n",
    }


def test_shown_calls_are_stored_and_a_refused_one_is_a_notice(shown, team, alice):
    version = publish_files(shown, team=team, user=alice)
    assert {row.script: row.samples for row in version.command_lines.all()} == {
        "count": [["notes.txt", "--top", "3"]],
        "hand": [["notes.txt", "5"]],
    }
    (notice,) = [each for each in load_problems(version) if each.code == "SHOWN_CALL_REFUSED"]
    assert (notice.severity, notice.path, notice.line) == ("notice", "SKILL.md", 10)
    assert notice.params == {"script": "scripts/count.py", "call": "notes.txt --colour red"}


def test_check_reports_a_shown_call_that_the_script_refuses(shown, tmp_path, capsys):
    for path, data in shown.items():
        (tmp_path / "tables" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tables" / path).write_bytes(data)
    call_command("check_package", str(tmp_path / "tables"), "--json")
    (package,) = json.loads(capsys.readouterr().out)["packages"]
    notices = [each for each in package["problems"] if each["code"] == "SHOWN_CALL_REFUSED"]
    assert [(each["path"], each["line"]) for each in notices] == [("SKILL.md", 10)]


def test_unreadable_documents_do_not_prevent_publication(shown, team, alice, monkeypatch, caplog):
    def fail(scripts, documents):
        raise ZeroDivisionError

    monkeypatch.setattr(command_lines, "match_calls", fail)
    assert publish_files(shown, team=team, user=alice).command_lines.count() == 2
    assert caplog.records
