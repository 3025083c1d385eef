"""Tier C's way out: sockets that are none, answered by the worker, and no other address for anybody."""

from __future__ import annotations

import os

import pytest

from tests.worker.sandbox.conftest import usable
from worker.sandbox.limits import seccomp
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import HttpReply, Job
from worker.sandbox.site_settings import SandboxSettings
from worker.sandbox.tiers.available import run

pytestmark = [pytest.mark.attack, pytest.mark.row("C6"), pytest.mark.matrix("tier", at_most=1)]

GET = "import urllib.request as r\nprint(r.urlopen('http://127.0.0.1:3128/page').read().decode())"
NODE = "import('node:http').then(h => h.get('http://127.0.0.1:3128/page', a => a.pipe(process.stdout)))"
DENO = "console.log(await (await fetch('http://127.0.0.1:3128/page')).text())"
ELSEWHERE = """
import socket
s = socket.create_connection(('{host}', {port}), timeout=5)
s.sendall(b'GET /elsewhere HTTP/1.1\\r\\n\\r\\n')
print(s.recv(100).decode())
"""
NOT_GIVEN = """
import socket
for family, kind in ((2, 2), (2, 3), (10, 1), (1, 1), (16, 3), (40, 1), (2, 1 | 0x100)):
    try:
        socket.socket(family, kind)
        print('open', family, kind)
    except OSError:
        pass
print('tried')
"""
MANY = """
import socket
held = []
try:
    while len(held) < 200:
        held.append(socket.socket())
except OSError as error:
    print(error.errno, len(held) < 20)
"""
INTERRUPTED = """
import os, signal, socket, time
for number in range(60):
    if not (child := os.fork()):
        while True:
            try:
                socket.socket().close()
            except OSError:
                pass
    time.sleep(0.0005 * (number % 5))
    os.kill(child, signal.SIGKILL)
    os.wait()
"""
LONG = """
import socket
s = socket.socket()
s.connect(('127.0.0.1', 3128))
try:
    s.sendall(b'GET /' + b'x' * 100_000)
except OSError:
    pass
print(s.recv(100).decode())
"""
HOLDER = """
import os, signal, socket, struct
s = socket.socket()
pid = struct.unpack('3i', s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
try:
    handle = struct.unpack('i', s.getsockopt(socket.SOL_SOCKET, 77, 4))[0]  # SO_PEERPIDFD
except OSError:
    handle = -1
for way in (lambda: os.kill(pid, 0), lambda: signal.pidfd_send_signal(handle, 0)):
    try:
        way()
        print('felt')
    except OSError:
        pass
known = (s.fileno(), handle)
print('tried', [n for n in range(3, 256) if os.path.exists(f'/proc/self/fd/{n}') and n not in known])
"""
HANDED_BACK = """
import os, socket
for number in range(40):
    s = socket.socket()
    try:
        for _ in range(8):
            socket.send_fds(s, [b'x' * 60_000], [os.memfd_create('x') for _ in range(5)])
    except OSError:
        pass
    s.close()
print('sent')
"""


@pytest.fixture
def paths():
    """The paths that the command requested."""
    return []


@pytest.fixture
def go(package, job_dir, paths):
    """``go(argv…)``: runs a command in tier C; ``paths`` are those of its HTTP requests."""
    usable("landlock")

    def answer(path):
        paths.append(path)
        return HttpReply(200, iter([f"answered {path}".encode()]))

    def go(*argv, limits=None):
        limits = limits or Limits(timeout_s=20)
        job = Job(argv, package, job_dir, network=(), http_handler=answer, limits=limits)
        return run(job, tier="landlock", site=SandboxSettings(minimum="landlock"))

    return go


@pytest.mark.parametrize(
    "argv",
    [
        ("python", "-c", GET),
        ("node", "-e", NODE),
        ("deno", "eval", DENO),
        ("curl", "-sS", "--noproxy", "*", "http://127.0.0.1:3128/page"),
    ],
    ids=["python", "node", "deno", "curl"],
)
def test_the_worker_answers_whoever_asks_by_a_socket(go, argv):
    ended = go(*argv)
    assert b"answered /page" in ended.stdout, ended.stderr
    assert ended.enforcement["network"] == "proxy"


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 22), ("169.254.169.254", 80), ("10.0.0.1", 5432)])
def test_every_other_address_is_the_workers_too(go, paths, host, port):
    ended = go("python", "-c", ELSEWHERE.format(host=host, port=port))
    assert b"200 OK" in ended.stdout, ended.stderr
    assert paths == ["/elsewhere"]


def test_no_other_kind_of_socket_is_given(go):
    assert go("python", "-c", NOT_GIVEN).stdout == b"open 2 257\ntried\n"


def test_who_takes_too_many_gets_no_more(go):
    ended = go("python", "-c", MANY, limits=Limits(timeout_s=20, connections=8))
    assert ended.stdout == b"24 True\n", ended.stderr


def test_who_is_killed_as_it_asks_leaves_the_others_their_answers(go):
    ended = go("python", "-c", INTERRUPTED + GET)
    assert b"answered /page" in ended.stdout, (ended.ending, ended.stderr)


def test_a_head_without_end_is_refused_and_nothing_breaks(go, caplog):
    assert b"431" in go("python", "-c", LONG).stdout
    assert caplog.text == ""


def test_whoever_holds_the_other_end_feels_no_signal_and_no_descriptor_is_left(go):
    ended = go("python", "-c", HOLDER)
    assert ended.stdout == b"tried []\n", (ended.stdout, ended.stderr)


def test_descriptors_that_are_handed_back_stay_with_nobody(go):
    before = len(os.listdir("/proc/self/fd"))
    ended = go("python", "-c", HANDED_BACK, limits=Limits(timeout_s=20, descriptors=512))
    assert ended.stdout == b"sent\n", ended.stderr
    assert len(os.listdir("/proc/self/fd")) <= before


def test_a_run_that_nobody_answers_has_no_socket_at_all(package, job_dir):
    usable("landlock")
    job = Job(("python", "-c", "import socket; socket.socket()"), package, job_dir)
    ended = run(job, tier="landlock", site=SandboxSettings(minimum="landlock"))
    assert b"Operation not permitted" in ended.stderr


@pytest.mark.parametrize("machine", sorted(seccomp.NUMBERS))
def test_both_architectures_have_a_program_that_asks(machine):
    plain = seccomp.program(machine, namespaced=False)
    notifying = seccomp.program(machine, namespaced=False, notify=True)
    assert len(notifying) > len(plain)
    assert len(notifying) % 8 == 0
