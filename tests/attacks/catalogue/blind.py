"""Attacks that blind the watchdog, or fill what it measures before it looks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from worker.sandbox.doctor.attacks.bombs import ROOMY, SMALL, Bomb, Verdict, ends_by
from worker.sandbox.policy import SandboxResult


def _bounded_disk(result: SandboxResult, job_dir: Path) -> Verdict:
    """The run could keep no more than its limit, or was ended."""
    text = result.stdout.decode(errors="replace").strip()
    within = text == "refused" or (text.isdigit() and int(text) <= 16)
    return (
        within or result.ending == "disk_limit",
        f"{result.ending} {result.exit_code}, held {text or '?'} MB",
    )


def _gets_none(result: SandboxResult, job_dir: Path) -> Verdict:
    """The host's disk could be full before the watchdog looks, so nothing may be reserved."""
    return result.stdout.strip() == b"refused", f"{result.ending} {result.stdout[:40]!r}"


def _finishes(result: SandboxResult, job_dir: Path) -> Verdict:
    done = result.ending == "exited" and result.stdout.strip() == b"done"
    return done, f"{result.ending} {result.exit_code} {result.detail}"


_EXIT_THREAD = "ctypes.CDLL(None).syscall({'x86_64': 60, 'aarch64': 93}[os.uname().machine], 0)"
_KEEP = """
def keep():
    count, held = 0, []
    try:
        for number in range(24):
            held.append(os.open(f"output/{number}", os.O_CREAT | os.O_RDWR))
            os.unlink(f"output/{number}")
            for _ in range(4):
                os.write(held[-1], bytes(1 << 20))
                count += 1
            time.sleep(0.05)
    except OSError:
        pass
    time.sleep(0.5)
    os.write(1, str(count).encode())
    os._exit(0)
"""
_LEADERLESS_DISK = f"""
import ctypes, os, threading, time
{_KEEP}
threading.Thread(target=lambda: (time.sleep(0.2), keep())).start()
{_EXIT_THREAD}
"""
_LEADERLESS_MEMORY = f"""
import ctypes, os, threading, time
def grow():
    time.sleep(0.2)
    held = [bytearray(b"x") * (8 << 20) for _ in range(60)]
    time.sleep(20)
threading.Thread(target=grow).start()
{_EXIT_THREAD}
"""
_OWN_TABLE = f"""
import ctypes, os, threading, time
{_KEEP}
def hold():
    if ctypes.CDLL(None).syscall(436, 200, 201, 2):
        os.write(1, b"refused")
        os._exit(0)
    keep()
threading.Thread(target=hold).start()
time.sleep(20)
"""
_RESERVE = """
import ctypes, os
libc, got = ctypes.CDLL(None), 0
file = os.open("output/reserved", os.O_CREAT | os.O_RDWR)
for flags in (0, 1):
    for size in (1 << 40, 1 << 34, 64 << 20):
        got += libc.fallocate(file, flags, ctypes.c_long(0), ctypes.c_long(size)) == 0
print("refused" if not got else os.fstat(file).st_blocks >> 11)
"""
_NAMES = """
import ctypes, os, socket, time
ctypes.CDLL(None).prctl(15, b"\\xff\\xfe)", 0, 0, 0)
held = []
for name in (b"\\0\\xff\\xfe", os.environb[b"TMPDIR"] + b"/\\xff\\n\\xfe"):
    try:
        held.append(socket.socket(socket.AF_UNIX))
        held[-1].bind(name)
    except PermissionError:
        pass
time.sleep(0.5)
print("done")
"""
BLIND = (
    Bomb("disk held after the first thread has ended", _LEADERLESS_DISK, ROOMY, _bounded_disk),
    Bomb("memory held after the first thread has ended", _LEADERLESS_MEMORY, SMALL, ends_by("memory_limit")),
    Bomb("disk held by a thread with descriptors of its own", _OWN_TABLE, ROOMY, _bounded_disk),
    Bomb("reserve disk that is not written", _RESERVE, replace(ROOMY, timeout_s=5), _gets_none),
    Bomb("choose names that are not text", _NAMES, SMALL, _finishes),
)
