"""Builds the seccomp program of runs: a deny list, usually with EPERM, for this machine's architecture.

An allow list would break users' imports. The deny list was reviewed against Docker's default profile, and
also denies:

- sockets that a network namespace does not confine (vsock)
- memory that the watchdog can't see (System V objects, secret and huge pages, pages shared with pipes)
- machine-wide counters (io_setup) and effects between runs of one package (leases, watches)
- calls with a history of vulnerabilities (io_uring, userfaultfd, the new mount calls)
- protocols that load a kernel module

Calls newer than the tables get ENOSYS.
"""

import errno
import os
import struct
from collections.abc import Mapping, Sequence
from functools import cache

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_AND = 0x54
_ALLOW, _KILL, _ERRNO, _USER_NOTIFY = 0x7FFF_0000, 0x8000_0000, 0x0005_0000, 0x7FC0_0000
_NUMBER, _ARCHITECTURE = 0, 4
# Offsets of the arguments' low halves; both architectures are little-endian.
_ARGUMENT_0, _ARGUMENT_1, _ARGUMENT_2, _ARGUMENT_3 = 16, 24, 32, 40
_NEWEST = 470  # the last reviewed call
_X32 = 0x4000_0000
_NEW_NAMESPACES = 0x7E02_0000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_POLICY, _KEY = (
    0x800C_6613,
    0xC050_6617,
)  # FS_IOC_SET_ENCRYPTION_POLICY, FS_IOC_ADD_ENCRYPTION_KEY: both outlive the run
_FAMILIES = (1, 2, 10)  # UNIX, INET, INET6
_UNIX, _PROCESS = 1, 1
_INET, _STREAM = 2, 1
# Permitted INET sockets: streams and datagrams, only over TCP and UDP.
_KINDS, _PROTOCOLS = (1, 2), (0, 6, 17)
_TCP_LEVEL, _ULP = 6, 31  # protocols on top of TCP: the kernel's TLS
_HUGE_MAP, _HUGE_FILE = 0x4_0000, 4  # MAP_HUGETLB, MFD_HUGETLB: pages that the host has reserved
_CONNECT = {"x86_64": 42, "aarch64": 203}
_SOCKET_LEVEL, _BUFFERS = 1, (7, 8)  # SO_SNDBUF, SO_RCVBUF
# SET_DUMPABLE can hide a process's memory from the watchdog. SCHED_CORE can keep other processes off the
# machine's cores.
_SET_DUMPABLE, _SCHED_CORE = 4, 62
_FUTEX_HASH = 78  # uses kernel memory that is not shown for any process
_THREAD, _FILES = 0x1_0000, 0x400  # CLONE_THREAD, CLONE_FILES
_UNSHARE_FILES = 2  # CLOSE_RANGE_UNSHARE
_DATAGRAM = 2
# XFS's calls to reserve space for a file, with 32 and 64 bits; they evade the limits like fallocate.
_RESERVE = (0x4030_5824, 0x4030_5828, 0x4030_582A, 0x4030_5839)
_PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0xFFFF_FFFF)

AUDIT = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
_COMMON = {  # the same numbers on both architectures
    "pidfd_getfd": 438,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "process_madvise": 440,
    "mount_setattr": 442,
    "memfd_secret": 447,
    "process_mrelease": 448,
    "cachestat": 451,
    "quotactl_fd": 443,
    "set_mempolicy_home_node": 450,
    "statmount": 457,
    "listmount": 458,
    "lsm_set_self_attr": 460,
    "open_tree_attr": 467,
    "listns": 470,
    "close_range": 436,
}


def _table(text: str) -> dict[str, int]:
    pairs = (pair.split() for pair in text.split(", "))
    return {name: int(number) for name, number in pairs}


NUMBERS: Mapping[str, Mapping[str, int]] = {
    "x86_64": _COMMON
    | _table(
        "mount 165, umount2 166, pivot_root 155, chroot 161, unshare 272, setns 308, ptrace 101, "
        "process_vm_readv 310, process_vm_writev 311, kcmp 312, bpf 321, userfaultfd 323, "
        "perf_event_open 298, keyctl 250, add_key 248, request_key 249, init_module 175, "
        "finit_module 313, delete_module 176, kexec_load 246, kexec_file_load 320, create_module 174, "
        "get_kernel_syms 177, query_module 178, open_by_handle_at 304, name_to_handle_at 303, "
        "quotactl 179, swapon 167, swapoff 168, reboot 169, syslog 103, acct 163, settimeofday 164, "
        "clock_settime 227, clock_adjtime 305, adjtimex 159, sethostname 170, setdomainname 171, "
        "move_pages 279, mbind 237, migrate_pages 256, set_mempolicy 238, fanotify_init 300, "
        "vhangup 153, lookup_dcookie 212, nfsservctl 180, iopl 172, ioperm 173, modify_ldt 154, "
        "uselib 134, ustat 136, sysfs 139, _sysctl 156, shmget 29, msgget 68, semget 64, vmsplice 278, "
        "inotify_init 253, inotify_init1 294, clone 56, clone3 435, ioctl 16, socket 41, socketpair 53, "
        "personality 135, io_setup 206, prctl 157, setsockopt 54, fcntl 72, mmap 9, memfd_create 319, "
        "fallocate 285"
    ),
    "aarch64": _COMMON
    | _table(
        "mount 40, umount2 39, pivot_root 41, chroot 51, unshare 97, setns 268, ptrace 117, "
        "process_vm_readv 270, process_vm_writev 271, kcmp 272, bpf 280, userfaultfd 282, "
        "perf_event_open 241, keyctl 219, add_key 217, request_key 218, init_module 105, "
        "finit_module 273, delete_module 106, kexec_load 104, kexec_file_load 294, "
        "open_by_handle_at 265, name_to_handle_at 264, quotactl 60, swapon 224, swapoff 225, "
        "reboot 142, syslog 116, acct 89, settimeofday 170, clock_settime 112, clock_adjtime 266, "
        "adjtimex 171, sethostname 161, setdomainname 162, move_pages 239, mbind 235, "
        "migrate_pages 238, set_mempolicy 237, fanotify_init 262, vhangup 58, lookup_dcookie 18, "
        "nfsservctl 42, shmget 194, msgget 186, semget 190, vmsplice 75, inotify_init1 26, clone 220, "
        "clone3 435, ioctl 29, socket 198, socketpair 199, personality 92, io_setup 0, prctl 167, "
        "setsockopt 208, fcntl 25, mmap 222, memfd_create 279, fallocate 47"
    ),
}
# For tier ``landlock``, which has no namespaces. Landlock lets an owner change modes and times, so these
# calls do nothing and report success; file copies, which use them, still work.
IGNORED: Mapping[str, Mapping[str, int]] = {
    "x86_64": _table(
        "chmod 90, fchmod 91, fchmodat 268, fchmodat2 452, utime 132, utimes 235, futimesat 261, "
        "utimensat 280"
    ),
    "aarch64": _table("fchmod 52, fchmodat 53, fchmodat2 452, utimensat 88"),
}
DENIED_WITHOUT_NAMESPACES: Mapping[str, Mapping[str, int]] = {
    "x86_64": _table(
        "socket 41, chown 92, fchown 93, lchown 94, fchownat 260, setxattr 188, lsetxattr 189, "
        "bind 49, fsetxattr 190, removexattr 197, lremovexattr 198, fremovexattr 199, setxattrat 463, "
        "removexattrat 466, file_setattr 469, "
        "mq_open 240, mq_unlink 241, semop 65, semctl 66, semtimedop 220, "
        "shmat 30, shmctl 31, msgsnd 69, msgrcv 70, msgctl 71"
    ),
    "aarch64": _table(
        "socket 198, bind 200, fchown 55, fchownat 54, setxattr 5, lsetxattr 6, fsetxattr 7, removexattr 14, "
        "lremovexattr 15, fremovexattr 16, setxattrat 463, removexattrat 466, file_setattr 469, "
        "mq_open 180, mq_unlink 181, semctl 191, semtimedop 192, semop 193, shmctl 195, "
        "shmat 196, msgctl 187, msgrcv 188, msgsnd 189"
    ),
}
# Allowed only with process id 0, which means the caller itself.
SELF_ONLY: Mapping[str, Mapping[str, int]] = {
    "x86_64": _table(
        "prlimit64 302, sched_setaffinity 203, sched_setscheduler 144, sched_setparam 142, "
        "sched_setattr 314, setpriority 141, ioprio_set 251"
    ),
    "aarch64": _table(
        "prlimit64 261, sched_setaffinity 122, sched_setscheduler 119, sched_setparam 118, "
        "sched_setattr 274, setpriority 140, ioprio_set 30"
    ),
}
_FCNTL_DENIED = (1024, 1026, 1031)  # F_SETLEASE, F_NOTIFY, F_SETPIPE_SZ: counted per user, over all runs
_FLAGS = (0x4008_6602, 0x401C_5820)  # FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR
_LANDLOCK = (444, 445, 446)  # the rules use kernel memory that no limit counts
FILTERED_BY_ARGUMENT = (
    *("clone", "clone3", "ioctl", "socket", "socketpair", "personality", "prctl", "setsockopt", "fcntl"),
    *("mmap", "memfd_create", "fallocate", "close_range"),
)


def _op(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)


def _answer(number: int) -> bytes:
    return _op(_RETURN, _ERRNO | number)


def _skip_if(values: Sequence[int]) -> bytes:
    """Instructions that skip the instruction after them if the loaded value is one of ``values``."""
    return b"".join(_op(_EQUAL, value, len(values) - place) for place, value in enumerate(values))


def _only_if(values: Sequence[int]) -> bytes:
    """Instructions that skip the instruction after them unless the loaded value is one of ``values``."""
    last = len(values) - 1
    return b"".join(
        _op(_EQUAL, value, last - place, int(place == last)) for place, value in enumerate(values)
    )


def _unless_one_of(call: int, offset: int, values: tuple[int, ...]) -> bytes:
    """Instructions that deny ``call`` with EPERM unless the argument at ``offset`` is one of ``values``.

    Afterwards, the call number is loaded again.
    """
    body = _op(_LOAD, offset) + _skip_if(values) + _answer(errno.EPERM) + _op(_LOAD, _NUMBER)
    return _op(_EQUAL, call, 0, len(body) // 8) + body


def _if_one_of(call: int, offset: int, values: tuple[int, ...], reply: int = errno.EPERM) -> bytes:
    body = _op(_LOAD, offset) + _only_if(values) + _answer(reply) + _op(_LOAD, _NUMBER)
    return _op(_EQUAL, call, 0, len(body) // 8) + body


def _if_any_bit(call: int, offset: int, bits: int, reply: int = errno.EPERM) -> bytes:
    body = _op(_LOAD, offset) + _op(_ANY_BIT, bits, 0, 1) + _answer(reply) + _op(_LOAD, _NUMBER)
    return _op(_EQUAL, call, 0, len(body) // 8) + body


def _own_descriptors(call: int) -> bytes:
    """Instructions that deny threads with their own descriptors, which would force the watchdog to inspect
    each thread.
    """
    return _if_masked(call, _ARGUMENT_0, _THREAD | _FILES, _THREAD)


def _datagram_pairs(call: int) -> bytes:
    """Instructions that deny pairs of datagram sockets, which can send to any host socket by its path."""
    return _if_masked(call, _ARGUMENT_1, 0xF, _DATAGRAM)


def _if_masked(call: int, argument: int, mask: int, value: int) -> bytes:
    """Instructions that deny the call with EPERM if the argument's bits in ``mask`` equal ``value``."""
    body = _op(_LOAD, argument) + _op(_AND, mask) + _op(_EQUAL, value, 0, 1)
    body += _answer(errno.EPERM) + _op(_LOAD, _NUMBER)
    return _op(_EQUAL, call, 0, len(body) // 8) + body


def _option(call: int, level: int, options: tuple[int, ...], reply: int) -> bytes:
    body = _op(_LOAD, _ARGUMENT_2) + _only_if(options) + _answer(reply)
    body = _op(_LOAD, _ARGUMENT_1) + _op(_EQUAL, level, 0, len(body) // 8) + body + _op(_LOAD, _NUMBER)
    return _op(_EQUAL, call, 0, len(body) // 8) + body


def _plain_protocols(call: int) -> bytes:
    """Instructions that deny sockets other than UNIX, TCP and UDP, because other protocols load a kernel
    module.
    """
    deny = _answer(errno.EPROTONOSUPPORT)
    body = _op(_LOAD, _ARGUMENT_1) + _op(_AND, 0xF) + _skip_if(_KINDS) + deny
    body += _op(_LOAD, _ARGUMENT_2) + _skip_if(_PROTOCOLS) + deny
    body = _op(_LOAD, _ARGUMENT_0) + _op(_EQUAL, _UNIX, len(body) // 8) + body + _op(_LOAD, _NUMBER)
    return _op(_EQUAL, call, 0, len(body) // 8) + body


@cache
def program(
    machine: str = os.uname().machine, *, namespaced: bool = True, pinned: bool = False, notify: bool = False
) -> bytes:
    """The filter as an array of ``struct sock_filter``; raises ValueError for an unknown architecture.

    Without ``namespaced``, it also denies or ignores calls that affect other processes or files of the same
    user. With ``pinned``, it also denies changing the processors. With ``notify``, the holder of the filter's
    notification descriptor supplies each TCP socket; other sockets are denied, and ``connect`` and
    ``setsockopt`` report success without effect.
    """
    if machine not in NUMBERS:
        raise ValueError(f"no seccomp table for {machine}")
    numbers = NUMBERS[machine]
    text = (
        _op(_LOAD, _ARCHITECTURE) + _op(_EQUAL, AUDIT[machine], 1) + _op(_RETURN, _KILL) + _op(_LOAD, _NUMBER)
    )
    if machine == "x86_64":
        text += _op(_AT_LEAST, _X32, 0, 1) + _op(_RETURN, _KILL)
    text += _op(_AT_LEAST, _NEWEST + 1, 0, 1) + _answer(errno.ENOSYS)
    for number in (numbers["clone3"], *_LANDLOCK):
        text += _op(_EQUAL, number, 0, 1) + _answer(errno.ENOSYS)
    text += _if_any_bit(numbers["clone"], _ARGUMENT_0, _NEW_NAMESPACES)
    text += _own_descriptors(numbers["clone"])
    text += _if_any_bit(numbers["close_range"], _ARGUMENT_2, _UNSHARE_FILES, errno.EINVAL)
    # fallocate reserves space that a file's size may not show. The C library falls back to writing.
    text += _op(_EQUAL, numbers["fallocate"], 0, 1) + _answer(errno.EOPNOTSUPP)
    text += _if_one_of(numbers["ioctl"], _ARGUMENT_1, _RESERVE, errno.EOPNOTSUPP)
    text += _if_one_of(numbers["ioctl"], _ARGUMENT_1, (_TIOCSTI, _TIOCLINUX, _POLICY, _KEY))
    text += _if_one_of(numbers["fcntl"], _ARGUMENT_1, _FCNTL_DENIED)
    text += _if_any_bit(numbers["mmap"], _ARGUMENT_3, _HUGE_MAP, errno.ENOMEM)
    text += _if_any_bit(numbers["memfd_create"], _ARGUMENT_1, _HUGE_FILE, errno.ENOMEM)
    text += _unless_one_of(numbers["socket"], _ARGUMENT_0, _FAMILIES)
    text += _plain_protocols(numbers["socket"])
    text += _unless_one_of(numbers["socketpair"], _ARGUMENT_0, _FAMILIES)
    text += _unless_one_of(numbers["personality"], _ARGUMENT_0, _PERSONALITIES)
    # Requests for larger buffers succeed without effect, because these buffers do not count as memory of any
    # process.
    text += _option(numbers["setsockopt"], _SOCKET_LEVEL, _BUFFERS, 0)
    text += _option(numbers["setsockopt"], _TCP_LEVEL, (_ULP,), errno.ENOENT)
    text += _if_one_of(numbers["prctl"], _ARGUMENT_0, (_SET_DUMPABLE, _SCHED_CORE))
    text += _if_one_of(numbers["prctl"], _ARGUMENT_0, (_FUTEX_HASH,), errno.EINVAL)
    if notify:
        text += _notify(machine)
    if pinned:
        text += _op(_EQUAL, SELF_ONLY[machine]["sched_setaffinity"], 0, 1) + _answer(errno.EPERM)
    if not namespaced:
        text += _deny_shared(machine)
    denied = sorted(number for name, number in numbers.items() if name not in FILTERED_BY_ARGUMENT)
    return text + _only_if(denied) + _answer(errno.EPERM) + _op(_RETURN, _ALLOW)


def _notify(machine: str) -> bytes:
    body = _op(_LOAD, _ARGUMENT_0) + _op(_EQUAL, _INET, 0, 3)
    body += _op(_LOAD, _ARGUMENT_1) + _op(_AND, 0xF) + _op(_EQUAL, _STREAM, 1)
    body += _answer(errno.EPERM) + _op(_RETURN, _USER_NOTIFY)
    text = _op(_EQUAL, NUMBERS[machine]["socket"], 0, len(body) // 8) + body
    for number in (_CONNECT[machine], NUMBERS[machine]["setsockopt"]):
        text += _op(_EQUAL, number, 0, 1) + _answer(0)
    return text


def _deny_shared(machine: str) -> bytes:
    numbers = SELF_ONLY[machine]
    text = _if_one_of(NUMBERS[machine]["ioctl"], _ARGUMENT_1, _FLAGS)
    text += _unless_one_of(NUMBERS[machine]["socketpair"], _ARGUMENT_0, (_UNIX,))
    text += _datagram_pairs(NUMBERS[machine]["socketpair"])
    for name, number in numbers.items():
        which = (_PROCESS if name == "ioprio_set" else 0,)
        if name in ("setpriority", "ioprio_set"):
            text += _unless_one_of(number, _ARGUMENT_0, which) + _unless_one_of(number, _ARGUMENT_1, (0,))
        else:
            text += _unless_one_of(number, _ARGUMENT_0, (0,))
    for calls, reply in ((DENIED_WITHOUT_NAMESPACES[machine], errno.EPERM), (IGNORED[machine], 0)):
        for number in calls.values():
            text += _op(_EQUAL, number, 0, 1) + _answer(reply)
    return text
