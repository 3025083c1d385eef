"""The filter, evaluated as the kernel does, for both architectures wherever the tests run."""

from __future__ import annotations

import errno
import struct

import pytest

from worker.sandbox.limits import seccomp

pytestmark = [pytest.mark.row("C6"), pytest.mark.matrix("tier", at_most=1)]

ALLOW, KILL = 0x7FFF_0000, 0x8000_0000
EPERM, ENOSYS = 0x0005_0000 | errno.EPERM, 0x0005_0000 | errno.ENOSYS
NO_PROTOCOL, NO_MEMORY = (0x0005_0000 | number for number in (errno.EPROTONOSUPPORT, errno.ENOMEM))
GETPID = {"x86_64": 39, "aarch64": 172}


@pytest.fixture(params=["x86_64", "aarch64"])
def machine(request):
    return request.param


@pytest.fixture
def answer(machine):
    def answer(name, *arguments, audit=None, number=None):
        number = seccomp.NUMBERS[machine].get(name) if number is None else number
        values = (*arguments, *[0] * 6)[:6]
        packet = struct.pack("=IIQ6Q", number, audit or seccomp.AUDIT[machine], 0, *values)
        return evaluate(seccomp.program(machine), packet)

    return answer


def evaluate(program, packet):
    """A classic BPF machine of the six instructions that the filter uses."""
    ops = list(struct.iter_unpack("=HBBI", program))
    place, accumulator = 0, 0
    while True:
        code, then, otherwise, value = ops[place]
        place += 1
        if code == 0x06:
            return value
        if code == 0x20:
            (accumulator,) = struct.unpack_from("=I", packet, value)
            continue
        if code == 0x54:
            accumulator &= value
            continue
        holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[
            code
        ]
        place += then if holds else otherwise


@pytest.fixture
def shared(machine):
    """The answer of the filter for runs that share their namespaces with others (tier C)."""

    def shared(number, *arguments):
        values = (*arguments, *[0] * 6)[:6]
        packet = struct.pack("=IIQ6Q", number, seccomp.AUDIT[machine], 0, *values)
        return evaluate(seccomp.program(machine, namespaced=False), packet)

    return shared


def test_runs_that_share_namespaces_reach_no_socket_queue_or_watch(shared, machine):
    assert all(
        shared(number, 1, 1) == EPERM for number in seccomp.DENIED_WITHOUT_NAMESPACES[machine].values()
    )
    assert shared(seccomp.NUMBERS[machine]["socketpair"], 1) == ALLOW
    assert shared(seccomp.NUMBERS[machine]["socketpair"], 2) == EPERM
    assert shared(GETPID[machine]) == ALLOW


def test_changing_modes_and_times_is_pretended_there(shared, machine):
    assert {shared(number) for number in seccomp.IGNORED[machine].values()} == {0x0005_0000}


def test_they_set_limits_and_priorities_of_themselves_alone(shared, machine):
    for name, number in seccomp.SELF_ONLY[machine].items():
        which = 1 if name == "ioprio_set" else 0
        paired = name in ("setpriority", "ioprio_set")
        assert shared(number, which, 0) == ALLOW
        assert shared(number, which, 77) == (EPERM if paired else ALLOW)
        assert shared(number, 77, 0) == EPERM


def test_ordinary_calls_pass(answer, machine):
    assert answer("getpid", number=GETPID[machine]) == ALLOW
    assert all(answer("getpid", number=number) == ALLOW for number in (1, 63, 437, 434, 449, 462))


def test_every_call_of_the_list_is_denied(answer, machine):
    for name in set(seccomp.NUMBERS[machine]) - set(seccomp.FILTERED_BY_ARGUMENT):
        assert answer(name) == EPERM, name


def test_buffers_of_sockets_stay_as_they_are_and_no_error_says_so(answer):
    assert [answer("setsockopt", 3, 1, option) for option in (7, 8)] == [0x0005_0000] * 2
    assert [answer("setsockopt", 3, level, option) for level, option in ((1, 2), (6, 7), (41, 8))] == [
        ALLOW
    ] * 3


def test_no_process_closes_itself_to_its_own_user(answer):
    assert answer("prctl", 4) == EPERM


def test_no_process_keeps_others_off_its_cores_or_a_key_in_a_file_system(answer):
    assert answer("prctl", 62) == EPERM
    assert [answer("ioctl", 3, request) for request in (0xC050_6617, 0x800C_6613)] == [EPERM] * 2


def test_what_else_a_process_says_of_itself_is_heard(answer):
    assert [answer("prctl", option) for option in (1, 15, 22, 38)] == [ALLOW] * 4


def test_clone_is_allowed_without_namespaces_and_clone3_does_not_exist(answer):
    assert answer("clone", 0x003D_0F00) == ALLOW
    for flag in (0x20000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000):
        assert answer("clone", flag | 17) == EPERM
    assert answer("clone3") == ENOSYS


def test_only_three_families_of_sockets_are_made(answer):
    assert [family for family in range(64) if answer("socket", family, 1) == ALLOW] == [1, 2, 10]
    assert answer("socketpair", 1) == ALLOW
    assert answer("socketpair", 30) == EPERM


@pytest.mark.parametrize("family", [2, 10])
def test_sockets_of_the_network_speak_tcp_and_udp_alone(answer, family):
    closed_on_exec = 0x8_0000
    for kind, protocol in ((1, 0), (1, 6), (2, 0), (2, 17), (1 | closed_on_exec, 0)):
        assert answer("socket", family, kind, protocol) == ALLOW
    for kind, protocol in ((1, 132), (5, 0), (6, 0), (1, 262), (2, 1), (3, 1), (2 | closed_on_exec, 136)):
        assert answer("socket", family, kind, protocol) == NO_PROTOCOL
    assert answer("socket", 1, 5, 0) == ALLOW


def test_nothing_is_laid_over_tcp_in_the_kernel(answer):
    assert answer("setsockopt", 3, 6, 31) == 0x0005_0000 | errno.ENOENT
    assert answer("setsockopt", 3, 6, 1) == ALLOW


def test_no_file_is_leased_or_watched_and_no_pipe_made_larger(answer):
    assert [answer("fcntl", 3, command) for command in (1024, 1026, 1031)] == [EPERM] * 3
    assert [answer("fcntl", 3, command) for command in (0, 1, 2, 3, 4, 6, 1030, 1032)] == [ALLOW] * 8


def test_pages_that_the_host_has_put_aside_are_not_given(answer):
    anonymous, huge = 0x22, 0x4_0000
    assert answer("mmap", 0, 1 << 21, 3, anonymous) == ALLOW
    assert answer("mmap", 0, 1 << 21, 3, anonymous | huge) == NO_MEMORY
    assert [answer("memfd_create", 0, flags) for flags in (0, 1, 2, 4)] == [ALLOW] * 3 + [NO_MEMORY]


def test_what_is_newer_than_the_tables_does_not_exist(answer):
    newest = max(seccomp.NUMBERS["x86_64"].values())
    assert answer("", number=newest) == EPERM
    assert {answer("", number=number) for number in (newest + 1, 500, 1023)} == {ENOSYS}


def test_a_run_builds_no_walls_of_landlock_that_nobody_weighs(answer):
    assert {answer("", number=number) for number in (444, 445, 446)} == {ENOSYS}


def test_the_terminal_cannot_be_typed_into_whatever_the_high_half_says(answer):
    assert answer("ioctl", 0, 0x5401) == ALLOW
    for request in (0x5412, 0x541C, 0x5412 | 1 << 32):
        assert answer("ioctl", 0, request) == EPERM


def test_only_harmless_personalities_are_taken(answer):
    assert answer("personality", 0xFFFF_FFFF) == ALLOW
    assert answer("personality", 0x0040_0000) == EPERM


def test_a_foreign_architecture_is_killed(answer):
    assert answer("getpid", number=20, audit=0x4000_0003) == KILL


def test_x32_is_killed():
    packet = struct.pack("=IIQ6Q", 0x4000_0000 + 39, seccomp.AUDIT["x86_64"], 0, *[0] * 6)
    assert evaluate(seccomp.program("x86_64"), packet) == KILL


def test_an_architecture_without_a_table_is_refused():
    with pytest.raises(ValueError, match="riscv64"):
        seccomp.program("riscv64")
