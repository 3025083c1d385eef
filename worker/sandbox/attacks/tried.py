"""Tries the attacks for real in one tier: what the doctor prints and the tests assert."""

from __future__ import annotations

import contextlib
import ctypes
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
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from worker.sandbox import seccomp
from worker.sandbox.attacks import destination
from worker.sandbox.attacks import machine as machine  # their probes stand in the order of the imports
from worker.sandbox.attacks import neighbours as neighbours
from worker.sandbox.attacks import probes as probes
from worker.sandbox.attacks.bombs import BOMBS as EXHAUSTING
from worker.sandbox.attacks.bombs import Bomb
from worker.sandbox.attacks.hoards import HOARDS
from worker.sandbox.attacks.proxied import PROXIED
from worker.sandbox.attacks.trying import PROBES
from worker.sandbox.cgroup import find_parents
from worker.sandbox.clearing import clear
from worker.sandbox.policy import Ended, Job, Limits
from worker.sandbox.running import run_in
from worker.sandbox.site import Site, Tier

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[2]
_TRY = """
import sys
sys.path.insert(0, sys.argv[1])
from attacks import machine, neighbours, probes, trying
trying.main()
"""
_TRY_PROXY = """
import sys
sys.path.insert(0, sys.argv[1])
from attacks import proxied, trying
trying.main(proxied.PROXIED)
"""
_TOGETHER = 4
BOMBS = (*EXHAUSTING, *HOARDS)
MODES = "change modes, times and owners of another run's file"
PACKAGE = "change the package under the next run"
SIGNALS = "signal another process of its user in every other way"
LOST_WORKER = "kill the worker in the middle of a run"


@dataclass(frozen=True)
class Check:
    """One attack tried: ``detail`` says what stopped it, or what it reached."""

    attack: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class Arena:
    """Folders for one tier's attacks, private as the worker's own are."""

    tier: Tier
    site: Site
    folder: Path

    @property
    def package(self) -> Path:
        return self.folder / "package"

    def job_dir(self) -> Path:
        folder = Path(tempfile.mkdtemp(dir=self.folder, prefix="job-"))
        for name in ("input", "output"):
            (folder / name).mkdir()
        return folder


@contextlib.contextmanager
def arena(tier: Tier, site: Site) -> Iterator[Arena]:
    folder = Path(tempfile.mkdtemp(prefix="skillquay-attacks-"))
    try:
        opened = Arena(tier, site, folder)
        opened.package.mkdir()
        opened.package.chmod(0o755)
        (opened.package / "attacks").mkdir(mode=0o755)
        for source in _HERE.glob("*.py"):
            copy = opened.package / "attacks" / source.name
            shutil.copyfile(source, copy)
            copy.chmod(0o644)
        yield opened
    finally:
        clear(folder)


def all_attacks(tier: Tier, site: Site) -> list[Check]:
    """Every attack, in order; a few seconds, as most bombs wait for a limit and are tried side by side."""
    with arena(tier, site) as opened:
        proxied = through_the_proxy(opened) if has_network(tier) else []
        return [*single_calls(opened), *proxied, *_bombs(opened), lost_worker(opened)]


def _bombs(opened: Arena) -> list[Check]:
    # A limit on processes that counts all of its user's would count those of the other bombs.
    together = 1 if opened.tier == "landlock" and os.geteuid() else _TOGETHER
    alone = {one.attack: bomb(opened, one) for one in BOMBS if one.alone}
    with ThreadPoolExecutor(together) as pool:
        begun = {one.attack: pool.submit(bomb, opened, one) for one in BOMBS if not one.alone}
    return [alone.get(one.attack) or begun[one.attack].result() for one in BOMBS]


def attacks_on(tier: Tier) -> list[str]:
    """The names of all, in the order in which they are tried."""
    proxied = PROXIED if has_network(tier) else {}
    return [*PROBES, *proxied, *(bomb.attack for bomb in BOMBS), LOST_WORKER]


def has_network(tier: Tier) -> bool:
    """Whether a run can be given hosts there: tier C has no network of its own to listen in."""
    return tier in ("bwrap", "nsrun")


def single_calls(opened: Arena) -> list[Check]:
    """The attacks by single calls, all in one run."""
    with _host(opened) as host:
        job = Job(
            ("python", "-B", "-I", "-S", "-c", _TRY, "/skill"),
            opened.package,
            opened.job_dir(),
            limits=Limits(timeout_s=30),
        )
        before = _contents(opened.package)
        with _bystander() as stands_by:
            host["bystander"] = stands_by.pid
            job = replace(job, stdin=json.dumps(host).encode())
            ended = run_in(opened.tier, job, site=opened.site)
            held = {SIGNALS: stands_by.poll() is None}
        held |= {MODES: _untouched(host), PACKAGE: _contents(opened.package) == before}
    return [replace(check, passed=check.passed and held.get(check.attack, True)) for check in _told(ended)]


def through_the_proxy(opened: Arena) -> list[Check]:
    """The attacks on the proxy of a run that may reach one host, all in one run."""
    with destination.served() as place:
        job = Job(
            ("python", "-B", "-I", "-S", "-c", _TRY_PROXY, "/skill"),
            opened.package,
            opened.job_dir(),
            stdin=json.dumps({"port": place.port}).encode(),
            network=place.allowlist,
            resolve=place.resolve,
            limits=Limits(timeout_s=30, descriptors=1100, network_bytes=4_000_000),
        )
        return _told(run_in(opened.tier, job, site=opened.site))


def _told(ended: Ended) -> list[Check]:
    checks = [Check(**json.loads(line)) for line in ended.stdout.splitlines()]
    if ended.exit_code != 0 or not checks:
        why = ended.detail or ended.stderr.decode(errors="replace")[-500:]
        checks.append(
            Check("run all probes", False, f"{ended.ending} {ended.exit_code} {ended.signal}: {why}")
        )
    return checks


@contextlib.contextmanager
def _bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the worker's user that has nothing to do with the run."""
    process = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _contents(folder: Path) -> dict[str, tuple[int, float, bytes]]:
    """Mode, time and bytes of each file: what the next run of the package would find."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.stat().st_mode, path.stat().st_mtime, path.read_bytes()) for path in files}


def _untouched(host: dict[str, Any]) -> bool:
    """Whether another run's file is what it was: in tier C a call may say that it changed it."""
    status = os.stat(host["other_run"])
    return (stat.S_IMODE(status.st_mode), status.st_size > 0) == (0o640, True) and status.st_mtime > 1000


@contextlib.contextmanager
def _host(opened: Arena) -> Iterator[dict[str, Any]]:
    """What the probes try to reach: a listening port, sockets, files, this process."""
    other = opened.job_dir() / "output" / "secret"
    other.write_text("another run's")
    other.chmod(0o640)
    canary, name = secrets.token_hex(8), secrets.token_hex(8)
    os.environ["SKILLQUAY_CANARY"] = canary
    with contextlib.ExitStack() as stack:
        stack.callback(os.environ.pop, "SKILLQUAY_CANARY", None)
        port = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        for address in ("\0" + name, str(opened.folder / "socket")):
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(address)
            listener.listen()
        key = secrets.randbelow(1 << 30) + 1
        stack.enter_context(_system_v(key))
        shared = Path("/dev/shm", name)
        shared.write_text("the worker's")
        stack.callback(shared.unlink)
        yield {
            "namespaces": opened.tier != "landlock",
            "ipc_key": key,
            "groups": [str(parent.folder) for parent in find_parents()],
            "numbers": dict(seccomp.NUMBERS[os.uname().machine]),
            "worker": os.getpid(),
            "canary": canary,
            "port": port.getsockname()[1],
            "abstract": name,
            "socket_file": str(opened.folder / "socket"),
            "other_run": str(other),
            "secrets": [
                str(_ROOT / "portal" / "settings.py"),
                str(_ROOT / "manage.py"),
                str(_HERE / "tried.py"),
            ],
            "paths": [str(_ROOT), str(opened.folder)],
        }


@contextlib.contextmanager
def _system_v(key: int) -> Iterator[None]:
    """A semaphore, a queue and shared memory, open to all, as other programs of the machine have them."""
    libc = ctypes.CDLL(None)
    made = (libc.semget(key, 1, 0o1666), libc.msgget(key, 0o1666), libc.shmget(key, 4096, 0o1666))
    try:
        yield
    finally:
        libc.semctl(made[0], 0, 0)
        libc.msgctl(made[1], 0, None)
        libc.shmctl(made[2], 0, None)


def bomb(opened: Arena, attack: Bomb) -> Check:
    """One exhausting attack; nothing of it may be alive afterwards."""
    mark, job_dir = secrets.token_hex(8), opened.job_dir()
    job = Job(
        ("python", "-B", "-I", "-S", "-c", attack.source, mark), opened.package, job_dir, limits=attack.limits
    )
    ended = run_in(opened.tier, job, site=opened.site)
    passed, detail = attack.judge(ended, job_dir)
    alive = marked(mark)
    if alive:
        return Check(attack.attack, False, f"{len(alive)} processes outlived the run")
    return Check(attack.attack, passed, detail)


def lost_worker(opened: Arena) -> Check:
    mark = secrets.token_hex(8)
    staging = str(opened.site.staging)
    command = [sys.executable, "-m", "worker.sandbox.attacks.lost_worker", opened.tier, str(opened.package)]
    worker = subprocess.Popen(
        [*command, str(opened.job_dir()), mark, staging],
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        env=_environment(),
    )
    assert worker.stdout is not None
    with worker.stdout as said:
        up = said.readline()
        seen = len(marked(mark)) - 1
        worker.send_signal(signal.SIGKILL)
        worker.wait()
    deadline = time.monotonic() + 5
    while (marked(mark) or _groups(worker.pid)) and time.monotonic() < deadline:
        time.sleep(0.02)
    left = len(marked(mark)) + len(_groups(worker.pid))
    return Check(LOST_WORKER, bool(up) and seen >= 2 and not left, f"{seen} processes before, {left} after")


def _groups(pid: int) -> list[Path]:
    """The groups that this worker has made."""
    return [made for parent in find_parents() for made in parent.folder.glob(f"skillquay-{pid}-*")]


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "TMPDIR")}


def marked(mark: str) -> list[int]:
    """Processes with this word in their command line."""
    found = []
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit() and mark.encode() in Path("/proc", name, "cmdline").read_bytes():
                found.append(int(name))
    return found
