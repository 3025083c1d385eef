"""One run in a sandbox, from the order to the proof that nothing of it is left."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from worker.sandbox import (
    bwrap,
    cgroup,
    doors,
    egress,
    handed,
    landlock,
    launch,
    layout,
    nsrun,
    pool,
    served,
    unsafe,
)
from worker.sandbox.policy import Door, Ended, Job, Limits, OnOutput, Tick
from worker.sandbox.site import Site, Tier
from worker.sandbox.streams import Conversation


def run_in(
    tier: Tier,
    job: Job,
    *,
    on_output: OnOutput | None = None,
    tick: Tick | None = None,
    site: Site | None = None,
    grace_s: float = 5.0,
) -> Ended:
    """Runs in exactly this tier; ``grace_s`` lies between a cancelled run's SIGTERM and SIGKILL."""
    site = site or Site()
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        lease = pool.lease(site) if tier != "unsafe" else None
        if lease:
            stack.callback(lease.release)
        staged = _Staged.of(tier, job, site, lease)
        if tier == "landlock":
            landlock.furnish(job, staged.reach)
            job, names = _by_host_names(job, staged, stack, own_uid=lease is None)
            on_output = landlock.listener(on_output, names)
        if lease:
            _give(job.job_dir, lease.uid)
        group = cgroup.open_group(_bounds(job.limits)) if site.use_cgroups else None
        if group:
            stack.callback(group.remove)
        pipes = _Pipes.open(channel=job.channel_bytes > 0)
        stack.callback(pipes.close)
        if lease:
            pipes.give(lease.uid)
        if job.door:
            stack.enter_context(pipes.open_door(job.door, lease.uid if lease else None))
        proxy = None
        if job.network is not None and tier != "unsafe":
            way_out = _way_out(tier, job)
            proxy = stack.enter_context(way_out(job, pipes.open_gate(stack)))
        order = _order(tier, job, staged, lease, group) | {"ends": began + job.limits.timeout_s}
        leash = launch.start(order, pipes.inner, lease.descriptor if lease else None)
        stack.callback(leash.close)
        pipes.close_inner()
        conversation = Conversation(job, leash, pipes.outer, group, began, grace_s)
        try:
            conversation.hold(on_output, tick)
        except BaseException:
            conversation.abandon()
            raise
        ended = conversation.ended(tier, enforcement(tier, job, group.holds if group else frozenset()))
        if tier == "landlock":
            ended = landlock.answered(ended, names)
        return replace(ended, network=proxy.dials) if proxy else ended


def _way_out(tier: Tier, job: Job) -> type[egress.Proxy]:
    if tier == "landlock":
        return handed.Handed
    return served.Server if job.served else egress.Proxy


_NETWORK: Mapping[Tier, str] = {
    "bwrap": "namespace",
    "nsrun": "namespace",
    "landlock": "seccomp",
    "unsafe": "none",
}


def enforcement(tier: Tier, job: Job, grouped: frozenset[str]) -> dict[str, str]:
    """Which mechanism held what; ``grouped`` are the controllers of the run's cgroup."""
    pinned = "affinity" if job.limits.cpus else "time limit"
    return {
        "memory": "cgroup" if "memory" in grouped else "watchdog",
        "processes": "cgroup" if "pids" in grouped else "none" if tier == "unsafe" else "rlimit",
        "disk": "watchdog",
        "files": "watchdog",
        "descriptors": "rlimit",
        "cpu": "cgroup" if "cpu" in grouped else pinned,
        "network": "proxy" if job.network is not None and tier != "unsafe" else _NETWORK[tier],
    }


def _bounds(limits: Limits) -> cgroup.Bounds:
    return cgroup.Bounds(limits.memory_mb, limits.processes, limits.cpus)


def _give(folder: Path, uid: int) -> None:
    """The job folder becomes the run's own; the inputs, which it only reads, stay the worker's."""
    os.chown(folder, uid, uid)
    for parent, folders, files in os.walk(folder):
        if parent == str(folder) and "input" in folders:
            folders.remove("input")
        for name in (*folders, *files):
            os.lchown(os.path.join(parent, name), uid, uid)


def _by_host_names(
    job: Job, staged: _Staged, stack: contextlib.ExitStack, *, own_uid: bool
) -> tuple[Job, landlock.Names]:
    """The job as tier C runs it, and the names by which its caller knows what it says."""
    names = landlock.Names.of(job, staged.reach)
    if own_uid:
        landlock.close_inputs(job)
        stack.callback(landlock.open_again, job)
    return landlock.translated(job, names), names


@dataclass(frozen=True)
class _Staged:
    """Where the run's uid reaches what lies below private folders: at a number in the staging folder."""

    folder: Path
    places: Mapping[Path, int]
    in_place: Mapping[Path, Path]  # also to be seen at its own path, below this closed folder

    @classmethod
    def of(cls, tier: Tier, job: Job, site: Site, lease: pool.Lease | None) -> _Staged:
        private = layout.private_folders(job) if lease else []
        in_place = landlock.closed_above(private) if tier == "landlock" else {}
        return cls(site.staging / "stage", dict(zip(private, range(99), strict=False)), in_place)

    def reach(self, path: Path) -> str:
        if path not in self.places or path in self.in_place:
            return os.path.realpath(path)
        return f"{self.folder}/{self.places[path]}"


def _order(
    tier: Tier, job: Job, staged: _Staged, lease: pool.Lease | None, group: cgroup.Group | None
) -> dict[str, Any]:
    reach = staged.reach
    plans: dict[Tier, Callable[[], dict[str, Any]]] = {
        "bwrap": lambda: bwrap.plan(job, layout.steps(job, reach)),
        "nsrun": lambda: nsrun.plan(job, layout.steps(job, reach)),
        "landlock": lambda: landlock.plan(job, landlock.Names.of(job, reach), reach),
        "unsafe": lambda: unsafe.plan(job),
    }
    return {
        "tier": tier,
        "gate": job.network is not None and tier != "unsafe",
        tier: plans[tier](),
        "uid": lease.uid if lease else None,
        "cgroup": [str(file) for file in group.joined_by] if group else [],
        "processors": 0 if group and "cpu" in group.holds else job.limits.cpus,
        "staging_folder": str(staged.folder),
        "staging": [[str(path), str(name)] for path, name in staged.places.items()],
        "in_place": [[str(staged.places[p]), str(p), str(top)] for p, top in staged.in_place.items()],
    }


@dataclass
class _Pipes:
    """The script's ends (stdin, stdout, stderr, perhaps the channel) and ours, in the same order."""

    inner: list[int]
    outer: list[int]

    @classmethod
    def open(cls, *, channel: bool) -> _Pipes:
        pipes = cls([], [])
        for number in range(4 if channel else 3):
            reading, writing = os.pipe()
            pipes.inner.append(reading if number == 0 else writing)
            pipes.outer.append(writing if number == 0 else reading)
        for descriptor in pipes.outer:
            os.set_blocking(descriptor, False)
        return pipes

    def give(self, uid: int) -> None:
        """To the run's own user: ``/dev/stdout`` is opened anew, which asks whose the pipe is."""
        for descriptor in self.inner:
            os.fchown(descriptor, uid, uid)

    def open_door(self, door: Door, uid: int | None) -> doors.Doorkeeper:
        """The script's two ends follow its streams, by the numbers that its environment names."""
        if len(self.inner) < doors.ASKING:
            self.inner.append(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC))  # in the channel's place
        asking, answering, hearing, saying = doors.opened()
        self.inner += [asking, answering]
        if uid is not None:  # node and deno open them by name, which asks whose they are
            os.fchown(asking, uid, uid)
            os.fchown(answering, uid, uid)
        return doors.Doorkeeper(door, hearing, saying)

    def open_gate(self, stack: contextlib.ExitStack) -> socket.socket:
        """The worker's end of the socket over which the run's listener is handed out."""
        ours, theirs = socket.socketpair()
        self.inner.append(theirs.detach())
        stack.callback(ours.close)
        return ours

    def close_inner(self) -> None:
        while self.inner:
            os.close(self.inner.pop())

    def close(self) -> None:
        self.close_inner()
        while self.outer:
            os.close(self.outer.pop())
