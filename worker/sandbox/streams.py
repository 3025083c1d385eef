"""The conversation with a run: stdin out, three streams in, the clock, the limits and the worker's word."""

from __future__ import annotations

import json
import os
import selectors
import socket
import time
from collections.abc import Mapping
from typing import Any

from worker.sandbox import cgroup, watchdog
from worker.sandbox.policy import Ended, Ending, Job, OnOutput, Stream, Tick

_READ = 65_536
_TICK_S = 0.2
_MEMORY_S = 0.05
_SLOWEST_S = 1.0  # between two looks at what it holds, however much that is
_BURIAL_S = 30.0
_KEEPERS_S = 1.0  # that the keeper, who ends the run at its limit, is given before the worker says so too
_WAY_LOOKS = 3  # one after the other that find descriptors on their way: then that is where something is kept
_SHELL_SIGNALS = range(129, 193)
_NAMES: tuple[Stream, Stream] = ("stdout", "stderr")


class Conversation:
    """Holds one run until all its processes are dead; the first reason to end it is the one that counts."""

    def __init__(
        self,
        job: Job,
        leash: socket.socket,
        streams: list[int],
        group: cgroup.Group | None,
        began: float,
        grace_s: float,
    ) -> None:
        self.job, self.leash, self.group, self.began, self.grace_s = job, leash, group, began, grace_s
        self.grouped = group is not None and "memory" in group.holds
        self.stdin, self.streams = streams[0], streams[1:]
        self.taken = (bytearray(), bytearray(), bytearray())  # a script that writes bytes one by one is cheap
        self.room = [job.limits.output_bytes, job.channel_bytes]
        self.said: dict[str, Any] = {}
        self.heard = b""
        self.unsent = memoryview(job.stdin)
        self.on_output: OnOutput | None = None
        self.selector: selectors.BaseSelector
        self.reason: Ending | None = None
        self.detail = ""
        self.buried = False
        self.hidden: set[int] = set()  # processes that could not be looked at the last time
        self.sending = 0  # looks one after the other that found descriptors on their way
        self.kill_at: float | None = None
        self.killed_at: float | None = None
        self.finished = began
        self.given = watchdog.folder_usage(job.job_dir, entries=1 << 30, size=1 << 60)  # inputs are no output
        self.next = {"tick": began, "memory": began + _MEMORY_S, "disk": began + 2 * _MEMORY_S}

    def hold(self, on_output: OnOutput | None, tick: Tick | None) -> None:
        self.on_output = on_output
        with selectors.DefaultSelector() as selector:
            self.selector = selector
            selector.register(self.leash, selectors.EVENT_READ, self._listen)
            for place, stream in enumerate(self.streams):
                selector.register(stream, selectors.EVENT_READ, self._reader(place))
            self._offer_stdin()
            while not self.buried:
                for key, _events in selector.select(self._patience()):
                    key.data()
                self._look_around(time.monotonic(), tick)
            self.finished = self.said.get("gone_at", time.monotonic())
            self._drain()
            self._note_memory()

    def abandon(self) -> None:
        """The caller failed: ends the run and waits until nothing of it is left."""
        self._stop("cancelled")
        self.leash.settimeout(_BURIAL_S)
        while not self.buried:
            try:
                self._listen()
            except TimeoutError:
                return

    def ended(self, tier: str, enforcement: Mapping[str, str]) -> Ended:
        code, signal = self._last_word(tier)
        if self.reason is None and code is None and signal is None:
            self.reason = "start_failed"
            self.detail = str(self.said.get("failed") or self._last_line() or "the run's keeper was lost")
        return Ended(
            ending=self.reason or "exited",
            exit_code=code,
            signal=signal if signal is not None else (9 if self.reason and code is None else None),
            stdout=bytes(self.taken[0]),
            stderr=bytes(self.taken[1]),
            channel=bytes(self.taken[2]),
            duration_s=self.finished - self.began,
            tier=tier,
            enforcement=enforcement,
            detail=self.detail,
            # A script that ignores its children's end hides their time from its parents, not from its group.
            cpu_s=max(self.said.get("cpu_ms", 0) / 1000, self.group.cpu_s() if self.group else 0.0),
        )

    def _last_word(self, tier: str) -> tuple[int | None, int | None]:
        """Exit code or signal; bubblewrap reports a signal as a shell does."""
        code: int | None = self.said.get("exit-code")
        if tier == "bwrap" and code is not None and code in _SHELL_SIGNALS:
            return None, code - 128
        return code, self.said.get("signal")

    def _last_line(self) -> str:
        lines = self.taken[1].decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    # the leash

    def _listen(self) -> None:
        try:
            text = self.leash.recv(_READ)
        except ConnectionResetError:
            return  # it ended with our word to it unread; what it had said before is read next
        if not text:
            self.buried = True
            return
        *lines, self.heard = (self.heard + text).split(b"\n")
        for line in lines:
            # bubblewrap writes objects over several lines; each of its pairs that matters stands on one.
            self.said |= _pairs(line)
        if "timed_out" in self.said:
            self.reason = self.reason or "timed_out"
            self.killed_at = self.killed_at or time.monotonic()
        self.buried = "ended" in self.said

    def _stop(self, reason: Ending, detail: str = "") -> None:
        """Ends the run at once; what killed it first stays the reason."""
        self.reason = self.reason or reason
        self.detail = self.detail or detail
        if self.killed_at is None:
            self.killed_at = time.monotonic()
            try:
                self.leash.sendall(b"k")
            except OSError:
                self.buried = True

    # the streams

    def _offer_stdin(self) -> None:
        if self.unsent:
            self.selector.register(self.stdin, selectors.EVENT_WRITE, self._write)
        else:
            self._close_stdin()

    def _write(self) -> None:
        try:
            self.unsent = self.unsent[os.write(self.stdin, self.unsent[:_READ]) :]
        except BlockingIOError:
            return
        except OSError:
            self.unsent = memoryview(b"")
        if not self.unsent:
            self.selector.unregister(self.stdin)
            self._close_stdin()

    def _close_stdin(self) -> None:
        # The number stays ours (the caller closes it): only the writing end behind it goes.
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        os.dup2(null, self.stdin, inheritable=False)
        os.close(null)

    def _reader(self, place: int) -> Any:
        return lambda: self._read(place)

    def _read(self, place: int) -> bool:
        """Takes what is there, up to the limit; True when there may be more."""
        try:
            chunk = os.read(self.streams[place], _READ)
        except BlockingIOError:
            return False
        if not chunk:
            self._silence(place)
            return False
        purse = 1 if place == 2 else 0
        kept = chunk[: self.room[purse]]
        self.room[purse] -= len(kept)
        if kept:
            self.taken[place].extend(kept)
            if self.on_output and place < 2:
                self.on_output(_NAMES[place], kept)
        if len(kept) < len(chunk):
            self._stop("output_limit", "descriptor 3" if purse else "")
            return False
        return True

    def _silence(self, place: int) -> None:
        if self.selector.get_map().get(self.streams[place]):
            self.selector.unregister(self.streams[place])

    def _drain(self) -> None:
        """Everyone is dead: what they wrote lies in the pipes, and nobody can add to it."""
        for place in range(len(self.streams)):
            while self._read(place):
                pass

    # the clock and the limits

    def _patience(self) -> float:
        moments = [*self.next.values(), self._last_moment]
        if self.kill_at is not None:
            moments.append(self.kill_at)
        if self.killed_at is not None:
            moments = [self.next["tick"]]
        return max(0.0, min(moments) - time.monotonic())

    @property
    def _last_moment(self) -> float:
        return self.began + self.job.limits.timeout_s + _KEEPERS_S

    def _look_around(self, now: float, tick: Tick | None) -> None:
        if now >= self.next["tick"]:
            self.next["tick"] = now + _TICK_S
            self._ask(tick, now)
        if self.killed_at is not None:
            if now > self.killed_at + _BURIAL_S:
                self.buried, self.detail = True, "a process of the run could not be ended"
            return
        if now >= self._last_moment:
            self._stop("timed_out")
        elif self.kill_at is not None and now >= self.kill_at:
            self._stop("cancelled")
        elif now >= min(self.next["memory"], self.next["disk"]):
            self._watch(now)

    def _ask(self, tick: Tick | None, now: float) -> None:
        wish = tick() if tick else None
        if wish == "lease_lost":
            self._stop("lease_lost")
        elif wish == "cancelled" and self.kill_at is None and self.killed_at is None:
            self.reason = self.reason or "cancelled"
            self.kill_at = now + self.grace_s
            if not (self.first and watchdog.ask_to_end(self.first)):
                self._stop("cancelled")  # nothing of the script's is there to tidy up

    @property
    def first(self) -> int | None:
        return self.said.get("child-pid")

    def _watch(self, now: float) -> None:
        self.next["memory"] = now + _MEMORY_S
        if self.group and self.group.out_of_memory():
            self._stop("memory_limit")
        if self.first is None:
            self.next["disk"] = max(self.next["disk"], self.next["memory"])
            return
        if now >= self.next["disk"]:
            self._watch_slowly(now, self.first)
        elif not self.grouped:
            self._weigh(self.first, 0)

    def _weigh(self, first: int, unmapped: int) -> None:
        cap, pids = self.job.limits.memory_mb << 20, watchdog.members(first)
        total = watchdog.resident_bytes(pids, cap) + unmapped
        if total > cap and unmapped:
            total -= min(unmapped, watchdog.shared_bytes(pids))
        if total > cap:
            self._stop("memory_limit")

    def _watch_slowly(self, now: float, first: int) -> None:
        size, entries = self.job.limits.disk_mb << 20, self.job.limits.files
        device = os.stat(self.job.job_dir).st_dev
        unlinked = watchdog.Unlinked.held_by(watchdog.members(first), device)
        found = watchdog.folder_usage(
            self.job.job_dir, entries=entries + self.given.entries, size=size + self.given.size
        )
        passing = watchdog.tmpfs_usage(first)
        if found.size - self.given.size + unlinked.disk + passing.size > size:
            self._stop("disk_limit", "bytes")
        elif max(found.entries - self.given.entries, passing.entries) > entries:
            self._stop("disk_limit", "files")
        elif self._keeps_sending(unlinked):
            self._stop("disk_limit" if self.grouped else "memory_limit", "descriptors that nobody receives")
        elif unlinked.hidden & self.hidden:
            self._stop("memory_limit", "a process hides what it holds")
        elif not self.grouped:
            self._weigh(first, unlinked.memory)
        self.hidden = unlinked.hidden
        cost = time.monotonic() - now
        self.next["disk"] = now + min(_SLOWEST_S, max(2 * _MEMORY_S, 10 * cost))

    def _keeps_sending(self, found: watchdog.Unlinked) -> bool:
        """What such a descriptor holds nobody can weigh; a program that works receives it at once."""
        self.sending = self.sending + 1 if found.on_their_way else 0
        return self.sending >= _WAY_LOOKS

    def _note_memory(self) -> None:
        if self.group and self.reason in (None, "memory_limit") and self.group.out_of_memory():
            self.reason = "memory_limit"


def _pairs(line: bytes) -> dict[str, Any]:
    text = line.decode(errors="replace").strip().rstrip(",")
    if not text.startswith("{"):
        text = "{" + text
    if not text.endswith("}"):
        text += "}"
    try:
        said = json.loads(text)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
