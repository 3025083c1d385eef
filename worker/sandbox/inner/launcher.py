"""The launcher: a small process per worker that forks an init process for every run.

worker ── control socket ──► launcher ── fork ──► init process ── fork ──► bwrap, or another tier

Forking the launcher takes a tenth of the time of starting an interpreter. The init process keeps the worker's
user, even root: it stages private folders, and only its child switches to the run's user. The init process
adopts every orphan of the run and reports "ended" when no process is left. If the worker dies, the run socket
closes and the init process kills the run.
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

from . import gate, kernel, landlock, nsrun, scratch

_MAX_ORDER_BYTES = 1 << 26
_PENDING_SIGNALS = 1024  # pending signals; the kernel counts them per user, over all processes
_CLEANUP_S = 30
_NICENESS = 10  # so that the portal, the database and the worker get the processor first
_GUARD_S = 20.0


def main(control: int) -> None:
    """Forks an init process per order until ``control`` closes, then waits up to 30 seconds for them all."""
    kernel.rename_command_line("skillquay-launcher")
    kernel.adopt_orphans()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.SIG_IGN)
    control_socket = socket.socket(fileno=control)
    os.umask(0o022)
    while True:
        message, descriptors = _receive(control_socket)
        if not message:
            return _wait_for_init_processes()
        if os.fork() == 0:
            control_socket.close()
            _run_init(descriptors, locked=message == b"l")
        for descriptor in descriptors:
            os.close(descriptor)


def _wait_for_init_processes() -> None:
    """Waits up to 30 seconds until all init processes have cleaned up, because they die with this process."""
    signal.alarm(_CLEANUP_S)
    try:
        os.waitpid(-1, 0)  # returns when the last child is gone, because SIGCHLD is ignored
    except ChildProcessError:
        return


def _receive(control_socket: socket.socket) -> tuple[bytes, list[int]]:
    received = array.array("i")
    message, ancillary, _flags, _address = control_socket.recvmsg(
        1, socket.CMSG_SPACE(16 * received.itemsize)
    )
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            received.frombytes(content[: len(content) - len(content) % received.itemsize])
    for descriptor in received:
        os.set_inheritable(descriptor, False)
    return message, list(received)


def _run_init(descriptors: list[int], *, locked: bool) -> None:
    """Runs the init process of one run, from its order to its last process; never returns.

    The lock on the run's user id, if any, stays open, so that it is released when this process ends.
    """
    order_fd, run_fd, *streams = descriptors
    if locked:
        del streams[0]
    run_socket = socket.socket(fileno=run_fd)
    try:
        for usual in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(usual, signal.SIG_DFL)
        kernel.die_with(os.getppid())
        kernel.adopt_orphans()
        with open(order_fd, "rb") as file:
            order = json.loads(file.read(_MAX_ORDER_BYTES))
        _run_order(order, run_socket, streams)
    except BaseException as error:
        _send(run_socket, failed=str(error) or type(error).__name__)
        _reap_all()
    finally:
        os._exit(0)


def _run_order(order: dict[str, Any], run_socket: socket.socket, streams: list[int]) -> None:
    if order["scratch"]:
        joined = [streams.pop() for _namespace in range(order["scratch"]["joined"])][::-1]
        scratch.enter(order["scratch"], order["uid"], run_socket, joined)
        kernel.die_with(os.getppid())  # set again, because a change of namespaces may have reset it
    if order["staging"]:
        _stage(order["staging_folder"], order["staging"])
        for name, path, hidden in order["in_place"]:
            _show_in_place(f"{order['staging_folder']}/{name}", path, hidden)
    status_in, status_out = (_above(end) for end in os.pipe())
    init_pid = os.getpid()
    child = os.fork()
    if child == 0:
        run_socket.close()
        os.close(status_in)
        _start_tier(order, init_pid, streams, status_out)
    os.close(status_out)
    for stream in streams:
        os.close(stream)
    if _watch(child, run_socket, status_in, deadline=order["deadline"], guarded=order["tier"] == "landlock"):
        # CPU time of all processes of the run, because this process reaps all of them.
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_ms = round((used.ru_utime + used.ru_stime) * 1000)
        peak = used.ru_maxrss << 10  # of the largest process
        _send(run_socket, cpu_ms=cpu_ms, peak_memory=peak, finished_at=time.monotonic(), ended=True)
    else:
        _remove_cgroups(order["cgroup"])


def _stage(folder: str, binds: list[list[str]]) -> None:
    """Bind-mounts host paths that are closed to the run's user into ``folder``, in a new mount namespace."""
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
    """Mounts a staged interpreter at its host path, where it looks for files; a tmpfs hides ``hidden``."""
    kernel.mount("tmpfs", hidden, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=0755,size=64k")
    os.makedirs(path)
    kernel.mount(staged, path, flags=kernel.MS_BIND | kernel.MS_REC)


def _start_tier(order: dict[str, Any], init_pid: int, streams: list[int], status: int) -> None:
    """Joins the cgroup, switches to the run's user, places the streams and starts the tier; never returns."""
    try:
        for file in order["cgroup"]:
            with open(file, "w") as group:
                group.write("0")
        _pin(order["processors"])
        _lower_priority()
        for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(ignored_by_python, signal.SIG_DFL)
        _switch_user(order["uid"])
        kernel.set_dumpable(True)
        kernel.die_with(init_pid)
        proxy_fd = _above(streams.pop()) if order["proxied"] else None
        _place(streams)
        if order["tier"] == "bwrap":
            _bwrap(order, status, proxy_fd)
        elif order["tier"] == "nsrun":
            nsrun.enter(order["nsrun"], status, proxy_fd)
        elif order["tier"] == "landlock":
            landlock.enter(order["landlock"], status, proxy_fd)
        else:
            _run_unsafe(order["unsafe"], status)
    except BaseException as error:
        os.write(status, json.dumps({"failed": str(error) or type(error).__name__}).encode() + b"\n")
    finally:
        os._exit(1)


def _pin(processors: int) -> None:
    """Pins this process to that many of the worker's processors, chosen by pid; 0 means no pinning."""
    allowed = sorted(os.sched_getaffinity(0))
    if 0 < processors < len(allowed):
        os.sched_setaffinity(0, [allowed[(os.getpid() + n) % len(allowed)] for n in range(processors)])


def _lower_priority() -> None:
    """Lowers the run's CPU priority and makes it the first process to be killed when memory runs out."""
    os.nice(_NICENESS)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")
    nsrun.set_limits({"real_time": 0, "priority": 0, "waiting_signals": _PENDING_SIGNALS})


def _switch_user(uid: int | None) -> None:
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)


def _place(streams: list[int]) -> None:
    """Makes the streams descriptors 0, 1, 2 and so on, which the script inherits."""
    for number, stream in enumerate([_above(stream) for stream in streams]):
        os.dup2(stream, number, inheritable=True)


def _above(descriptor: int) -> int:
    """Moves a descriptor above the numbers that the script uses; returns its new number, at least 10."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return moved


def _bwrap(order: dict[str, Any], status: int, proxy_fd: int | None) -> None:
    plan = order["bwrap"]
    if proxy_fd is not None:
        os.dup2(proxy_fd, gate.PROXY_FD, inheritable=True)
    options: list[str] = []
    for option in plan["options"]:
        if isinstance(option, dict):
            options.append(str(_memory_file(option["bytes"].encode("latin-1"))))
        else:
            options.append(option)
    os.set_inheritable(status, True)
    options += ["--json-status-fd", str(status)]
    argv = [plan["program"], "--args", str(_memory_file(_pack_options(options))), "--", *plan["argv"]]
    os.execve(plan["program"], argv, {})


def _pack_options(options: list[str]) -> bytes:
    """Packs the options for bubblewrap. Raises ValueError for a zero byte, which could add another option."""
    if any("\0" in option for option in options):
        raise ValueError("a zero byte in an argument or a variable")
    return b"".join(os.fsencode(option) + b"\0" for option in options)


def _memory_file(content: bytes) -> int:
    """An inheritable descriptor that reads ``content``: a memory file, because a pipe may be too small."""
    descriptor = os.memfd_create("q", 0)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _run_unsafe(plan: dict[str, Any], status: int) -> None:
    """Runs the script in tier ``unsafe``, with resource limits but without isolation; never returns."""
    inner = os.fork()
    if inner:
        # As in the other tiers, the first process is not the script itself.
        _write_line(status, {"child-pid": os.getpid()})
        nsrun.report_exit(status, os.waitpid(inner, 0)[1])
        os._exit(0)
    os.setsid()
    kernel.die_with(os.getppid())
    nsrun.set_limits(plan["limits"])
    os.chdir(plan["cwd"])
    nsrun.become(plan)


def _watch(child: int, run_socket: socket.socket, status: int, *, deadline: float, guarded: bool) -> bool:
    """Forwards the tier's status until the run ends; returns when all processes are dead.

    Kills the run at the worker's request, when the worker dies, and at ``deadline`` (monotonic clock), even
    if the worker is blocked. Returns False if the worker is gone and can't clean up.
    """
    handle = os.pidfd_open(child)
    poll = select.poll()
    for descriptor in (run_socket.fileno(), status, handle):
        poll.register(descriptor, select.POLLIN)
    ended, present = False, True
    while not ended:
        found = poll.poll(max(0.0, deadline - time.monotonic()) * 1000)
        if not found:
            ended = True
            _send(run_socket, timed_out=True)
        for descriptor, _event in found:
            if descriptor == status:
                text = os.read(status, 4096)
                _forward(run_socket, text) if text else poll.unregister(status)
            else:
                ended = True
                present = present and (descriptor == handle or _kill_requested(run_socket))
    if guarded:
        _stop_guard(handle)
    else:
        _kill_all(child)
    _reap_all()
    os.set_blocking(status, False)
    while text := _read_rest(status):
        _forward(run_socket, text)
    return present


def _kill_all(child: int) -> None:
    """Kills the run's processes in other pid namespaces, because waiting for a namespace to end takes longer.

    Processes in our own pid namespace, and those that can't be inspected, die with their parent.
    """
    ours = _pid_namespace(os.getpid())
    for pid in reversed(_descendants(child)):
        inside = _pid_namespace(pid)
        if inside not in (None, ours):
            _kill(pid, inside)


def _kill(pid: int, inside: str | None) -> None:
    """Kills a process if its pid namespace is still ``inside``; otherwise its id has been reused."""
    with contextlib.suppress(OSError):
        handle = os.pidfd_open(pid)
        try:
            if _pid_namespace(pid) == inside:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)


def _descendants(top: int) -> list[int]:
    found, todo = [], _children(top)
    while todo:
        found.append(todo.pop())
        todo += _children(found[-1])
    return found


def _pid_namespace(pid: int) -> str | None:
    """The process's pid namespace; None if the process is gone or can't be inspected."""
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return None


def _stop_guard(handle: int) -> None:
    """Makes the guard process end the run and waits up to 20 s, because a killed guard could not end it."""
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, signal.SIGTERM)
    select.select([handle], [], [], _GUARD_S)


def _kill_requested(run_socket: socket.socket) -> bool:
    """Whether the worker asked to kill the run; False if the worker's end of the socket is closed."""
    try:
        return bool(run_socket.recv(1))
    except OSError:
        return False


def _remove_cgroups(groups: list[str]) -> None:
    """Removes the cgroups of a run without a worker; retries for a second while the kernel uses them."""
    for file in groups:
        for _attempt in range(100):
            try:
                os.rmdir(os.path.dirname(file))
                break
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(0.01)


def _read_rest(status: int) -> bytes:
    try:
        return os.read(status, 4096)
    except BlockingIOError:
        return b""


def _reap_all() -> None:
    """Kills and reaps children until there are none, including adopted orphans of the run."""
    while True:
        for child in _children(os.getpid()):
            os.kill(child, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _children(pid: int) -> list[int]:
    """Child processes of a single-threaded process; none if it is gone."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        return []


def _forward(run_socket: socket.socket, text: bytes) -> None:
    try:
        run_socket.sendall(text)
    except OSError:
        return


def _write_line(descriptor: int, value: dict[str, Any]) -> None:
    os.write(descriptor, json.dumps(value).encode() + b"\n")


def _send(run_socket: socket.socket, **message: Any) -> None:
    _forward(run_socket, json.dumps(message).encode() + b"\n")
