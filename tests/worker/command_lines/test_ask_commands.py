"""The real commands of click and typer scripts are asked in the sandbox; where they differ, they win."""

from __future__ import annotations

import shutil
import textwrap
from importlib.metadata import distribution
from pathlib import Path

import pytest

from registry.identity.actors import Actor
from registry.packages.command_lines import read_command_line, to_document
from registry.packages.command_lines.python.described_parser import read_description
from registry.versions.needs.change_additions import set_additions
from tests.checks import not_none
from tests.factories.skills import publish_files
from tests.real_style.libraries import add_libraries
from tests.registry.packages.command_lines import test_click, test_typer
from tests.servers.package_index import PackageIndex
from tests.skipping import require_network
from worker.attempts.context import RuntimeEnvironment
from worker.command_lines import ask_parsers
from worker.dependencies import build

pytestmark = pytest.mark.row("A7")

TEXTS = ("help", "description", "default", "default_computed", "metavar")
LOOP = """
import click

@click.group(invoke_without_command=True)
def cli(): ...

for name in ("b", "a"):
    @cli.command(name)
    @click.option("--" + name, type=click.IntRange(1, 3), required=True)
    @click.argument("files", nargs=-1, type=click.Path())
    def below(**given): ...

if __name__ == "__main__":
    cli(prog_name="x")
"""


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """The environment of a script with click and typer as they are installed here."""
    folder = tmp_path_factory.mktemp("deps")
    folder.chmod(0o755)
    for name in ("click", "typer", "annotated-doc", "shellingham"):
        installed = distribution(name)
        for file in installed.files or ():
            if file.suffix == ".py":
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(str(installed.locate_file(file)), folder / file)
    return RuntimeEnvironment({"/deps": folder}, {"PYTHONPATH": "/deps"})


@pytest.fixture
def ask(tmp_path, libraries):
    def ask(source, words=None):
        Path(tmp_path, "x.py").write_text(textwrap.dedent(source))
        tmp_path.chmod(0o755)
        return ask_parsers.start_script(tmp_path, "x.py", words, environment=libraries)

    return ask


def _functional(document):
    if isinstance(document, dict):
        return {name: _functional(value) for name, value in document.items() if name not in TEXTS}
    return [_functional(each) for each in document] if isinstance(document, list) else document


@pytest.mark.parametrize(
    "source",
    [test_click.ONE, test_click.MANY, test_typer.ONE, test_typer.MANY],
    ids=["click", "click group", "typer", "typer group"],
)
def test_description_equals_the_reading_of_the_script(ask, source):
    static = read_command_line("x.py", source)
    real = not_none(read_description(ask(source), static))
    assert _functional(to_document(real)) == _functional(to_document(static))
    assert real.description == static.description


def test_computed_commands_are_described(ask):
    static = read_command_line("x.py", LOOP)
    assert (static.kind, static.library) == ("line", "click")
    real = not_none(read_description(ask(LOOP), static))
    assert (real.kind, real.gaps, real.root.subcommand_required) == ("fields", (), False)
    assert [each.name for each in real.root.subcommands] == ["b", "a"]
    option, files = real.levels(("a",))[-1].parameters
    assert (option.id, option.flags, option.type, option.required) == ("a/a", ("--a",), "integer", True)
    assert (files.min_values, files.max_values) == (0, None)


def test_words_are_accepted_or_refused_by_the_command(ask):
    assert ask(LOOP, ["a", "--a", "3", "file"]) == {"accepted": True}
    assert ask(LOOP, ["a", "--a", "4"]) == {"accepted": False}
    assert ask(LOOP, ["c"]) == {"accepted": False}


@pytest.mark.parametrize(
    "declared",
    [
        "class Own(click.Command):\n    def parse_args(self, context, words): return []\n"
        "@click.command(cls=Own)\ndef cli(): ...",
        "@click.group(chain=True)\ndef cli(): ...",
        "@click.command()\n@click.option('--a', 'x', flag_value='a')\n"
        "@click.option('--b', 'x', flag_value='b')\ndef cli(x): ...",
    ],
)
def test_command_that_reads_words_itself_keeps_its_line(ask, declared):
    source = f"import click\n{declared}\ncli()\n"
    assert read_description(ask(source), read_command_line("x.py", source)) is None


@pytest.mark.parametrize("root", [{}, [], {"help": 3, "parameters": 5}, None])
def test_description_of_a_wrong_shape_is_ignored(root):
    static = read_command_line("x.py", LOOP)
    assert read_description({"library": "click", "root": root}, static) is None


@pytest.mark.django_db(transaction=True)
def test_command_is_asked_once_its_library_is_added(team, alice, settings):
    require_network()
    head = b"---\nname: rows\ndescription: For tests.\nversion: 1.0.0\n---\n# Rows\n"
    with PackageIndex.serving(settings) as index:
        add_libraries(index)
        settings.SKILLQUAY_PYTHON_INDEX = index.url
        files = {"SKILL.md": head, "scripts/rows.py": LOOP.encode()}
        version = publish_files(files, team=team, user=alice)
        assert ask_parsers.ask_waiting() == 0  # the library is missing
        set_additions(version, [("library", "click")], Actor(user=alice))
        assert ask_parsers.ask_waiting() == 0  # its build waits
        assert version.command_lines.get().asks_parser
        build.build_waiting()
        assert ask_parsers.ask_waiting() == 1
    row = version.command_lines.get()
    assert (row.origin, row.asks_parser, row.command_line.kind) == ("parser", False, "fields")
