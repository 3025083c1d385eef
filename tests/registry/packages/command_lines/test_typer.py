"""Commands declared with typer are read as typer itself has them; computed ones become a line."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
import typer

from registry.packages.command_lines import read_command_line
from registry.packages.command_lines.calls.fitting import fits

pytestmark = pytest.mark.row("A7")

ONE = """
import enum
from pathlib import Path
from typing import Annotated, Literal, Optional
import typer

DEFAULT_SIZE = 3

class Kind(str, enum.Enum):
    small = "s"
    large = "l"

def main(
    ctx: typer.Context,
    source: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="What to read.")],
    rest: Optional[list[str]] = typer.Argument(None),
    out: Path = Path("out.txt"),
    folder: Annotated[Path, typer.Option(exists=True, file_okay=False)] = Path("."),
    report: Annotated[Optional[typer.FileTextWrite], typer.Option()] = None,
    kind: Kind = Kind.small,
    level: Annotated[Literal["low", "high"], typer.Option("--level", "-l")] = "low",
    size: int = DEFAULT_SIZE,
    rate: Annotated[float, typer.Option(min=0, max=1)] = 0.5,
    quiet: bool = False,
    color: Annotated[bool, typer.Option("--color/--plain", "-c/-p")] = True,
    force: bool = typer.Option(False, "--force", "-f", help="Overwrites."),
    verbose: Annotated[int, typer.Option("--verbose", "-v", count=True)] = 0,
    tag: list[str] = typer.Option([], "--tag", help="May occur " + "twice."),
    pair: tuple[int, int] = (1, 2),
    user_name: str = typer.Option(..., prompt=True, metavar="USER_NAME"),
    token: "str | None" = typer.Option(None, hidden=True, envvar="TOKEN"),
    untyped="x",
):
    '''Works on a source.'''

if __name__ == "__main__":
    typer.run(main)
"""
MANY = """
from typing import Annotated
from typer import Argument, Option, Typer

app = Typer(help="Of many.", no_args_is_help=True)
users = Typer()
roles = Typer(name="roles", invoke_without_command=True)
users.add_typer(roles)
app.add_typer(users, name="users", help="Manages users.")

@app.callback()
def common(debug: bool = False): ...

@app.command()
def first_steps(file: str, again: Annotated[bool, Option("--again")] = False):
    '''Starts.'''

@app.command("two", help="Second.")
async def other(count: Annotated[int, Argument()] = 1): ...

@users.command()
def create(name: str): ...

@roles.command()
def show(): ...

def late(x: str = "1"): ...

app.command()(late)

def start():
    app()

if __name__ == "__main__":
    start()
"""


_KINDS = {"int": "integer", "integer": "integer", "float": "number"}


def _real(source, name):
    space: dict[str, Any] = {"__name__": "script"}
    exec(compile(source, "script", "exec"), space)
    made = space[name]
    if isinstance(made, typer.Typer):
        return typer.main.get_command(made)
    app = typer.Typer(add_completion=False)
    app.command()(made)
    return typer.main.get_command(app)


def _as_typer(command):
    found = {}
    for each in command.params:
        is_option = each.param_type_name == "option"
        if each.name in ("install_completion", "show_completion"):
            continue
        is_switch = is_option and (each.is_flag or each.count)
        flags = (tuple(each.opts), tuple(each.secondary_opts)) if is_option else ((), ())
        names = {getattr(kind, "name", "") for kind in getattr(each.type, "types", [each.type])}
        kind = "text" if is_switch else _KINDS.get(next(iter(names)).partition(" ")[0], "text")
        repeated = is_option and (each.multiple or each.count)
        most = 0 if is_switch else None if each.nargs == -1 else each.nargs
        required = each.required or bool(is_option and each.prompt and each.default is None)
        choices = tuple(map(str, getattr(each.type, "choices", ())))
        found[each.name] = (flags, kind, choices, repeated, most, required)
    return found


def _as_read(level):
    return {
        each.name: (
            (each.flags, each.negative_flags),
            each.type,
            each.choices,
            each.repeated,
            each.max_values,
            each.required,
        )
        for each in level.parameters
    }


def _read(source):
    return read_command_line("scripts/x.py", textwrap.dedent(source))


def test_parameters_equal_those_of_typer():
    found = _read(ONE)
    assert (found.kind, found.library, found.gaps) == ("fields", "typer", ())
    assert found.description == "Works on a source."
    assert _as_read(found.root) == _as_typer(_real(ONE, "main"))
    by_name = {each.name: each for each in found.root.parameters}
    assert [by_name[name].file for name in ("source", "out", "folder", "report")] == [
        "input",
        "output",
        "",
        "output",
    ]
    assert [by_name[name].default for name in ("out", "size", "tag", "pair", "untyped")] == [
        "out.txt",
        3,
        (),
        (1, 2),
        "x",
    ]
    assert (by_name["kind"].choices, by_name["kind"].default) == (("s", "l"), "s")
    assert by_name["force"].help == "Overwrites."
    assert by_name["token"].hidden


def test_commands_and_sub_apps_equal_those_of_typer():
    found, real = _read(MANY), _real(MANY, "app")
    assert [each.name for each in found.root.subcommands] == ["first-steps", "two", "late", "users"]
    assert found.description == "Of many."
    assert found.root.subcommand_required
    for names in found.commands():
        command = real
        for name in names:
            command = command.commands[name]
        level = found.levels(names)[-1]
        assert _as_read(level) == _as_typer(command)
        assert [each.name for each in level.subcommands] == [*getattr(command, "commands", ())]
        assert level.subcommand_required == (not getattr(command, "invoke_without_command", True))
        assert not names or level.help == (command.help or "")
    assert found.levels(("users", "create"))[-1].parameters[0].id == "users/create/name"
    assert fits(found, ["--debug", "first-steps", "a.txt", "--again"])
    assert not fits(found, ["first-steps"])


def test_app_with_one_command_has_no_subcommand():
    found = _read("import typer\napp = typer.Typer()\n@app.command()\ndef only(x: int): ...\napp()\n")
    assert [each.name for each in found.root.parameters] == ["x"]
    assert not found.root.subcommands


COMPUTED = {
    "type": "def main(x: Own): ...\ntyper.run(main)\n",
    "parser": "def main(x: str = typer.Option('', parser=own)): ...\ntyper.run(main)\n",
    "flag": "def main(x: str = typer.Option('', name())): ...\ntyper.run(main)\n",
    "all": "def main(*names): ...\ntyper.run(main)\n",
    "function": "typer.run(make())\n",
    "two": "def a(): ...\ndef b(): ...\ntyper.run(a)\ntyper.run(b)\n",
    "class": "app = typer.Typer(cls=Own)\n@app.command()\ndef a(): ...\napp()\n",
    "unknown words": "app = typer.Typer()\n@app.command(context_settings={'allow_extra_args': True})\n"
    "def a(): ...\napp()\n",
    "around": "app = typer.Typer()\n@app.command()\n@wrap\ndef a(): ...\napp()\n",
    "loop": "app = typer.Typer()\nfor name in names:\n    @app.command(name)\n    def a(): ...\napp()\n",
    "added in a function": "app = typer.Typer()\nsub = typer.Typer(name='s')\n@app.command()\ndef a(): ...\n"
    "def add():\n    app.add_typer(sub)\nadd()\napp()\n",
    "no commands": "app = typer.Typer()\nadd(app)\napp()\n",
    "many": "def a(): ...\n"
    + "".join(f"a{n} = typer.Typer()\na{n}.command()(a)\n" for n in range(4))
    + "".join(f"a{n}.add_typer(a{n + 1}, name='b{m}')\n" for n in range(3) for m in range(60))
    + "a0()\n",
    "sub-app without name": "app = typer.Typer()\nsub = typer.Typer()\n@sub.command()\ndef a(): ...\n"
    "app.add_typer(sub)\napp()\n",
}


@pytest.mark.parametrize("source", COMPUTED.values(), ids=COMPUTED)
def test_computed_declaration_becomes_a_line(source):
    found = _read(f"import typer\n{source}")
    assert (found.kind, found.library) == ("line", "typer")
    assert found.gaps[0].reason == "computed_value"


def test_script_that_only_uses_typer_for_texts_keeps_its_line():
    found = _read("import sys, typer\ntyper.echo(sys.argv)\n")
    assert (found.kind, found.library) == ("line", "")
