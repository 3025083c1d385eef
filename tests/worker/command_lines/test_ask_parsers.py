"""The real parser of a published script is asked in the sandbox; where it differs, it wins."""

from __future__ import annotations

import textwrap

import pytest
from django.utils import timezone

from registry.models import Version
from registry.packages.command_lines import read_command_line
from registry.packages.command_lines.python.described_parser import read_description
from registry.versions.publishing import parser_answers
from tests.factories.skills import publish_files
from worker.command_lines import ask_parsers, bursts
from worker.service import tasks

pytestmark = [pytest.mark.django_db, pytest.mark.row("A7")]

COMPUTED = """
    import argparse, sys
    import missing_library as ml
    from missing_library.sub import Base, tool

    class Rows(Base):
        pass

    @tool(name="x")
    def rows(values: ml.Frame | None = None):
        print("not run")

    parser = argparse.ArgumentParser(description="Works on rows")
    parser.add_argument("file")
    for name in sorted(vars(argparse).keys() & {"SUPPRESS", "OPTIONAL"}):
        parser.add_argument("--" + name.lower(), choices=["1", "2"], default=sys.platform)
    if __name__ == "__main__":
        rows(parser.parse_args())
        raise SystemExit("the script went on")
"""


@pytest.fixture
def published(team, alice):
    def publish(text, shown=""):
        head = f"---\nname: rows\ndescription: For tests.\nversion: 1.0.0\n---\n# Rows\n{shown}"
        files = {"SKILL.md": head.encode(), "scripts/rows.py": textwrap.dedent(text).encode()}
        return publish_files(files, team=team, user=alice).command_lines.get()

    return publish


def test_parser_in_the_sandbox_wins_over_the_reading_of_the_script(published):
    row = published(
        COMPUTED, "\n    python scripts/rows.py a --optional 1\n    python scripts/rows.py a --lost\n"
    )
    assert (row.origin, row.asks_parser) == ("script", True)
    assert row.command_line.gaps
    assert len(row.samples) == 2
    assert parser_answers.has_waiting()
    tasks.on_wake_parser_reader()
    row.refresh_from_db()
    assert (row.origin, row.asks_parser) == ("parser", False)
    assert row.command_line.description == "Works on rows"
    assert [(each.id, each.choices) for each in row.command_line.root.parameters] == [
        ("file", ()),
        ("optional", ("1", "2")),
        ("suppress", ("1", "2")),
    ]
    assert row.samples == [["a", "--optional", "1"]]
    assert not parser_answers.has_waiting()
    assert ask_parsers.ask_waiting() == 0


@pytest.mark.parametrize(
    "line",
    [
        "raise SystemExit(3)",
        "__import__('os').write(3, b'[1, 2')",
        '__import__(\'os\').write(3, b\'{"prefix_chars": "-", "arguments": 5}\')',
    ],
)
def test_script_without_a_usable_answer_keeps_its_form(published, line):
    row = published(
        f"import argparse\np = argparse.ArgumentParser()\np.add_argument('a')\n{line}\np.parse_args()\n"
    )
    before = row.document
    assert ask_parsers.ask_waiting() == 0
    row.refresh_from_db()
    assert (row.origin, row.asks_parser, row.document) == ("script", False, before)


def test_site_without_a_sandbox_keeps_the_reading_of_the_script(published, settings):
    settings.SKILLQUAY_SANDBOX = "unsafe"
    settings.SKILLQUAY_SANDBOX_MINIMUM = "unsafe"
    row = published(COMPUTED)
    assert ask_parsers.ask_waiting() == 0
    row.refresh_from_db()
    assert (row.origin, row.asks_parser) == ("script", False)


def test_scripts_without_argparse_are_never_started(published):
    assert not published("import sys\nprint(sys.argv)\n").asks_parser
    assert not parser_answers.has_waiting()


def test_scripts_of_a_held_version_are_not_started(published, monkeypatch):
    row = published(COMPUTED)
    Version.objects.filter(pk=row.version_id).update(held_at=timezone.now())
    assert ask_parsers.ask_waiting() == 0
    row.refresh_from_db()
    assert row.origin == "script"


def test_one_process_of_a_machine_asks_at_a_time(published):
    published(COMPUTED)
    with bursts.machine_lock() as is_alone:
        assert is_alone
        assert ask_parsers.ask_waiting() == 0
    assert ask_parsers.ask_waiting() == 1


def test_words_are_accepted_or_refused_by_the_parser(tmp_path):
    (tmp_path / "rows.py").write_text(textwrap.dedent(COMPUTED))
    tmp_path.chmod(0o755)
    assert ask_parsers.start_script(tmp_path, "rows.py", ["a", "--optional", "2"]) == {"accepted": True}
    assert ask_parsers.start_script(tmp_path, "rows.py", ["a", "--optional", "3"]) == {"accepted": False}
    assert ask_parsers.start_script(tmp_path, "rows.py", []) == {"accepted": False}


def test_parser_that_passes_words_on_does_not_replace_a_later_one():
    source = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--a')\np.parse_args()\n"
    static = read_command_line("scripts/x.py", source)
    description = {"prefix_chars": "-", "accepts_unknown": True, "arguments": [], "groups": []}
    assert read_description(description, static) is None
    assert read_description({**description, "accepts_unknown": False, "usage": "", "description": ""}, static)
