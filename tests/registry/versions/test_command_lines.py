"""How the scripts of a package are called is read when it is published."""

from __future__ import annotations

import pytest

from registry.versions.publishing import command_lines
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
