"""Monitors a running script for the worker: transfers streams, checks limits, and ends cancelled runs."""

from __future__ import annotations

import json
import os
import selectors
import socket
import time
from collections.abc import Mapping
from typing import Any

from worker.sandbox.enforcement import CHECK_INTERVALS_MS
from worker.sandbox.limits import cgroup, free_space, watchdog
from worker.sandbox.policy import CheckStop, Ending, Job, OnOutput, SandboxResult, Stream

_READ_BYTES = 65_536
_STOP_INTERVAL_S = 0.2
_MEMORY_INTERVAL_S = CHECK_INTERVALS_MS["memory"] / 1000
_DISK_INTERVAL_S = CHECK_INTERVALS_MS["disk"] / 1000
_MAX_DISK_INTERVAL_S = 1.0  # maximum pause between two disk checks, even if one takes long
_KILL_TIMEOUT_S = 30.0
# Extra time for the init process, which should end the run at its time limit before the worker does.
_INIT_GRACE_S = 1.0
# Number of consecutive checks with unreceived descriptors before these count as storage.
_MAX_IN_FLIGHT_CHECKS = 3
_MAX_DESCRIPTORS = 3  # number of descriptors of a scratch space
_NO_SPACE = b"no space left on device"
_MESSAGE_BYTES = 4096  # bytes at the end of stderr in which a script's last message is searched
_SHELL_SIGNALS = range(129, 193)
_STREAM_NAMES: tuple[Stream, Stream] = ("stdout", "stderr")


class ProcessIO:
    """Monitors one script until all its processes are dead. The first reason to end it becomes its ending."""

    def __init__(
        self,
        job: Job,
        run_socket: socket.socket,
        streams: list[int],
        group: cgroup.Cgroup | None,
        began: float,
        grace_s: float,
        min_free_bytes: int,
    ) -> None:
        self.job, self.run_socket, self.group = job, run_socket, group
        self.began, self.grace_s = began, grace_s
        self.grouped = group is not None and "memory" in group.controllers
        self.stdin, self.streams = streams[0], streams[1:]
        # Byte arrays, because appending stays cheap for a script that writes byte by byte.
        self.captured = (bytearray(), bytearray(), bytearray())
        self.remaining = [job.limits.output_bytes, job.channel_bytes]
        self.status: dict[str, Any] = {}
        self.unparsed = b""
        self.stdin_left = memoryview(job.stdin)
        self.on_output: OnOutput | None = None
        self.selector: selectors.BaseSelector
        self.reason: Ending | None = None
        self.detail = ""
        self.all_dead = False
        self.hidden: set[int] = set()  # processes that the last check could not inspect
        self.in_flight_checks = 0  # number of consecutive checks with unreceived descriptors
        self.kill_at: float | None = None
        self.killed_at: float | None = None
        self.finished = began
        self.min_free_bytes = min_free_bytes
        self.exhausted = ""  # resource of the scratch space that was used up at a check
        # Inputs do not count as output.
        self.initial_usage = (
            watchdog.FolderUsage(0, 0)
            if job.scratch
            else watchdog.folder_usage(job.job_dir, entries=1 << 30, size=1 << 60)
        )
        self.next_check = {
            "stop": began,
            "memory": began + _MEMORY_INTERVAL_S,
            "disk": began + _DISK_INTERVAL_S,
        }

    def run(self, on_output: OnOutput | None, check_stop: CheckStop | None) -> None:
        """Monitors the run until all its processes are dead and their output is read.

        Gives up if a process is still alive 30 seconds after the run was killed.
        """
        self.on_output = on_output
        with selectors.DefaultSelector() as selector:
            self.selector = selector
            selector.register(self.run_socket, selectors.EVENT_READ, self._read_status)
            for index, stream in enumerate(self.streams):
                selector.register(stream, selectors.EVENT_READ, self._reader(index))
            self._open_stdin()
            while not self.all_dead:
                for key, _events in selector.select(self._poll_timeout()):
                    key.data()
                self._check(time.monotonic(), check_stop)
            self.finished = self.status.get("finished_at", time.monotonic())
            self._drain()
            self._record_out_of_memory()
            self._record_exhausted()

    def abandon(self) -> None:
        """Kills the run after an error in the worker, and waits for its last process.

        Gives up after 30 seconds without a status message.
        """
        self._stop("cancelled")
        self.run_socket.settimeout(_KILL_TIMEOUT_S)
        while not self.all_dead:
            try:
                self._read_status()
            except TimeoutError:
                return

    def result(self, tier: str, enforcement: Mapping[str, str]) -> SandboxResult:
        code, signal = self._exit_status(tier)
        if self.reason and code is None and signal is None:
            signal = 9  # the worker killed the run
        if self.reason is None and code is None and signal is None:
            self.reason = "start_failed"
            self.detail = str(
                self.status.get("failed") or self._last_line() or "the run's init process was lost"
            )
        return SandboxResult(
            ending=self.reason or "exited",
            exit_code=code,
            signal=signal,
            stdout=bytes(self.captured[0]),
            stderr=bytes(self.captured[1]),
            channel=bytes(self.captured[2]),
            duration_s=self.finished - self.began,
            tier=tier,
            enforcement=enforcement,
            detail=self.detail,
            # A script that ignores SIGCHLD hides its children's CPU time from its parent, but not its cgroup.
            cpu_s=max(self.status.get("cpu_ms", 0) / 1000, self.group.cpu_s() if self.group else 0.0),
            peak_memory=self.status.get("peak_memory", 0),
        )

    def _exit_status(self, tier: str) -> tuple[int | None, int | None]:
        """Exit code and signal, each None if not reported.

        Converts exit codes that stand for signals: bubblewrap's, and those of a shell whose command was
        killed.
        """
        code: int | None = self.status.get("exit-code")
        is_killed = tier == "bwrap" or self.killed_at is not None
        if is_killed and code is not None and code in _SHELL_SIGNALS:
            return None, code - 128
        return code, self.status.get("signal")

    def _last_line(self) -> str:
        lines = self.captured[1].decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    # the run socket

    def _read_status(self) -> None:
        try:
            text, descriptors, _flags, _address = socket.recv_fds(
                self.run_socket, _READ_BYTES, _MAX_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
            )
        except ConnectionResetError:
            return  # the init process ended without reading the message; its own messages are read next
        if descriptors and self.job.scratch:
            self.job.scratch.attach(descriptors)
        if not text:
            self.all_dead = True
            return
        *lines, self.unparsed = (self.unparsed + text).split(b"\n")
        for line in lines:
            # bubblewrap splits objects into several lines, but each relevant pair is on one line.
            self.status |= _pairs(line)
        if "timed_out" in self.status:
            self.reason = self.reason or "timed_out"
            self.killed_at = self.killed_at or time.monotonic()
        self.all_dead = "ended" in self.status

    def _stop(self, reason: Ending, detail: str = "") -> None:
        """Kills the run at once; an earlier reason and detail are kept."""
        self.reason = self.reason or reason
        self.detail = self.detail or detail
        if self.killed_at is None:
            self.killed_at = time.monotonic()
            try:
                self.run_socket.sendall(b"k")
            except OSError:
                self.all_dead = True

    # the streams

    def _open_stdin(self) -> None:
        if self.stdin_left:
            self.selector.register(self.stdin, selectors.EVENT_WRITE, self._write_stdin)
        else:
            self._close_stdin()

    def _write_stdin(self) -> None:
        try:
            self.stdin_left = self.stdin_left[os.write(self.stdin, self.stdin_left[:_READ_BYTES]) :]
        except BlockingIOError:
            return
        except OSError:
            self.stdin_left = memoryview(b"")
        if not self.stdin_left:
            self.selector.unregister(self.stdin)
            self._close_stdin()

    def _close_stdin(self) -> None:
        # The caller closes the descriptor number, so this only replaces the pipe behind it.
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        os.dup2(null, self.stdin, inheritable=False)
        os.close(null)

    def _reader(self, index: int) -> Any:
        return lambda: self._read(index)

    def _read(self, index: int) -> bool:
        """Reads and passes on a chunk of a stream; returns True if there may be more.

        Ends the run if the stream exceeds its output limit.
        """
        try:
            chunk = os.read(self.streams[index], _READ_BYTES)
        except BlockingIOError:
            return False
        if not chunk:
            self._unregister(index)
            return False
        account = 1 if index == 2 else 0
        kept = chunk[: self.remaining[account]]
        self.remaining[account] -= len(kept)
        if kept:
            self.captured[index].extend(kept)
            if self.on_output and index < 2:
                self.on_output(_STREAM_NAMES[index], kept)
        if len(kept) < len(chunk):
            self._stop("output_limit", "descriptor 3" if account else "")
            return False
        return True

    def _unregister(self, index: int) -> None:
        if self.selector.get_map().get(self.streams[index]):
            self.selector.unregister(self.streams[index])

    def _drain(self) -> None:
        """Reads the rest of the pipes. Call this after all processes that can write to them have ended."""
        for index in range(len(self.streams)):
            while self._read(index):
                pass

    # the clock and the limits

    def _poll_timeout(self) -> float:
        moments = [*self.next_check.values(), self._deadline]
        if self.kill_at is not None:
            moments.append(self.kill_at)
        if self.killed_at is not None:
            moments = [self.next_check["stop"]]
        return max(0.0, min(moments) - time.monotonic())

    @property
    def _deadline(self) -> float:
        return self.began + self.job.limits.timeout_s + _INIT_GRACE_S

    def _check(self, now: float, check_stop: CheckStop | None) -> None:
        if now >= self.next_check["stop"]:
            self.next_check["stop"] = now + _STOP_INTERVAL_S
            self._check_stop(check_stop, now)
        if self.killed_at is not None:
            if now > self.killed_at + _KILL_TIMEOUT_S:
                self.all_dead, self.detail = True, "a process of the run could not be ended"
            return
        if now >= self._deadline:
            self._stop("timed_out")
        elif self.kill_at is not None and now >= self.kill_at:
            self._stop("cancelled")
        elif now >= min(self.next_check["memory"], self.next_check["disk"]):
            self._check_limits(now)

    def _check_stop(self, check_stop: CheckStop | None, now: float) -> None:
        reason = check_stop() if check_stop else None
        if reason == "lease_lost":
            self._stop("lease_lost")
        elif reason == "cancelled" and self.kill_at is None and self.killed_at is None:
            self.reason = self.reason or "cancelled"
            self.kill_at = now + self.grace_s
            if not (self.first_pid and watchdog.terminate_processes(self.first_pid)):
                self._stop("cancelled")  # no process of the script is left that could clean up

    @property
    def first_pid(self) -> int | None:
        return self.status.get("child-pid")

    def _check_limits(self, now: float) -> None:
        self.next_check["memory"] = now + _MEMORY_INTERVAL_S
        if self.group and self.group.out_of_memory():
            self._stop("memory_limit")
        if self.first_pid is None:
            self.next_check["disk"] = max(self.next_check["disk"], self.next_check["memory"])
            return
        if now >= self.next_check["disk"]:
            self._check_disk(now, self.first_pid)
        else:
            self._check_memory(self.first_pid, 0)

    def _check_memory(self, first: int, unmapped: int) -> None:
        if self.grouped:
            self._check_group_memory()
            return
        cap, pids = self.job.limits.memory_mb << 20, watchdog.list_processes(first)
        total = watchdog.resident_bytes(pids, cap) + unmapped
        if total > cap and unmapped:
            total -= min(unmapped, watchdog.shared_bytes(pids))
        if total > cap:
            self._stop("memory_limit")

    def _check_group_memory(self) -> None:
        """Ends a run that exceeds its memory limit although its cgroup does not.

        With a scratch space, the cgroup's limit is higher, because it includes the space's tmpfs.
        """
        scratch, cap = self.job.scratch, self.job.limits.memory_mb << 20
        if scratch and self.group and self.group.memory_exceeds(cap, scratch.usage().size):
            self._stop("memory_limit")

    def _check_disk(self, now: float, first: int) -> None:
        scratch = self.job.scratch
        device = scratch.device_number if scratch else os.stat(self.job.job_dir).st_dev
        unlinked = watchdog.UnlinkedFiles.measure(watchdog.list_processes(first), device)
        if scratch:
            self.exhausted = self.exhausted or scratch.exhausted()
        else:
            self._check_folder(unlinked, first)
        if self._stores_in_flight(unlinked):
            limit: Ending = "disk_limit" if self.grouped else "memory_limit"
            self._stop(limit, "descriptors are sent but never received")
        elif unlinked.hidden & self.hidden:
            self._stop("memory_limit", "a process hides its memory")
        else:
            self._check_memory(first, unlinked.memory)
        self.hidden = unlinked.hidden
        cost = time.monotonic() - now
        self.next_check["disk"] = now + min(_MAX_DISK_INTERVAL_S, max(_DISK_INTERVAL_S, 10 * cost))

    def _check_folder(self, unlinked: watchdog.UnlinkedFiles, first: int) -> None:
        """Ends the run if it exceeds its disk limits, or is the youngest run on an almost full disk."""
        size, entries = self.job.limits.disk_mb << 20, self.job.limits.files
        usage = watchdog.folder_usage(
            self.job.job_dir,
            entries=entries + self.initial_usage.entries,
            size=size + self.initial_usage.size,
        )
        tmpfs = watchdog.tmpfs_usage(first)
        if usage.size - self.initial_usage.size + unlinked.disk + tmpfs.size > size:
            self._stop("disk_limit", "bytes")
        elif max(usage.entries - self.initial_usage.entries, tmpfs.entries) > entries:
            self._stop("disk_limit", "files")
        elif free_space.must_end(self.job.job_dir, self.min_free_bytes):
            self._stop("disk_limit", "the worker's disk is almost full")

    def _stores_in_flight(self, unlinked: watchdog.UnlinkedFiles) -> bool:
        """Whether several checks in a row found descriptors sent but not received, which hide memory.

        Normal programs receive descriptors at once.
        """
        self.in_flight_checks = self.in_flight_checks + 1 if unlinked.in_flight else 0
        return self.in_flight_checks >= _MAX_IN_FLIGHT_CHECKS

    def _record_exhausted(self) -> None:
        """Records ``disk_limit`` as the ending of a script that failed after using up its scratch space.

        A message of the script about missing space also counts, because the script may have deleted files
        since.
        """
        if not self.job.scratch or self.reason is not None or self.status.get("exit-code") == 0:
            return
        self.exhausted = self.exhausted or self.job.scratch.exhausted()
        if _NO_SPACE in self.captured[1][-_MESSAGE_BYTES:].lower():
            self.exhausted = self.exhausted or "bytes"
        if self.exhausted:
            self.reason, self.detail = "disk_limit", self.exhausted

    def _record_out_of_memory(self) -> None:
        if self.group and self.reason in (None, "memory_limit") and self.group.out_of_memory():
            self.reason = "memory_limit"


def _pairs(line: bytes) -> dict[str, Any]:
    text = line.decode(errors="replace").strip().rstrip(",")
    if not text.startswith("{"):
        text = "{" + text
    if not text.endswith("}"):
        text += "}"
    try:
        pairs = json.loads(text)
    except ValueError:
        return {}
    return pairs if isinstance(pairs, dict) else {}
