"""Hostile scripts are read within a bound of work, and no script makes a reader fail."""

from __future__ import annotations

import json
import random
import time

import pytest

from registry.packages.command_lines import read_command_line, to_document

pytestmark = pytest.mark.row("A7")

MAX_S = 4.0  # of CPU time, on a slow machine with coverage
_ARGPARSE = "import argparse\np = argparse.ArgumentParser()\n"
_HOSTILE = {
    "deep.py": _ARGPARSE + "p.add_argument(" + "(" * 90 + "1" + ")" * 90 + ")\np.parse_args()",
    "nested.py": _ARGPARSE + "x = " + "[" * 5000,
    "loops.py": _ARGPARSE + "for a in range(9**9):\n for b in range(9**9):\n  p.add_argument(f'--{a}{b}')\n",
    "power.py": _ARGPARSE + "x = 9**9**9\ny = 'a' * 10**12\np.add_argument(y, default=x)\np.parse_args()",
    "doubling.py": _ARGPARSE
    + "x = ['a']\n"
    + "x = x + x\n" * 60
    + "p.add_argument('--a', choices=x)\np.parse_args()",
    "recursion.py": _ARGPARSE + "def f(x):\n f(x); f(x)\nf(1)\np.parse_args()",
    "parents.py": _ARGPARSE
    + "q = argparse.ArgumentParser(add_help=False)\nq.add_argument('--a')\n"
    + "q = argparse.ArgumentParser(parents=[q, q])\n" * 60,
    "many.py": _ARGPARSE + "".join(f"p.add_argument('--a{n}')\n" for n in range(5000)) + "p.parse_args()",
    "binary.py": "import argparse\0\x01\x02",
    "plus.py": "x = " + "1+" * 20_000 + "1",
    "dotted.py": "import a" + ".a" * 120_000,
    "continued.py": "import a" + "\\\r\n.a" * 60_000,
    "getopts.sh": "while getopts '" + "a:" * 20_000 + "' o; do :; done",
    "deep.sh": "$(" * 20_000,
    "quotes.sh": "'\"" * 50_000,
    "wide.sh": "echo $1 $2\n" * 20_000,
    "deep.js": "import {program} from 'commander'; " + "program.command('a').option('-a')." * 3000,
    "brackets.js": "[" * 50_000,
    "template.ts": "`${" * 20_000,
    "options.mjs": "import yargs from 'yargs'; yargs." + "option('a', {b: {c: 1}})." * 5000 + "argv",
    "wide.js": "process.argv[1];\n" * 30_000,
}


@pytest.mark.parametrize("name", _HOSTILE)
def test_hostile_script_is_read_with_bounded_work(name):
    began = time.process_time()
    found = read_command_line(f"scripts/{name}", _HOSTILE[name][: 250 * 1024])
    assert time.process_time() - began < MAX_S
    assert len(json.dumps(to_document(found))) < 1_000_000


_SEEDS = {
    ".py": _ARGPARSE + "s = p.add_subparsers(dest='c')\nq = s.add_parser('x', aliases=['y'])\n"
    "g = q.add_mutually_exclusive_group(required=True)\ng.add_argument('-a', nargs='*', type=int)\n"
    "for n in ['b', 'c']:\n    g.add_argument('--' + n, choices=[1, 2], default=n * 2)\n"
    "args = p.parse_args()\n",
    ".js": "const {program} = require('commander');\nprogram.name('x').argument('<a...>', 'help')"
    ".option('-b, --bee <n>', 'x', parseInt, 3);\nprogram.command('c').alias('d').action(() => {});\n"
    "program.parse();",
    ".mjs": "import {parseArgs} from 'node:util';\nconst {values} = parseArgs({options: {a: {type: 'string',"
    " short: 'a', multiple: true}}, allowPositionals: true});",
    ".ts": "import yargs from 'yargs';\nyargs(hideBin(process.argv)).command('a <b>', 'x',"
    " (y) => y.option('c', {type: 'number', demandOption: true})).demandCommand(1).parse();",
    ".sh": "usage() { echo 'Usage: x [-a] F'; }\nwhile getopts ':ab:' o; do case $o in a) A=1;;"
    ' b) B=$OPTARG;; esac; done\nshift $((OPTIND - 1))\necho "$1" "${@:2}"\n',
}


@pytest.mark.parametrize("suffix", _SEEDS)
def test_no_changed_script_makes_a_reader_fail(suffix):
    chance, seed = random.Random(16), _SEEDS[suffix]
    for _ in range(150):
        text = list(seed)
        for _ in range(chance.randint(1, 8)):
            start = chance.randrange(len(text))
            end = min(len(text), start + chance.randint(0, 12))
            kind = chance.randrange(4)
            text[start:end] = (
                []
                if kind == 0
                else list(
                    chance.choice(
                        ["(", ")", "\0", "*", "**", "'", '"', "\n", "…", "\ud800", "None", "lambda: "]
                    )
                )
                if kind == 1
                else text[start:end] * 3
                if kind == 2
                else list(seed[(at := chance.randrange(len(seed))) : at + 15])
            )
        json.dumps(to_document(read_command_line(f"scripts/x{suffix}", "".join(text))))
