"""The launcher: one small process beside each worker, which forks a keeper for every run.

worker ── control socket ──► launcher ── fork ──► keeper ── fork ──► bwrap, or the parts of tier B

Forking this process costs a tenth of starting an interpreter. A keeper is root where the worker is: it stages
what lies under private folders, drops to the run's own uid only in its child, adopts every orphan of the run
and says "ended" when none is left. A lost worker closes its sockets, and the keeper kills the run.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import json
import os
import resource
import select
import signal
import socket
import time
from typing import Any

from . import gate, kernel, landlock, nsrun

_LIMIT = 1 << 26
_SIGNALS = 1024  # that may wait at one time: of one count for all of a user's processes
_TIDYING_S = 30
_WARDEN_S = 20.0


def main(control: int) -> None:
    """Serves until the worker's end of ``control`` closes."""
    kernel.rename_command_line("skillquay-launcher")
    kernel.adopt_orphans()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.SIG_IGN)
    door = socket.socket(fileno=control)
    os.umask(0o022)
    while True:
        message, descriptors = _receive(door)
        if not message:
            return _outlast_keepers()
        if os.fork() == 0:
            door.close()
            _keep(descriptors, locked=message == b"l")
        for descriptor in descriptors:
            os.close(descriptor)


def _outlast_keepers() -> None:
    """Keepers die with this process, and those of a lost worker have still to tidy up."""
    signal.alarm(_TIDYING_S)
    try:
        os.waitpid(-1, 0)  # returns when the last one is gone, since SIGCHLD is ignored
    except ChildProcessError:
        return


def _receive(door: socket.socket) -> tuple[bytes, list[int]]:
    received = array.array("i")
    message, ancillary, _flags, _address = door.recvmsg(1, socket.CMSG_SPACE(16 * received.itemsize))
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            received.frombytes(content[: len(content) - len(content) % received.itemsize])
    for descriptor in received:
        os.set_inheritable(descriptor, False)
    return message, list(received)


def _keep(descriptors: list[int], *, locked: bool) -> None:
    """One run, from its order to the last of its processes; never returns.

    The lock on the run's user id, where there is one, is only held: it opens when this process ends.
    """
    order_fd, leash_fd, *streams = descriptors
    if locked:
        del streams[0]
    leash = socket.socket(fileno=leash_fd)
    try:
        for usual in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(usual, signal.SIG_DFL)
        kernel.die_with(os.getppid())
        kernel.adopt_orphans()
        with open(order_fd, "rb") as file:
            order = json.loads(file.read(_LIMIT))
        _keep_order(order, leash, streams)
    except BaseException as error:
        _say(leash, failed=str(error) or type(error).__name__)
        _bury()
    finally:
        os._exit(0)


def _keep_order(order: dict[str, Any], leash: socket.socket, streams: list[int]) -> None:
    if order["staging"]:
        _stage(order["staging_folder"], order["staging"])
        for name, path, hidden in order["in_place"]:
            _show_in_place(f"{order['staging_folder']}/{name}", path, hidden)
    status_in, status_out = (_above(end) for end in os.pipe())
    keeper = os.getpid()
    child = os.fork()
    if child == 0:
        leash.close()
        os.close(status_in)
        _start(order, keeper, streams, status_out)
    os.close(status_out)
    for stream in streams:
        os.close(stream)
    if _watch(child, leash, status_in, ends=order["ends"], warden=order["tier"] == "landlock"):
        used = resource.getrusage(resource.RUSAGE_CHILDREN)  # every process of the run: all are buried
        cpu_ms = round((used.ru_utime + used.ru_stime) * 1000)
        _say(leash, cpu_ms=cpu_ms, gone_at=time.monotonic(), ended=True)
    else:
        _remove(order["cgroup"])


def _stage(folder: str, binds: list[list[str]]) -> None:
    """Binds private folders into an open one, in a mount namespace that ends with this keeper."""
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("tmpfs", folder, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=0755,size=64k")
    for source, name in binds:
        target = f"{folder}/{name}"
        if os.path.isdir(source):
            os.mkdir(target)
        else:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY))
        kernel.mount(source, target, flags=kernel.MS_BIND | kernel.MS_REC)


def _show_in_place(staged: str, path: str, hidden: str) -> None:
    """An interpreter that looks for itself at its own path: seen there, below a folder that was closed."""
    kernel.mount("tmpfs", hidden, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=0755,size=64k")
    os.makedirs(path)
    kernel.mount(staged, path, flags=kernel.MS_BIND | kernel.MS_REC)


def _start(order: dict[str, Any], keeper: int, streams: list[int], status: int) -> None:
    """In the child: joins the cgroup, drops to the run's uid, places the streams, becomes the tier."""
    try:
        for file in order["cgroup"]:
            with open(file, "w") as group:
                group.write("0")
        _pin(order["processors"])
        _come_last()
        for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(ignored_by_python, signal.SIG_DFL)
        _become(order["uid"])
        kernel.set_dumpable(True)
        kernel.die_with(keeper)
        way_out = _above(streams.pop()) if order["gate"] else None
        _place(streams)
        if order["tier"] == "bwrap":
            _bwrap(order, status, way_out)
        elif order["tier"] == "nsrun":
            nsrun.enter(order["nsrun"], status, way_out)
        elif order["tier"] == "landlock":
            landlock.enter(order["landlock"], status, way_out)
        else:
            _bare(order["unsafe"], status)
    except BaseException as error:
        os.write(status, json.dumps({"failed": str(error) or type(error).__name__}).encode() + b"\n")
    finally:
        os._exit(1)


def _pin(processors: int) -> None:
    """To that many of those that the worker may use, from another one on for each run."""
    allowed = sorted(os.sched_getaffinity(0))
    if 0 < processors < len(allowed):
        os.sched_setaffinity(0, [allowed[(os.getpid() + n) % len(allowed)] for n in range(processors)])


def _come_last() -> None:
    """Whatever the worker may: when memory runs out, a run is ended first, and it takes nothing by force."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")
    nsrun.limit({"real_time": 0, "priority": 0, "waiting_signals": _SIGNALS})


def _become(uid: int | None) -> None:
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)


def _place(streams: list[int]) -> None:
    """Streams become 0, 1, 2 and, for a channel, 3."""
    for number, stream in enumerate([_above(stream) for stream in streams]):
        os.dup2(stream, number, inheritable=True)


def _above(descriptor: int) -> int:
    """The same, out of the way of the script's own numbers."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return moved


def _bwrap(order: dict[str, Any], status: int, way_out: int | None) -> None:
    plan = order["bwrap"]
    if way_out is not None:
        os.dup2(way_out, gate.NUMBER, inheritable=True)
    options: list[str] = []
    for option in plan["options"]:
        if isinstance(option, dict):
            options.append(str(_readable(option["bytes"].encode("latin-1"))))
        else:
            options.append(option)
    os.set_inheritable(status, True)
    options += ["--json-status-fd", str(status)]
    argv = [plan["program"], "--args", str(_readable(_packed(options))), "--", *plan["argv"]]
    os.execve(plan["program"], argv, {})


def _packed(options: list[str]) -> bytes:
    """As bubblewrap reads them; with a zero byte one would become several, and a value could name a mount."""
    if any("\0" in option for option in options):
        raise ValueError("a zero byte in an argument or a variable")
    return b"".join(os.fsencode(option) + b"\0" for option in options)


def _readable(content: bytes) -> int:
    """A descriptor from which exactly ``content`` is read; a memory file, since a pipe may be too small."""
    descriptor = os.memfd_create("q", 0)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _bare(plan: dict[str, Any], status: int) -> None:
    """The tier ``unsafe``: no isolation at all, only limits."""
    inner = os.fork()
    if inner:
        _line(status, {"child-pid": os.getpid()})  # as in other tiers, the first is not the script
        nsrun.report(status, os.waitpid(inner, 0)[1])
        os._exit(0)
    os.setsid()
    kernel.die_with(os.getppid())
    nsrun.limit(plan["limits"])
    os.chdir(plan["cwd"])
    nsrun.become(plan)


def _watch(child: int, leash: socket.socket, status: int, *, ends: float, warden: bool) -> bool:
    """Passes on what the tier says, kills on the worker's word or absence, returns when all are dead.

    Also at ``ends``, by the clock that all processes share: the worker may wait for its database just then.
    False where the worker is gone, so that nobody else will tidy up.
    """
    handle = os.pidfd_open(child)
    poll = select.poll()
    for descriptor in (leash.fileno(), status, handle):
        poll.register(descriptor, select.POLLIN)
    ended, present = False, True
    while not ended:
        found = poll.poll(max(0.0, ends - time.monotonic()) * 1000)
        if not found:
            ended = True
            _say(leash, timed_out=True)
        for descriptor, _event in found:
            if descriptor == status:
                text = os.read(status, 4096)
                _forward(leash, text) if text else poll.unregister(status)
            else:
                ended = True
                present = present and (descriptor == handle or _told(leash))
    if warden:
        _dismiss(handle)
    else:
        _strike(child)
    _bury()
    os.set_blocking(status, False)
    while text := _rest(status):
        _forward(leash, text)
    return present


def _strike(child: int) -> None:
    """Kills side by side what can be seen of the run: left to the first one's end, each waits for another.

    What shares our pid namespace, or is closed to us, dies with its parent.
    """
    ours = _space(os.getpid())
    for pid in reversed(_below(child)):
        inside = _space(pid)
        if inside not in (None, ours):
            _kill(pid, inside)


def _kill(pid: int, inside: str | None) -> None:
    """By a handle, and looked at again once that is held: the number may have been given anew."""
    with contextlib.suppress(OSError):
        handle = os.pidfd_open(pid)
        try:
            if _space(pid) == inside:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)


def _below(top: int) -> list[int]:
    found, todo = [], _children(top)
    while todo:
        found.append(todo.pop())
        todo += _children(found[-1])
    return found


def _space(pid: int) -> str | None:
    """The process's pid namespace; None where it is gone or closed to us."""
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return None


def _dismiss(handle: int) -> None:
    """The warden of tier C ends the run as nobody else can; killed, it would leave the run to race."""
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, signal.SIGTERM)
    select.select([handle], [], [], _WARDEN_S)


def _told(leash: socket.socket) -> bool:
    """The worker's word to kill, rather than its end (a reset, where it left something unread)."""
    try:
        return bool(leash.recv(1))
    except OSError:
        return False


def _remove(groups: list[str]) -> None:
    """The cgroups of a run whose worker is lost; the kernel may take a moment to let go."""
    for file in groups:
        for _attempt in range(100):
            try:
                os.rmdir(os.path.dirname(file))
                break
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(0.01)


def _rest(status: int) -> bytes:
    try:
        return os.read(status, 4096)
    except BlockingIOError:
        return b""


def _bury() -> None:
    """Kills and waits for children until there are none: orphans of the run come here to die."""
    while True:
        for child in _children(os.getpid()):
            os.kill(child, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _children(pid: int) -> list[int]:
    """Of a process of one thread; none where it is gone."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        return []


def _forward(leash: socket.socket, text: bytes) -> None:
    try:
        leash.sendall(text)
    except OSError:
        return


def _line(descriptor: int, value: dict[str, Any]) -> None:
    os.write(descriptor, json.dumps(value).encode() + b"\n")


def _say(leash: socket.socket, **message: Any) -> None:
    _forward(leash, json.dumps(message).encode() + b"\n")
