"""Runs one job in a sandbox: prepares its resources, has the launcher start it, and waits for its end."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from worker.sandbox import channel_server, launch, layout
from worker.sandbox.egress import passed_sockets, static_server
from worker.sandbox.egress import proxy as egress
from worker.sandbox.enforcement import enforcement
from worker.sandbox.limits import cgroup, free_space, user_ids
from worker.sandbox.policy import CheckStop, Job, OnOutput, RequestHandler, SandboxResult
from worker.sandbox.site_settings import SandboxSettings, Tier
from worker.sandbox.streams import ProcessIO
from worker.sandbox.tiers import bwrap, landlock, nsrun, unsafe


def run_in(
    tier: Tier,
    job: Job,
    *,
    on_output: OnOutput | None = None,
    check_stop: CheckStop | None = None,
    site: SandboxSettings | None = None,
    grace_s: float = 5.0,
) -> SandboxResult:
    """Runs ``job`` in exactly this tier; a cancelled run gets ``grace_s`` seconds from SIGTERM to SIGKILL."""
    site = site or SandboxSettings()
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        lease = user_ids.lease_user_id(site) if tier != "unsafe" else None
        if lease:
            stack.callback(lease.release)
        staged = _StagedPaths.of(tier, job, site, lease)
        if tier == "landlock":
            landlock.prepare_job_folder(job, staged.host_path)
            job, paths = _translate_paths(job, staged, stack, own_uid=lease is None)
            on_output = landlock.translate_output(on_output, paths)
        _prepare_folder(tier, job, lease, staged)
        group = cgroup.create_cgroup(_cgroup_limits(job)) if site.use_cgroups else None
        if group:
            stack.callback(group.remove)
        pipes = _Pipes.open(channel=job.channel_bytes > 0)
        stack.callback(pipes.close)
        if lease:
            pipes.give(lease.uid)
        if job.request_handler:
            stack.enter_context(pipes.open_channel(job.request_handler, lease.uid if lease else None))
        proxy = None
        if job.network is not None and tier != "unsafe":
            proxy_class = _proxy_class(tier, job)
            proxy = stack.enter_context(proxy_class(job, pipes.open_proxy_socket(stack)))
        order = _build_order(tier, job, staged, lease, group) | {"deadline": began + job.limits.timeout_s}
        run_socket = _start(order, job, pipes, lease)
        stack.callback(run_socket.close)
        pipes.close_inner()
        process_io = ProcessIO(job, run_socket, pipes.outer, group, began, grace_s, site.min_free_bytes)
        try:
            process_io.run(on_output, check_stop)
        except BaseException:
            process_io.abandon()
            raise
        result = process_io.result(tier, enforcement(tier, job, group.controllers if group else frozenset()))
        if tier == "landlock":
            result = landlock.translate_result(result, paths)
        return replace(result, network=proxy.decisions) if proxy else result


def _start(
    order: dict[str, Any], job: Job, pipes: _Pipes, lease: user_ids.UserIdLease | None
) -> socket.socket:
    namespaces = job.scratch.namespaces if job.scratch else ()
    return launch.start(order, pipes.inner, lease.descriptor if lease else None, namespaces)


def _prepare_folder(tier: Tier, job: Job, lease: user_ids.UserIdLease | None, staged: _StagedPaths) -> None:
    """Prepares links for the tier, marks a job folder on the worker's disk and changes its owner to the run's
    user.

    With a scratch space, only prepares the links, because the init process then changes the owner.
    """
    if tier == "landlock":
        layout.translate_links(job, landlock.PathTranslation.of(job, staged.host_path).to_host)
    elif tier == "unsafe":
        layout.translate_links(job, lambda path: unsafe.host_path(job, path))
    if job.scratch:
        return
    free_space.mark_on_disk(job.job_dir)
    if lease:
        _give_job_folder(job.job_dir, lease.uid)


def _proxy_class(tier: Tier, job: Job) -> type[egress.AllowlistProxy]:
    if tier == "landlock":
        return passed_sockets.PassedSocketServer
    return static_server.StaticServer if job.http_handler else egress.AllowlistProxy


def _cgroup_limits(job: Job) -> cgroup.CgroupLimits:
    """The limits of the run's cgroup. The memory limit includes a tmpfs scratch space.

    The kernel counts the pages of a tmpfs as memory of the cgroup.
    """
    limits, scratch = job.limits, job.scratch
    in_memory = scratch.size >> 20 if scratch and not scratch.device else 0
    return cgroup.CgroupLimits(limits.memory_mb + in_memory, limits.processes, limits.cpus)


def _give_job_folder(folder: Path, uid: int) -> None:
    """Makes the run's user the owner of the job folder, except for the inputs, which the worker keeps."""
    os.chown(folder, uid, uid)
    for parent, folders, files in os.walk(folder):
        if parent == str(folder) and "input" in folders:
            folders.remove("input")
        for name in (*folders, *files):
            os.lchown(os.path.join(parent, name), uid, uid)


def _translate_paths(
    job: Job, staged: _StagedPaths, stack: contextlib.ExitStack, *, own_uid: bool
) -> tuple[Job, landlock.PathTranslation]:
    """Returns the job with host paths, as tier ``landlock`` needs it, and the translation for its output.

    With ``own_uid``, makes the inputs read-only, and makes all folders accessible when ``stack`` closes.
    """
    paths = landlock.PathTranslation.of(job, staged.host_path)
    if own_uid:
        landlock.make_inputs_read_only(job)
        stack.callback(landlock.restore_access, job)
    return landlock.translate_job(job, paths), paths


@dataclass(frozen=True)
class _StagedPaths:
    """Maps private paths to numbered entries of the staging folder, where the run's user can access them."""

    folder: Path
    numbers: Mapping[Path, int]
    # Maps each path that must also be visible at its original place to the closed folder above it.
    in_place: Mapping[Path, Path]

    @classmethod
    def of(
        cls, tier: Tier, job: Job, site: SandboxSettings, lease: user_ids.UserIdLease | None
    ) -> _StagedPaths:
        private = layout.private_folders(job) if lease else []
        in_place = landlock.find_closed_parents(private) if tier == "landlock" else {}
        return cls(site.staging / "stage", dict(zip(private, range(99), strict=False)), in_place)

    def host_path(self, path: Path) -> str:
        if path not in self.numbers or path in self.in_place:
            return os.path.realpath(path)
        return f"{self.folder}/{self.numbers[path]}"


def _build_order(
    tier: Tier,
    job: Job,
    staged: _StagedPaths,
    lease: user_ids.UserIdLease | None,
    group: cgroup.Cgroup | None,
) -> dict[str, Any]:
    host_path = staged.host_path
    plans: dict[Tier, Callable[[], dict[str, Any]]] = {
        "bwrap": lambda: bwrap.plan(job, layout.layout_steps(job, host_path)),
        "nsrun": lambda: nsrun.plan(job, layout.layout_steps(job, host_path)),
        "landlock": lambda: landlock.plan(job, landlock.PathTranslation.of(job, host_path), host_path),
        "unsafe": lambda: unsafe.plan(job),
    }
    return {
        "tier": tier,
        "proxied": job.network is not None and tier != "unsafe",
        "scratch": job.scratch.order() if job.scratch else None,
        tier: plans[tier](),
        "uid": lease.uid if lease else None,
        "cgroup": [str(file) for file in group.join_files] if group else [],
        "processors": 0 if group and "cpu" in group.controllers else job.limits.cpus,
        "staging_folder": str(staged.folder),
        "staging": [[str(path), str(name)] for path, name in staged.numbers.items()],
        "in_place": [[str(staged.numbers[p]), str(p), str(top)] for p, top in staged.in_place.items()],
    }


@dataclass
class _Pipes:
    """The pipes of one run: ``inner`` are the script's ends, ``outer`` are the worker's, which do not block.

    Both lists start with stdin, stdout, stderr and the optional result channel.
    """

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
        """Makes the run's user the owner of the script's ends, because reopening ``/dev/stdout`` checks the
        owner.
        """
        for descriptor in self.inner:
            os.fchown(descriptor, uid, uid)

    def open_channel(self, handler: RequestHandler, uid: int | None) -> channel_server.ChannelServer:
        """Adds REQUEST_FD and ANSWER_FD, the script's ends of the request channel.

        Returns the channel's server, which the caller must start.
        """
        if len(self.inner) < channel_server.REQUEST_FD:
            # Fills the position of the result channel.
            self.inner.append(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC))
        request_fd, answer_fd, read_fd, write_fd = channel_server.create_pipes()
        self.inner += [request_fd, answer_fd]
        if uid is not None:  # node and deno open the descriptors by name, which checks the owner
            os.fchown(request_fd, uid, uid)
            os.fchown(answer_fd, uid, uid)
        return channel_server.ChannelServer(handler, read_fd, write_fd)

    def open_proxy_socket(self, stack: contextlib.ExitStack) -> socket.socket:
        """Adds the inner end of a socket pair; returns the worker's end, which ``stack`` closes.

        Over this pair, the sandbox passes its listening socket, or its notification descriptor in tier
        ``landlock``.
        """
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
