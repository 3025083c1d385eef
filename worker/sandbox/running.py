"""One run in a sandbox, from the order to the proof that nothing of it is left."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from worker.sandbox import bwrap, cgroup, doors, egress, launch, layout, nsrun, pool, unsafe
from worker.sandbox.policy import Door, Ended, Job, OnOutput, Tick
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
            _give(job.job_dir, lease.uid)
        group = cgroup.open_group(job.limits.memory_mb) if site.use_cgroups else None
        if group:
            stack.callback(group.remove)
        pipes = _Pipes.open(channel=job.channel_bytes > 0)
        stack.callback(pipes.close)
        if job.door:
            stack.enter_context(pipes.open_door(job.door, lease.uid if lease else None))
        proxy = None
        if job.network is not None and tier != "unsafe":
            proxy = stack.enter_context(egress.Proxy(job, pipes.open_gate(stack)))
        order = _order(tier, job, site, lease, group)
        leash = launch.start(order, pipes.inner, lease.descriptor if lease else None)
        stack.callback(leash.close)
        pipes.close_inner()
        conversation = Conversation(job, leash, pipes.outer, group, began, grace_s)
        try:
            conversation.hold(on_output, tick)
        except BaseException:
            conversation.abandon()
            raise
        ended = conversation.ended(tier, enforcement(tier, group is not None))
        return replace(ended, network=proxy.dials) if proxy else ended


def enforcement(tier: Tier, grouped: bool) -> dict[str, str]:
    return {
        "memory": "cgroup" if grouped else "watchdog",
        "processes": "none" if tier == "unsafe" else "rlimit",
        "disk": "watchdog",
    }


def _give(folder: Path, uid: int) -> None:
    """The job folder becomes the run's own; the inputs, which it only reads, stay the worker's."""
    os.chown(folder, uid, uid)
    for parent, folders, files in os.walk(folder):
        if parent == str(folder) and "input" in folders:
            folders.remove("input")
        for name in (*folders, *files):
            os.lchown(os.path.join(parent, name), uid, uid)


def _order(
    tier: Tier, job: Job, site: Site, lease: pool.Lease | None, group: cgroup.Group | None
) -> dict[str, Any]:
    folder = site.staging / "stage"
    staged = dict(zip(layout.private_folders(job), range(99), strict=False)) if lease else {}

    def reach(path: Path) -> str:
        return f"{folder}/{staged[path]}" if path in staged else os.path.realpath(path)

    plans: dict[Tier, Callable[[], dict[str, Any]]] = {
        "bwrap": lambda: bwrap.plan(job, layout.steps(job, reach)),
        "nsrun": lambda: nsrun.plan(job, layout.steps(job, reach)),
        "unsafe": lambda: unsafe.plan(job),
    }
    return {
        "tier": tier,
        "gate": job.network is not None and tier != "unsafe",
        tier: plans[tier](),
        "uid": lease.uid if lease else None,
        "cgroup": [str(group.joined_by)] if group else [],
        "staging_folder": str(folder),
        "staging": [[str(path), str(name)] for path, name in staged.items()],
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
