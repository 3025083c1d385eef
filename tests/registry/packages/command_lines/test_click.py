"""Commands declared with click are read as click itself has them; computed ones become a line."""

from __future__ import annotations

import ast
import textwrap

import click
import pytest

from registry.packages.command_lines import read_command_line
from registry.packages.command_lines.calls.fitting import fits
from registry.packages.command_lines.python.commands.click_reader import read_click

pytestmark = pytest.mark.row("A7")

ONE = """
import click
KINDS = ["a", "b"]

@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("source", type=click.Path(exists=True, dir_okay=False))
@click.argument("rest", nargs=-1)
@click.option("--count", "-c", default=3, help="How many.")
@click.option("-r", "--rate", "speed", type=float, required=True)
@click.option("--kind", type=click.Choice(KINDS), default="a", show_default=True)
@click.option("--tag", multiple=True)
@click.option("--size", nargs=2, type=int)
@click.option("-v", "--verbose", count=True)
@click.option("--quiet", is_flag=True, help="Says " + "nothing.")
@click.option("--color/--no-color", default=True)
@click.option("--out", type=click.File("w"), default="-")
@click.option("--secret-name", prompt=True, hidden=True)
@click.version_option("1")
def cli(**given):
    '''Works on a source.'''

if __name__ == "__main__":
    cli()
"""
MANY = """
from click import argument, command, group, option, pass_context

@group(invoke_without_command=True)
@option("--debug/--no-debug")
@pass_context
def main(ctx, debug): ...

@main.group()
def db(): ...

@db.command("init")
@option("--force", is_flag=True)
def start(force): ...

@main.command(name="two-words")
@argument("first_file")
@argument("second", required=False)
@option("--n", default=1.5)
def other(first_file, second, n): ...

@command(help="Added.")
@option("--x")
def added(x): ...

main.add_command(added)
main.add_command(added, "again")
main()
"""


def _real(source, name):
    space = {"__name__": "script"}
    exec(compile(source.replace("\nmain()\n", "\n"), "script", "exec"), space)
    return space[name]


def _as_click(command):
    found = {}
    for each in command.params:
        if isinstance(each, click.Option) and each.name in ("help", "version"):
            continue
        is_switch = isinstance(each, click.Option) and (each.is_flag or each.count)
        flags = (tuple(each.opts), tuple(each.secondary_opts)) if isinstance(each, click.Option) else ((), ())
        kind = "text" if is_switch else {"integer": "integer", "float": "number"}.get(each.type.name, "text")
        choices = tuple(getattr(each.type, "choices", ()))
        repeated = each.multiple or bool(getattr(each, "count", False))
        most = 0 if is_switch else None if each.nargs == -1 else each.nargs
        asks = bool(getattr(each, "prompt", None))
        found[each.name] = (flags, kind, choices, repeated, most, each.required or asks)
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


def test_parameters_equal_those_of_click():
    found = _read(ONE)
    assert (found.kind, found.library, found.gaps, found.description) == (
        "fields",
        "click",
        (),
        "Works on a source.",
    )
    assert _as_read(found.root) == _as_click(_real(ONE, "cli"))
    by_name = {each.name: each for each in found.root.parameters}
    assert (by_name["source"].file, by_name["out"].file) == ("input", "output")
    assert by_name["count"].help == "How many."
    assert by_name["secret_name"].hidden


def test_subcommands_equal_those_of_click():
    found, real = _read(MANY), _real(MANY, "main")
    assert [each.name for each in found.root.subcommands] == ["db", "two-words", "added", "again"]
    assert not found.root.subcommand_required
    for names in found.commands():
        command = real
        for name in names:
            command = command.commands[name]
        assert _as_read(found.levels(names)[-1]) == _as_click(command)
    assert found.levels(("db", "init"))[-1].parameters[0].id == "db/init/force"
    assert fits(found, ["--debug", "two-words", "a.txt", "--n", "2"])
    assert not fits(found, ["two-words"])


COMPUTED = {
    "choices": "@click.command()\n@click.option('--a', type=click.Choice(list(names())))\ndef c(a): ...\n",
    "name": "@click.command()\n@click.option(name())\ndef c(a): ...\n",
    "shared": "def more(f): return click.option('--x')(f)\n@click.command()\n@more\ndef c(x): ...\n",
    "around": "@wrap\n@click.command()\n@click.option('--x')\ndef c(x): ...\n",
    "flag value": "@click.command()\n@click.option('--a', flag_value='x')\ndef c(a): ...\n",
    "class": "@click.command(cls=Own)\n@click.option('--a')\ndef c(a): ...\n",
    "two": "@click.command()\ndef a(): ...\n@click.command()\ndef b(): ...\na()\nb()\n",
    "unknown words": "@click.command(context_settings={'ignore_unknown_options': True})\ndef c(): ...\nc()\n",
    "inside": "def make():\n    @click.command()\n    def c(): ...\n    c()\nmake()\n",
    "many": "@click.group()\ndef c(): ...\n@click.command()\ndef c2(): ...\n"
    + "".join(f"c.add_command(c2, 'a{n}')\n" for n in range(400)),
    "loop": "@click.group()\ndef c(): ...\nfor name in names:\n    @c.command(name)\n    def below(): ...\n",
    "added in a loop": "@click.group()\ndef c(): ...\n@click.command()\ndef c2(): ...\n"
    "for name in names:\n    c.add_command(c2, name)\n",
    "result callback": "@click.group()\ndef c(): ...\nc.result_callback()\nc()\n",
}


@pytest.mark.parametrize("name", COMPUTED)
def test_declarations_that_are_computed_become_a_line(name):
    found = _read(f"import click\n{COMPUTED[name]}\nc()\n")
    assert (found.kind, [gap.reason for gap in found.gaps]) == ("line", ["computed_value"])


def test_script_without_commands_is_not_read():
    assert read_click("x.py", ast.parse("import click\nclick.echo('x')\n")) is None
