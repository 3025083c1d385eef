"""The house's own order: pins, migrations, settings and commands that are documented, rows on tests."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from importlib.metadata import version

import pytest
from django.core.checks import run_checks
from django.core.management import call_command, get_commands

import portal.apps
import registry.apps
import worker.apps
from registry.packages.problems import CODES, Code
from tests.architecture.sources import ROOT, SOURCES

OURS = ("registry", "worker", "portal")


def _pins(name):
    lines = (ROOT / name).read_text().replace("\\\n", "").splitlines()
    return dict(line.split()[0].split("==") for line in lines if line and not line.startswith("#"))


@pytest.mark.row("P9")
@pytest.mark.parametrize("name", ["requirements.txt", "tests/requirements.txt"])
def test_every_installed_version_is_the_pinned_one(name):
    assert {package: version(package) for package in _pins(name)} == _pins(name)


@pytest.mark.row("P9")
@pytest.mark.django_db
def test_models_and_migrations_agree():
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


@pytest.mark.row("P9")
@pytest.mark.django_db
def test_the_system_checks_find_nothing():
    assert run_checks() == []


@pytest.mark.row("P9")
def test_every_setting_is_in_the_operators_table():
    read = set()
    for path in SOURCES:
        read |= set(re.findall(r'env\.\w+\(\s*"([A-Z0-9_]+)"', path.read_text()))
    documented = (ROOT / "docs/reference/settings.md").read_text()
    assert sorted(name for name in read if f"`{name}`" not in documented) == []


@pytest.mark.row("P9")
def test_every_command_is_documented():
    documented = (ROOT / "docs/reference/commands.md").read_text()
    ours = [name for name, app in get_commands().items() if app in OURS]
    assert sorted(name for name in ours if f"`{name}" not in documented) == []


@pytest.mark.row("P9")
def test_paths_on_the_architecture_page_exist():
    """Rooms and modules move; the page that leads newcomers to them must follow."""
    text = (ROOT / "docs/explanation/architecture.md").read_text()
    named = re.findall(r"\b((?:registry|worker|portal|tests)/[\w/.]+)", text.replace("<area>", ""))
    assert len(named) > 50
    assert sorted(path for path in set(named) if not (ROOT / path).exists()) == []


@pytest.mark.row("B3", "P9")
def test_every_code_is_documented():
    from portal.management.commands.document_errors import PAGE, page

    assert PAGE.read_text() == page(), "run manage.py document_errors"


def _error_modules():
    return [*registry.apps._ERRORS, *worker.apps._ERRORS, *portal.apps._ERRORS]


@pytest.mark.row("B3")
def test_every_module_with_codes_is_in_the_catalogue():
    declaring = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in SOURCES
        if re.search(r"^[A-Z_]+ = declare\(", path.read_text(), re.M)
    }
    assert declaring == set(_error_modules())


@pytest.mark.row("B3")
def test_every_code_is_a_constant_of_its_own_name():
    constants = {
        name: value
        for module in _error_modules()
        for name, value in vars(import_module(module)).items()
        if isinstance(value, Code)
    }
    assert constants == CODES
    assert [name for name, code in constants.items() if code.name != name] == []


@pytest.mark.row("B3")
def test_code_parameters_equal_the_placeholders_of_the_texts():
    header = {"retry_after_s"}  # Retry-After is made of it, and texts may show it
    placeholders = {
        code.name: set(re.findall(r"%\((\w+)\)", code.message + code.remedy)) - header
        for code in CODES.values()
    }
    parameters = {code.name: code.parameters - header for code in CODES.values()}
    assert parameters == placeholders


def _says_a_row(node, marked_file):
    return marked_file or any("row" in ast.dump(decorator) for decorator in node.decorator_list)


@pytest.mark.row("P9")
def test_every_test_says_which_row_it_proves():
    without = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text()
        nodes = list(ast.walk(ast.parse(text)))
        marked_file = ("pytestmark" in text and "mark.row" in text) or any(
            isinstance(node, ast.ClassDef) and any("row" in ast.dump(d) for d in node.decorator_list)
            for node in nodes
        )
        for node in nodes:
            if (
                isinstance(node, ast.FunctionDef)
                and node.name.startswith("test_")
                and not _says_a_row(node, marked_file)
            ):
                without.append(f"{path.relative_to(ROOT)}::{node.name}")
    assert without == []


ROWS = {
    f"{letter}{n}"
    for letter, last in zip("ABCDEP", (8, 8, 14, 12, 4, 12), strict=True)
    for n in range(1, last + 1)
}
NOT_YET: set[str] = set()  # rows of capabilities that are not built yet


def _rows_proved():
    for path in (ROOT / "tests").rglob("test_*.py"):
        for names in re.findall(r"\bmark\.row\(([^)]*)\)", path.read_text()):
            yield from re.findall(r"\w+", names)


@pytest.mark.row("P9")
def test_every_row_has_a_test_or_is_named_as_not_built_yet():
    proved = set(_rows_proved())
    assert proved - ROWS == set(), "there are no such rows"
    assert ROWS - proved == NOT_YET
