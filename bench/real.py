"""``bench real``: how well the arguments of real scripts are read, and how many start. See README.md."""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections import Counter
from pathlib import Path

from bench import _real_starts
from registry.packages.archive.repack import repack, unpack
from registry.packages.command_lines import build_arguments, example_values, to_document
from registry.packages.command_lines.main_part import module_name, runs_as_module
from registry.packages.command_lines.python.described_parser import can_ask_parser, read_description
from registry.packages.problems import Refusal
from registry.packages.read_package import read_folder
from registry.versions.publishing.command_lines import read_command_lines
from worker.command_lines.ask_parsers import start_script

_FORMS = ("fields", "none", "filled", "usage", "empty")
_TARGETS = {"offered": 0.90, "equal": 0.99, "refused": 0.01}
_START_TARGETS = {"started": 0.55, "started_with_keys": 0.70}
_FILE = "/skill/SKILL.md"  # a value for parameters that read a file
_TEXTS = ("help", "metavar", "description", "usage", "default", "default_computed", "hidden", "gaps")


def add_arguments(parser):
    parser.add_argument("--corpus", required=True, help="folder with packages at any depth")
    parser.add_argument("--start", action="store_true", help="start each script with what it needs")
    parser.add_argument("--cache", help="folder for the libraries of --start; by default a temporary one")
    parser.add_argument("--show", action="store_true", help="list the scripts that miss a target")


def measure(options, *, log=lambda line: None):
    """Reads the scripts of all packages below the folder, and asks argparse parsers in the sandbox.

    A hash of its folder's name assigns each package to the read or the unread half; defects are searched only
    in the read half. With ``start``, also runs each script: see _real_starts.py.
    """
    counts = {half: Counter() for half in ("read", "unread")}
    named = []
    cache = options.get("cache") or tempfile.mkdtemp(prefix="skillquay-bench-")
    for name, package in _packages(Path(options["corpus"])):
        half = "read" if hashlib.sha256(name.encode()).digest()[0] % 2 else "unread"
        log(f"{name} ({half})")
        counts[half]["packages"] += 1
        for outcome in _outcomes(package, counts[half]):
            named.append([half, name, *outcome])
        if options.get("start"):
            for outcome in _starts(package, counts[half], Path(cache), log):
                named.append([half, name, *outcome])
    total = counts["read"] + counts["unread"]
    halves = {"all": total, **counts}
    return {
        "bench": "real",
        "halves": {half: _figures(each) for half, each in halves.items()},
        "named": named if options["show"] else [],
    }


def _packages(folder):
    """The readable packages with their folder's name, without copies."""
    seen = set()
    for skill in sorted(folder.rglob("SKILL.md")):
        with contextlib.suppress(Refusal):
            package = read_folder(skill.parent)
            key = hashlib.sha256(repack(package.files)).digest()
            if key not in seen:
                seen.add(key)
                yield skill.parent.name, package


def _outcomes(package, counts):
    """Counts the package's scripts; yields the path and outcome of each that misses a target."""
    read = read_command_lines(package)
    counts["notices"] += len(read.problems)
    if not read.scripts:
        return
    files = {file.path: file.data for file in package.files}
    with tempfile.TemporaryDirectory(prefix="skillquay-bench-") as temporary:
        folder = Path(temporary, "package")
        folder.mkdir(mode=0o755)
        unpack(repack(package.files), folder)
        for script in read.scripts:
            form = _form(script)
            counts[form] += 1
            if form in ("usage", "empty"):
                yield script.command_line.path, form
            if can_ask_parser(script.command_line):
                path = script.command_line.path
                started = module_name(path) if runs_as_module(path, files[path]) else path
                for outcome in _asked(script.command_line, folder, started):
                    counts[outcome] += 1
                    if outcome in ("different", "refused", "no_answer"):
                        yield path, outcome


def _starts(package, counts, cache, log):
    """Counts the scripts that start; yields the path of each other script and why it did not start."""
    scripts = read_command_lines(package).scripts
    if not scripts:
        return
    with tempfile.TemporaryDirectory(prefix="skillquay-bench-") as temporary:
        folder = Path(temporary, "package")
        folder.mkdir(mode=0o755)
        Path(temporary).chmod(0o755)
        unpack(repack(package.files), folder)
        for path, plain, keyed in _real_starts.start_outcomes(package, scripts, folder, cache, log):
            counts["tried"] += 1
            counts["started"] += plain == "started"
            counts["started_with_keys"] += keyed == "started"
            if keyed != "started":
                counts["reason " + keyed.split()[0]] += 1
                yield path, keyed


def _form(script):
    kind = script.command_line.kind
    if kind != "line":
        return kind
    return "filled" if script.samples else "usage" if script.command_line.usage else "empty"


def _asked(static, folder, script):
    """Whether the parser can be queried, has the parameters that were read from the source, and accepts the
    form's calls.
    """
    description = start_script(folder, script)
    real = read_description(description, static) if description else None
    if real is None:
        yield "no_answer"
        return
    if static.gaps or static.kind == "line":
        yield "incomplete"
    else:
        yield "equal" if _functional(to_document(static)) == _functional(to_document(real)) else "different"
    if real.kind == "fields":
        yield (
            "refused"
            if any(_refuses(real, names, folder, script) for names in real.commands())
            else "accepted"
        )


def _refuses(command_line, commands, folder, script):
    level = command_line.levels(commands)[-1]
    if level.subcommands and level.subcommand_required:
        return False  # the form does not offer this call
    words = build_arguments(command_line, example_values(command_line, commands, file=_FILE), commands)
    return start_script(folder, script, words) != {"accepted": True}


def _functional(document):
    """The document without texts that don't affect calls."""
    if isinstance(document, dict):
        return {key: _functional(value) for key, value in document.items() if key not in _TEXTS}
    return [_functional(each) for each in document] if isinstance(document, list) else document


def _figures(counts):
    programs = sum(counts[form] for form in _FORMS)
    return {
        **{
            name: counts[name]
            for name in ("packages", "notices", "no_answer", "incomplete", "equal", "accepted")
        },
        "programs": programs,
        "forms": {form: counts[form] for form in _FORMS},
        "offered_share": _share(programs - counts["usage"] - counts["empty"], programs),
        "equal_share": _share(counts["equal"], counts["equal"] + counts["different"]),
        "refused_share": _share(counts["refused"], counts["refused"] + counts["accepted"]),
        "started_share": _share(counts["started"], counts["tried"]),
        "started_with_keys_share": _share(counts["started_with_keys"], counts["tried"]),
        "not_started": _reasons(counts) if counts["tried"] else None,
    }


def _reasons(counts):
    """The reasons why scripts have not started even with keys, the most frequent first."""
    prefix = "reason "
    found = [
        (name.removeprefix(prefix), count) for name, count in counts.most_common() if name.startswith(prefix)
    ]
    return dict(found)


def _share(part, whole):
    return round(part / whole, 4) if whole else None


def lines(document):
    for half, figures in document["halves"].items():
        yield f"{half}: {figures['packages']} packages, {figures['programs']} programs"
        yield "  " + ", ".join(f"{form} {count}" for form, count in figures["forms"].items())
        for name, target in (
            _TARGETS | (_START_TARGETS if figures["not_started"] is not None else {})
        ).items():
            share, sign = figures[f"{name}_share"], "at most" if name == "refused" else "at least"
            yield f"  {name:<17}{'-' if share is None else f'{share:.1%}':>7}  (target {sign} {target:.0%})"
        yield (
            f"  read incompletely {figures['incomplete']}, parsers without answer {figures['no_answer']}, "
            f"shown calls that do not fit {figures['notices']}"
        )
        if figures["not_started"]:
            yield "  not started: " + ", ".join(f"{name} {n}" for name, n in figures["not_started"].items())
    for half, *rest in document["named"]:
        yield f"  {half:<7} {' '.join(rest)}"
