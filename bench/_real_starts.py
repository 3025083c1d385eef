"""The step *start* of ``bench real``: which scripts reach their own code once their needs are supplied.

Each script runs once in the sandbox, from a working folder, with sample arguments: the first call that the
package's documents show and that fits, otherwise the required parameters of the form. Files that the
arguments name are generated. It gets the libraries that the package declares and those to which our table
maps its imports (wheels only, never built), and the programs of this machine. The proxy refuses all hosts; a
refusal counts as started.

A script **has started** if it gets past its imports and the parsing of its arguments:

- with argparse: ``parse_args`` returned to the script, which then did not call ``parser.error``;
- shell: it ended with 0, or called a command that is not part of reading arguments (``_ARGUMENT_WORDS``);
- other scripts: only the following rule applies.

In each case the run must not end for lack of a module, a program or a key, as a usage error, with a syntax
error or at the memory limit. A script that runs until its time limit has started.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

from packaging.utils import canonicalize_name

from registry.packages.command_lines import build_arguments, example_values
from registry.packages.dependencies.read import read_dependencies
from registry.packages.needs import read_needs
from registry.packages.problems import Refusal
from worker.core.sandbox_settings import jobs_folder, sandbox_settings
from worker.executors.failure_cause import explain_failure
from worker.files.inputs import WORK_DIR
from worker.files.working_folder import create_working_folder
from worker.protocols.call import Request
from worker.protocols.outcome import interpret
from worker.protocols.prepare import prepare
from worker.sandbox.cleanup import remove_tree
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import Job
from worker.sandbox.tiers import available


def _words(text):
    return tuple(text.split())


_MARKS = Path(__file__).with_name("_start_marks.py")
_LIMITS = Limits(timeout_s=30, memory_mb=3000, disk_mb=256)
_INSTALL_S = 300
_STOPPED = ("MODULE_MISSING", "PROGRAM_MISSING", "USAGE", "PACKAGE_READ_ONLY", "MEMORY_LIMIT", "START_FAILED")
_SYNTAX = ("SyntaxError", "IndentationError", "TabError")
_IMPORTS = ("ImportError", "ModuleNotFoundError")
_ARGUMENT_WORDS = _words(
    """[ [[ (( test : true false set shift case getopts usage echo printf cat exit return local export declare
    readonly cd pwd dirname basename realpath readlink command type which source shopt trap unset read if for
    while break continue let grep sed tr head"""
)
_TRACED = re.compile(r"^\++ (?:[A-Za-z_]\w*=\S* )*(?P<word>\S+)", re.MULTILINE)
_ASSIGNED = re.compile(r"[A-Za-z_]\w*(\[.*\])?\+?=")
_FILE_NAME = re.compile(r"[\w./~-]*\w\.[A-Za-z0-9]{1,6}")
_WRITES = re.compile(r"-o$|out|dest|save|export", re.IGNORECASE)
_SUFFIXES = _words(
    "csv tsv json jsonl pdf docx pptx xlsx md html xml yaml txt png jpg fasta fastq vcf bed sdf mol2 pdb cif "
    "h5ad zip py sql log dcm mp3 wav"
)
_CONTENTS = {
    ".json": b'{"name": "a", "value": 1}\n',
    ".csv": b"name,value\na,1\nb,2\n",
    ".tsv": b"name\tvalue\na\t1\n",
    ".fasta": b">a\nACGT\n",
    ".pdb": b"ATOM      1  N   ALA A   1       0.000   0.000   0.000  1.00  0.00           N\nEND\n",
    ".html": b"<!doctype html><title>a</title><p>text</p>\n",
    ".xml": b"<a><b>text</b></a>\n",
}


def start_outcomes(package, scripts, folder, cache, log):
    """Yields path, outcome and outcome with keys of each script; the outcome is "started" or a reason."""
    paths = [each.command_line.path for each in scripts]
    needs = {each.path: each for each in read_needs(package.files, paths)}
    libraries = supply_libraries(package, needs.values(), cache, log)
    for script in scripts:
        need = needs[script.command_line.path]
        plain = _started(package, script, folder, libraries, ())
        keyed = _started(package, script, folder, libraries, need.keys) if need.keys else plain
        yield script.command_line.path, plain, keyed


def supply_libraries(package, needs, cache, log):
    """The folder with the wheels that the package declares and needs; omits libraries without a wheel."""
    declared = [each.line for each in read_dependencies(package.files).python]
    named = {canonicalize_name(re.split(r"[^\w.-]", line)[0]) for line in declared}
    modules = [module for need in needs for module in need.modules if module.ecosystem == "python"]
    mapped = sorted({each.distribution for each in modules if each.distribution} - named)
    wanted = [*declared, *mapped]
    folder = cache / hashlib.sha256("\n".join(wanted).encode()).hexdigest()[:24]
    if not folder.is_dir():
        building = cache / f".{folder.name}"
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir(parents=True, mode=0o755)
        log(f"  libraries: {' '.join(wanted) or '-'}")
        if wanted and not _install(building, wanted):
            for each in wanted:
                _install(building, [each]) or log(f"  no wheel: {each}")
        building.rename(folder)
    return folder


def _install(folder, requirements):
    """Installs the requirements with uv, which is minutes faster, or with pip; returns whether all are
    installed.
    """
    tool = [shutil.which("uv"), "pip", "install", "--python", sys.executable]
    tool = tool if tool[0] else [sys.executable, "-m", "pip", "install", "--upgrade"]
    command = [*tool, "--quiet", "--only-binary", ":all:", "--target", folder, *requirements]
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=_INSTALL_S).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def _started(package, script, folder, libraries, keys):
    job_folder = jobs_folder() / f"start-{secrets.token_hex(8)}"
    (job_folder / "output").mkdir(mode=0o755, parents=True)
    try:
        create_working_folder(job_folder, (), package.paths, check_stop=lambda: None)
        words = _sample_words(script, job_folder / "work", set(package.paths))
        request = Request(arguments=words, script=script.id)
        read = {file.path: file.data for file in package.files}.__getitem__
        call = prepare(package.paths, package.manifest, package.profile, request, read=read)
        marks = job_folder / "marks"
        marks.mkdir(mode=0o755)
        (marks / "sitecustomize.py").write_bytes(_MARKS.read_bytes())
        is_shell = call.argv[0] == "bash"
        job = Job(
            argv=("bash", "-x", *call.argv[1:]) if is_shell else call.argv,
            package_dir=folder,
            job_dir=job_folder,
            stdin=call.stdin,
            environment={
                **call.environment,
                **dict.fromkeys(keys, "sk-sample-0123456789abcdef"),
                "PYTHONPATH": "/job/marks:/deps",
                "BASH_XTRACEFD": "3",
            },
            cwd=WORK_DIR,
            network=(),
            mounts={"/deps": libraries},
            channel_bytes=1 << 20,
            limits=_LIMITS,
        )
        result = available.run(job, site=sandbox_settings())
    except Refusal as error:
        return f"refused {error.code}"
    finally:
        remove_tree(job_folder)
    outcome, _result = explain_failure(interpret(call, result), result, package.paths)
    return _outcome(script, outcome, result, is_shell, keys)


def _outcome(script, outcome, result, is_shell, keys):
    """ "started", or the reason why the script has not."""
    code, cause = outcome.failure_code, outcome.cause
    kind, text = (cause.type, cause.message) if cause else ("", "")
    if code in _STOPPED or kind in (*_SYNTAX, *_IMPORTS):
        return f"{code} {kind} {text}"[:160]
    printed = (result.stdout + result.stderr).decode("utf-8", "replace")
    if result.exit_code and (key := _named_key(script, printed)):
        return f"KEY {key}"
    marks = result.channel.decode("utf-8", "replace")
    if is_shell:
        own = [each["word"] for each in _TRACED.finditer(marks)]
        if any(word not in _ARGUMENT_WORDS and not _ASSIGNED.match(word) for word in own):
            return "started"
    elif script.command_line.kind == "fields":
        if "parsed" in marks and "refused" not in marks:
            return "started"
        return f"{'ARGUMENTS' if 'refused' in marks else 'NOT_PARSED'} {kind} {text}"[:160]
    elif result.exit_code is not None and result.exit_code != 0 and kind == "SystemExit":
        return f"ENDED {text}"[:160]
    return "started" if not is_shell or result.exit_code == 0 else f"ENDED {text}"[:160]


def _named_key(script, printed):
    found = re.search(r"\b[A-Z][A-Z0-9_]*(?:_KEY|_TOKEN|_SECRET|_PASSWORD|_EMAIL|_API)\b", printed[-2000:])
    return found[0] if found else ""


def _sample_words(script, work, paths):
    """The words of a valid call. Creates the files that the words name."""
    line = script.command_line
    if script.samples:
        words = [str(word) for word in script.samples[0]]
    elif line.kind == "fields":
        names = next(
            names
            for names in line.commands()
            if not ((level := line.levels(names)[-1]).subcommands and level.subcommand_required)
        )
        values = example_values(line, names, file="sample.txt")
        for level in line.levels(names):
            for each in level.parameters:
                if each.id in values:
                    values[each.id] = _typed(each, values[each.id])
        words = [str(word) for word in build_arguments(line, values, names)]
    else:
        words = []
    for before, word in zip(["", *words], words, strict=False):
        _create_file(before, word, work, paths)
    return words


def _typed(parameter, value):
    """A value of the kind that the parameter's name and help suggest."""
    if isinstance(value, list):
        return [_typed(parameter, each) for each in value]
    if not isinstance(value, str) or parameter.choices or parameter.type != "text":
        return value
    text = f"{parameter.name} {parameter.metavar} {parameter.help}".lower()
    if parameter.file == "input":
        suffix = next((each for each in _SUFFIXES if re.search(rf"\b{each}s?\b|\.{each}\b", text)), "txt")
        return f"sample.{suffix}"
    if re.search(r"\b(dir|directory|folder)\b|_dir\b", text):
        return "sample-folder/"
    if "url" in text:
        return "https://example.org/sample"
    return "2024-01-31" if "date" in text else value


def _create_file(before, word, work, paths):
    """Creates the file or folder that a word names, unless the package has it or the script writes it."""
    if word.startswith(("-", "/")) or "://" in word or (before.startswith("-") and _WRITES.search(before)):
        return
    name = word.rstrip("/")
    if ".." in name.split("/") or name in paths or any(path.startswith(f"{name}/") for path in paths):
        return
    target = work / name
    if word.endswith("/"):
        target.mkdir(mode=0o755, parents=True, exist_ok=True)
    elif _FILE_NAME.fullmatch(word) and not target.exists() and not target.parent.is_symlink():
        target.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        target.write_bytes(_CONTENTS.get(target.suffix, b"sample text\n"))
