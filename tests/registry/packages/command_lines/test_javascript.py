"""What is read of scripts with commander, yargs and parseArgs, and of hand-written parsing."""

from __future__ import annotations

import pytest

from registry.packages.command_lines import CommandLevel, read_command_line

pytestmark = pytest.mark.row("A7")

COMMANDER = """
import { Command, Option } from 'commander';
const program = new Command();
program.description('Copies.').version('1')
  .option('--no-color', 'plain')
  .option('-p, --port <number>', 'port', parseInt, 80)
  .requiredOption('-c, --config <file...>', 'settings')
  .addOption(new Option('-m, --mode <mode>').choices(['a', `b`]).default('a'));
function common(command) { return command.option('-t, --token [text]', 'to' + 'ken'); }
const clone = program.command('clone <source> [dest]').alias('c').action(() => { log(process.argv); });
common(clone);
common(program.command('list'));
program.parse();
"""
YARGS = """
const yargs = require('yargs/yargs'); const { hideBin: hide } = require("yargs/helpers");
yargs(hide(process.argv))
  .command('serve [port]', 'starts', (y) => y
    .positional('port', { type: 'number', default: 5000 })
    .option('z', { alias: 'zip', boolean: true, default: true }))
  .command({ command: ['get <url..>', 'g'],
    builder: { out: { alias: 'o', demandOption: true, choices: [1, 2] } } })
  .option('verbose', { alias: 'v', type: 'count' }).array('tag').describe('tag', 'marks')
  .demandCommand(1).argv;
"""
PARSE_ARGS = """
import { parseArgs } from "node:util";
const options = { 'out-file': { type: 'string' as const, short: 'o', default: 'x' },
  quick: { type: 'boolean' }, tag: { type: 'string', multiple: true }, help: { type: 'boolean' } } as const;
const { values } = parseArgs({ args: process.argv.slice(2), options, allowPositionals: true });
"""
DENO = """
import { parseArgs } from "jsr:@std/cli@1/parse-args";
parseArgs(Deno.args, { string: ["in"], boolean: ["v"], alias: { v: "verbose" }, default: { n: 3 },
  collect: ["in"] });
"""


def _rows(level: CommandLevel) -> list[tuple[object, ...]]:
    return [
        (each.id, "".join(each.flags), (each.min_values, each.max_values), each.required, each.default)
        for each in level.parameters
    ]


def _read(source: str, path: str = "scripts/x.js"):
    found = read_command_line(path, source)
    assert found.gaps == ()
    return found


def test_commander_gives_options_arguments_and_subcommands():
    found = _read(COMMANDER)
    assert (found.kind, found.library, found.description) == ("fields", "commander", "Copies.")
    assert _rows(found.root) == [
        ("color", "--no-color", (0, 0), False, None),
        ("port", "-p--port", (1, 1), False, 80),
        ("config", "-c--config", (1, None), True, None),
        ("mode", "-m--mode", (1, 1), False, "a"),
    ]
    assert found.root.parameters[3].choices == ("a", "b")
    assert found.root.parameters[1].type == "integer"
    clone, listed = found.root.subcommands
    assert (clone.name, clone.aliases, found.root.subcommand_required) == ("clone", ("c",), True)
    assert _rows(clone) == [
        ("clone/source", "", (1, 1), True, None),
        ("clone/dest", "", (0, 1), False, None),
        ("clone/token", "-t--token", (0, 1), False, None),
    ]
    assert [each.help for each in listed.parameters] == ["token"]


def test_yargs_gives_options_of_callbacks_and_objects():
    found = _read(YARGS)
    assert _rows(found.root) == [
        ("verbose", "--verbose-v", (0, 0), False, None),
        ("tag", "--tag", (1, None), False, None),
    ]
    serve, get = found.root.subcommands
    assert _rows(serve) == [
        ("serve/port", "", (0, 1), False, 5000),
        ("serve/z", "-z--zip", (0, 0), False, True),
    ]
    assert serve.parameters[1].negative_flags == ("--no-zip",)
    assert _rows(get) == [("get/url", "", (1, None), True, None), ("get/out", "--out-o", (1, 1), True, None)]
    assert (get.aliases, get.parameters[1].choices, found.root.parameters[0].repeated) == (
        ("g",),
        ("1", "2"),
        True,
    )


def test_parse_args_gives_options_and_unnamed_arguments():
    assert _rows(_read(PARSE_ARGS, "scripts/x.ts").root) == [
        ("arguments", "", (0, None), False, None),
        ("out-file", "-o--out-file", (1, 1), False, "x"),
        ("quick", "--quick", (0, 0), False, None),
        ("tag", "--tag", (1, 1), False, None),
    ]
    assert _rows(_read(DENO, "scripts/x.ts").root)[:3] == [
        ("in", "--in", (1, 1), False, None),
        ("v", "-v--verbose", (0, 0), False, None),
        ("n", "-n", (1, 1), False, 3),
    ]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import {program as p} from 'commander'; p.option(`-x, --${a} <b>`).option('-y');", "computed_name"),
        ("const {program} = require('commander'); if (a) program.option('-y');", "conditional"),
        ("import {parseArgs} from 'util'; parseArgs({options: load()});", "computed_name"),
        ("import yargs from 'yargs'; yargs.command(names);", "computed_subcommand"),
        ("import yargs from 'yargs'; yargs.option('a', given);", "computed_value"),
    ],
)
def test_computed_parts_are_gaps(source, reason):
    assert [each.reason for each in read_command_line("x.js", source).gaps] == [reason]


@pytest.mark.parametrize(
    ("source", "kind", "is_program"),
    [
        ("const a = process.argv[2]; console.error('Usage: x <a>\\n');", "line", True),
        ("import cli from 'meow'; cli('x');", "line", True),
        ("console.log(1);", "none", True),
        ("export function f() {}", "none", False),
        ("parseArgs(`}}$1 ", "none", True),
    ],
)
def test_scripts_without_known_parser(source, kind, is_program):
    found = read_command_line("x.mjs", source)
    assert (found.kind, found.is_program) == (kind, is_program)
    assert found.usage == ("Usage: x <a>" if "Usage" in source else "")
