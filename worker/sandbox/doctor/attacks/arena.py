"""Runs attacks in one tier; the doctor prints the results, and tests assert them."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from worker.sandbox.cleanup import remove_tree
from worker.sandbox.doctor.attacks import destination, inside, probes, proxied
from worker.sandbox.doctor.attacks.bombs import BOMBS, Bomb
from worker.sandbox.limits import seccomp
from worker.sandbox.limits.cgroup import find_parents
from worker.sandbox.limits.limits import Limits
from worker.sandbox.limits.scratch import open_scratch
from worker.sandbox.policy import Job, SandboxResult
from worker.sandbox.run_job import run_in
from worker.sandbox.site_settings import SandboxSettings, Tier
from worker.sandbox.tiers.available import has_scratch

_ROOT = Path(__file__).parents[4]
# The copied modules keep their dotted names in otherwise empty packages, so that no other module can be
# imported.
_TRY_PROBES = f"""
import sys
sys.path.insert(0, sys.argv[1])
from {inside.__name__} import main
main(sys.argv[2:])
"""
_CONCURRENT_BOMBS = 4
LOST_WORKER = "kill the worker during a run"
HostFacts = Callable[[], AbstractContextManager[dict[str, Any]]]


@dataclass(frozen=True)
class AttackSet:
    """Attacks to try in each tier.

    ``probes`` and ``proxy_probes`` are modules with ``PROBES`` that are copied into the sandbox. They import
    only the standard library, ``inside`` and one another. ``host_facts`` extend the facts in ``inside.HOST``.
    """

    probes: tuple[ModuleType, ...]
    proxy_probes: tuple[ModuleType, ...]
    bombs: tuple[Bomb, ...]
    host_facts: tuple[HostFacts, ...] = ()


DOCTOR = AttackSet((probes,), (proxied,), BOMBS)


@dataclass(frozen=True)
class Check:
    """The result of one attack; ``detail`` names the control that stopped it, or how it succeeded."""

    attack: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class Arena:
    """The temporary folder for attacks in one tier, closed to other users like the worker's own folders."""

    tier: Tier
    site: SandboxSettings
    folder: Path
    attacks: AttackSet
    spaces: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    @property
    def package(self) -> Path:
        return self.folder / "package"

    def job(self, *argv: str, limits: Limits) -> Job:
        """Creates a job in a new folder, with a scratch space if the tier supports one."""
        folder = Path(tempfile.mkdtemp(dir=self.folder, prefix="attempt-"))
        for name in ("input", "output"):
            (folder / "job" / name).mkdir(parents=True)
        scratch = None
        if has_scratch(self.tier, self.site):
            scratch = open_scratch(folder, limits, self.site.max_tmpfs_bytes)
        if scratch:
            self.spaces.callback(scratch.close)
        return Job(argv, self.package, folder / "job", limits=limits, scratch=scratch)


@contextlib.contextmanager
def arena(tier: Tier, site: SandboxSettings, attacks: AttackSet = DOCTOR) -> Iterator[Arena]:
    folder = Path(tempfile.mkdtemp(prefix="skillquay-attacks-"))
    try:
        opened = Arena(tier, site, folder, attacks)
        opened.package.mkdir()
        opened.package.chmod(0o755)
        for module in (inside, *attacks.probes, *attacks.proxy_probes):
            _copy_module(module, opened.package)
        with opened.spaces:
            yield opened
    finally:
        remove_tree(folder)


def _copy_module(module: ModuleType, package: Path) -> None:
    *parents, name = module.__name__.split(".")
    folder = package
    for parent in parents:
        folder /= parent
        folder.mkdir(mode=0o755, exist_ok=True)
        (folder / "__init__.py").touch(mode=0o644)
    copy = folder / f"{name}.py"
    shutil.copyfile(str(module.__file__), copy)
    copy.chmod(0o644)


def all_attacks(tier: Tier, site: SandboxSettings, attacks: AttackSet = DOCTOR) -> list[Check]:
    """Tries every attack and returns the results; takes a few seconds, because most bombs run in parallel."""
    with arena(tier, site, attacks) as opened:
        proxy_checks = through_the_proxy(opened) if has_network(tier) else []
        return [*single_calls(opened), *proxy_checks, *_bombs(opened), lost_worker(opened)]


def attacks_on(tier: Tier, attacks: AttackSet = DOCTOR) -> list[str]:
    """The names of all attacks in this tier, in the order of the results of ``all_attacks``."""
    direct = [attack for module in attacks.probes for attack in module.PROBES]
    by_proxy = proxy_attacks(attacks) if has_network(tier) else []
    return [*direct, *by_proxy, *(bomb.attack for bomb in attacks.bombs), LOST_WORKER]


def proxy_attacks(attacks: AttackSet = DOCTOR) -> list[str]:
    return [attack for module in attacks.proxy_probes for attack in module.PROBES]


def has_network(tier: Tier) -> bool:
    """Whether runs in this tier can have an allowlist; ``landlock`` has no network namespace for a proxy."""
    return tier in ("bwrap", "nsrun")


def single_calls(opened: Arena) -> list[Check]:
    """Tries the attacks of ``probes`` in one run, then checks that the targets outside the sandbox are
    unchanged.
    """
    with _host(opened) as host:
        job = opened.job(*_probe_command(opened.attacks.probes), limits=Limits(timeout_s=30))
        before = _contents(opened.package)
        with _bystander() as bystander:
            host["bystander"] = bystander.pid
            job = replace(job, stdin=json.dumps(host).encode())
            result = run_in(opened.tier, job, site=opened.site)
            unharmed = {probes.SIGNAL_BYSTANDER: bystander.poll() is None}
        unharmed[probes.CHANGE_OTHER_RUN] = _is_unchanged(host["other_run"])
        unharmed[probes.CHANGE_PACKAGE] = _contents(opened.package) == before
    return [
        replace(check, passed=check.passed and unharmed.get(check.attack, True)) for check in _checks(result)
    ]


def through_the_proxy(opened: Arena) -> list[Check]:
    """Tries the attacks of ``proxy_probes`` in one run that may reach only the destination server."""
    with destination.serve_destination() as host:
        limits = Limits(timeout_s=30, descriptors=1100, network_bytes=4_000_000)
        job = replace(
            opened.job(*_probe_command(opened.attacks.proxy_probes), limits=limits),
            stdin=json.dumps({"port": host.port}).encode(),
            network=host.allowlist,
            resolve=host.resolve,
        )
        return _checks(run_in(opened.tier, job, site=opened.site))


def _probe_command(modules: tuple[ModuleType, ...]) -> tuple[str, ...]:
    names = (module.__name__ for module in modules)
    return ("python", "-B", "-I", "-S", "-c", _TRY_PROBES, "/skill", *names)


def _checks(result: SandboxResult) -> list[Check]:
    checks = [Check(**json.loads(line)) for line in result.stdout.splitlines()]
    if result.exit_code != 0 or not checks:
        reason = result.detail or result.stderr.decode(errors="replace")[-500:]
        status = f"{result.ending} {result.exit_code} {result.signal}: {reason}"
        checks.append(Check("run all probes", False, status))
    return checks


@contextlib.contextmanager
def _bystander() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _contents(folder: Path) -> dict[str, tuple[int, float, bytes]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.stat().st_mode, path.stat().st_mtime, path.read_bytes()) for path in files}


def _is_unchanged(path: str) -> bool:
    """Whether another run's file has its old mode and modification time and is not empty.

    The results of the calls are no proof, because in tier ``landlock`` some calls report success without an
    effect.
    """
    status = os.stat(path)
    return (stat.S_IMODE(status.st_mode), status.st_size > 0) == (0o640, True) and status.st_mtime > 1000


@contextlib.contextmanager
def _host(opened: Arena) -> Iterator[dict[str, Any]]:
    """Context manager that creates the targets of the probes and yields the facts for ``inside.HOST``.

    The targets are a port, sockets, files, and a variable in this process's environment.
    """
    other_run = Path(tempfile.mkdtemp(dir=opened.folder)) / "secret"
    other_run.write_text("another run's")
    other_run.chmod(0o640)
    canary, name = secrets.token_hex(8), secrets.token_hex(8)
    os.environ["SKILLQUAY_CANARY"] = canary
    with contextlib.ExitStack() as stack:
        stack.callback(os.environ.pop, "SKILLQUAY_CANARY", None)
        port = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        for address in ("\0" + name, str(opened.folder / "socket")):
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(address)
            listener.listen()
        host = {
            "namespaces": opened.tier != "landlock",
            "numbers": dict(seccomp.NUMBERS[os.uname().machine]),
            "worker": os.getpid(),
            "canary": canary,
            "port": port.getsockname()[1],
            "abstract": name,
            "socket_file": str(opened.folder / "socket"),
            "other_run": str(other_run),
            "secrets": [str(_ROOT / "portal" / "settings.py"), str(_ROOT / "manage.py"), __file__],
            "paths": [str(_ROOT), str(opened.folder)],
        }
        for facts in opened.attacks.host_facts:
            host |= stack.enter_context(facts())
        yield host


def _bombs(opened: Arena) -> list[Check]:
    # In tier ``landlock``, the process limit of an unprivileged user also counts the processes of concurrent
    # bombs.
    workers = 1 if opened.tier == "landlock" and os.geteuid() else _CONCURRENT_BOMBS
    bombs = opened.attacks.bombs
    alone = {one.attack: bomb(opened, one) for one in bombs if one.alone}
    with ThreadPoolExecutor(workers) as pool:
        started = {one.attack: pool.submit(bomb, opened, one) for one in bombs if not one.alone}
    return [alone.get(one.attack) or started[one.attack].result() for one in bombs]


def bomb(opened: Arena, attack: Bomb) -> Check:
    """Runs one attack of ``bombs``; the check fails if a process of the run is alive afterwards."""
    mark = secrets.token_hex(8)
    job = opened.job("python", "-B", "-I", "-S", "-c", attack.source, mark, limits=attack.limits)
    result = run_in(opened.tier, job, site=opened.site)
    passed, detail = attack.judge(result, job.scratch.job_folder if job.scratch else job.job_dir)
    alive = marked(mark)
    if alive:
        return Check(attack.attack, False, f"{len(alive)} processes outlived the run")
    return Check(attack.attack, passed, detail)


def lost_worker(opened: Arena) -> Check:
    """Kills a worker process during a run; the check fails if processes or cgroups remain after 5 seconds."""
    mark = secrets.token_hex(8)
    module = "worker.sandbox.doctor.attacks.lost_worker"
    job = opened.job(limits=Limits())
    arguments = [opened.tier, str(opened.package), str(job.job_dir), mark, str(opened.site.staging)]
    worker = subprocess.Popen(
        [sys.executable, "-m", module, *arguments, *(["scratch"] if job.scratch else [])],
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        env=_environment(),
    )
    assert worker.stdout is not None
    with worker.stdout as output:
        up = output.readline()
        before = len(marked(mark)) - 1
        worker.send_signal(signal.SIGKILL)
        worker.wait()
    deadline = time.monotonic() + 5
    while (marked(mark) or _cgroups(worker.pid)) and time.monotonic() < deadline:
        time.sleep(0.02)
    after = len(marked(mark)) + len(_cgroups(worker.pid))
    return Check(
        LOST_WORKER, bool(up) and before >= 2 and not after, f"{before} processes before, {after} after"
    )


def _cgroups(pid: int) -> list[Path]:
    return [group for parent in find_parents() for group in parent.folder.glob(f"skillquay-{pid}-*")]


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "TMPDIR")}


def marked(mark: str) -> list[int]:
    """Ids of the processes that have ``mark`` in their command line."""
    pids = []
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit() and mark.encode() in Path("/proc", name, "cmdline").read_bytes():
                pids.append(int(name))
    return pids
