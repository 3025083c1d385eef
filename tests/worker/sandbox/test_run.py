"""What a script finds inside, what comes back, and how a run ends."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

from registry.packages.problems import Refusal
from tests.checks import not_none
from worker.sandbox import runtimes
from worker.sandbox.doctor.attacks.arena import marked
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import Job, SandboxResult
from worker.sandbox.site_settings import SandboxSettings
from worker.sandbox.tiers import available
from worker.sandbox.tiers.available import run

pytestmark = [pytest.mark.row("B4", "C6"), pytest.mark.matrix("tier", at_most=1)]

PYTHON = ("python", "-I", "-S", "-c")


def test_both_streams_and_the_exit_code_come_back(go):
    ended = go("bash", "-c", "echo out; echo err >&2; exit 3")
    assert (ended.ending, ended.exit_code, ended.signal) == ("exited", 3, None)
    assert (ended.stdout, ended.stderr) == (b"out\n", b"err\n")


def test_peak_memory_is_that_of_the_largest_process(go):
    small = go(*PYTHON, "pass").peak_memory
    child = "import os; os.fork() or bytearray(b'x' * (90 << 20))"
    assert 1 << 20 < small < 60 << 20
    assert 90 << 20 < go(*PYTHON, f"{child}; os.wait()").peak_memory < 200 << 20


def test_a_signal_is_told_from_an_exit_code(go):
    ended = go("bash", "-c", "kill -SEGV $$")
    assert (ended.ending, ended.exit_code, ended.signal) == ("exited", None, 11)


@pytest.mark.row("A2")
def test_arguments_arrive_as_they_are(go):
    wild = ["a b", "$(id)", "'\"", "new\nline", "", "-x", "--", "技能", "`id`"]
    ended = go(*PYTHON, "import sys, json; print(json.dumps(sys.argv[1:]))", *wild)
    assert json.loads(ended.stdout) == wild


def test_the_environment_is_the_jobs_and_no_more(go, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "secret")
    ended = go("env", environment={"SKILL_DEBUG": "1"})
    names = {line.split(b"=")[0] for line in ended.stdout.splitlines()}
    assert b"SKILL_DEBUG" in names
    assert not {b"SECRET_KEY", b"DJANGO_SETTINGS_MODULE", b"VIRTUAL_ENV"} & names


def test_package_is_read_only_and_the_job_folder_is_the_runs_own(go, package, job_dir):
    (package / "text").write_text("from the package")
    (job_dir / "input" / "given").write_text("given")
    ended = go(
        "bash",
        "-c",
        "cat $0 input/given; echo x > output/file; echo x > $1 || echo refused",
        "/skill/text",
        "/skill/no",
    )
    assert ended.stdout == b"from the packagegivenrefused\n"
    assert (job_dir / "output" / "file").read_text() == "x\n"


def test_mounted_folders_and_files_are_seen_read_only_by_their_names_inside(go, package):
    folder = package.parent / "library"
    folder.mkdir()
    (folder / "text").write_text("mounted")
    script = 'cat "$1" "$2"; echo x > "$1" || echo refused'
    ended = go(
        "bash",
        "-c",
        script,
        "sh",
        "/library/text",
        "/one",
        mounts={"/library": folder, "/one": folder / "text"},
    )
    assert ended.stdout == b"mountedmountedrefused\n", ended.stderr + ended.detail.encode()


@pytest.mark.parametrize("name", ["python", "python3", "bash", "node", "deno"])
def test_runtimes_resolve_by_their_bare_names(go, name):
    ended = go(name, "--version")
    assert ended.exit_code == 0, ended.stderr


def test_a_script_finds_python_by_its_own_first_line(go, package):
    (package / "tool").write_text("#!/usr/bin/env python3\nprint('found')\n")
    (package / "tool").chmod(0o755)
    assert go("bash", "-c", "$0", "/skill/tool").stdout == b"found\n"


def test_typescript_with_enums_runs(go, package):
    (package / "x.ts").write_text("enum Kind { A = 'a' }\nconst kind: Kind = Kind.A; console.log(kind)\n")
    ended = go(*runtimes.command_for("x.ts"), "/skill/x.ts")
    assert ended.stdout == b"a\n", ended.stderr


@pytest.mark.parametrize(
    "use",
    [
        "import asyncio; asyncio.run(asyncio.sleep(0))",
        "import threading; threading.Thread(target=print).start()",
        "import multiprocessing as m; print(m.Pool(2).map(abs, [1]))",
        "import subprocess; subprocess.run(['true'], check=True)",
        "import sqlite3, tempfile; sqlite3.connect(tempfile.mkdtemp() + '/x').execute('create table a (b)')",
        "from socket import *; s = create_server(('127.0.0.1', 0)); create_connection(s.getsockname())",
    ],
    ids=["asyncio", "threads", "multiprocessing", "subprocess", "sqlite", "loopback"],
)
def test_ordinary_libraries_work(go, tier, use):
    if tier == "landlock" and any(word in use for word in ("multiprocessing", "create_server")):
        pytest.xfail("landlock: no shared semaphores, no sockets; see docs/howto/harden-the-sandbox.md")
    ended = go("python", "-c", use)
    assert ended.exit_code == 0, ended.stderr


def test_an_unknown_program_is_said_on_stderr(go):
    ended = go("no-such-program")
    assert ended.exit_code == 127
    assert b"not found" in ended.stderr or b"No such file" in ended.stderr


def test_a_package_that_is_gone_fails_the_start_and_says_so(go, package):
    package.rmdir()
    ended = go("true")
    assert ended.ending == "start_failed"
    assert "No such file" in ended.detail


def test_large_input_and_output_do_not_wait_for_each_other(go):
    ended = go(*PYTHON, "import sys; sys.stdout.write(sys.stdin.read() * 3)", stdin=b"x" * 3_000_000)
    assert len(ended.stdout) == 9_000_000


def test_a_script_that_never_reads_its_input_ends_all_the_same(go):
    assert go("true", stdin=b"x" * 1_000_000).exit_code == 0


def test_descriptor_three_comes_back_apart_from_stdout(go):
    ended = go("bash", "-c", "echo log; echo answer >&3", channel_bytes=1000)
    assert (ended.stdout, ended.channel) == (b"log\n", b"answer\n")


def test_the_channel_has_a_limit_of_its_own(go):
    ended = go("bash", "-c", "yes >&3", channel_bytes=1000)
    assert (ended.ending, len(ended.channel)) == ("output_limit", 1000)


@pytest.mark.row("B6")
def test_output_is_handed_on_while_the_run_goes_on(go):
    arrived = []
    go(
        "bash",
        "-c",
        "echo '50% complete' >&2; sleep 0.3; echo done",
        on_output=lambda stream, text: arrived.append((stream, text, time.monotonic())),
    )
    (first, line, early), (second, _, late) = arrived
    assert (first, line, second) == ("stderr", b"50% complete\n", "stdout")
    assert late > early


@pytest.mark.row("B4")
def test_output_is_cut_at_exactly_the_limit_of_both_streams(go):
    ended = go("bash", "-c", "yes & yes >&2", limits=Limits(output_bytes=100_000))
    assert ended.ending == "output_limit"
    assert len(ended.stdout) + len(ended.stderr) == 100_000


@pytest.mark.row("B4")
def test_output_of_exactly_the_limit_is_no_offence(go):
    ended = go("bash", "-c", "head -c 100000 /dev/zero", limits=Limits(output_bytes=100_000))
    assert (ended.ending, len(ended.stdout)) == ("exited", 100_000)


@pytest.mark.row("B4")
def test_the_time_limit_ends_everything(go):
    ended = go("bash", "-c", "trap '' TERM; echo begun; sleep 60 & sleep 60", limits=Limits(timeout_s=1))
    assert (ended.ending, ended.exit_code, ended.stdout) == ("timed_out", None, b"begun\n")
    assert ended.duration_s >= 1


@pytest.mark.row("B4")
def test_the_time_limit_holds_while_the_worker_waits_for_its_database(go, job_dir):
    beats = job_dir / "output" / "beats"
    script = "while :; do echo beat >> output/beats; sleep 0.05; done"
    slow = _Slow(beats)
    ended = go("bash", "-c", script, limits=Limits(timeout_s=0.6), check_stop=slow)
    assert slow.saw_the_end
    assert (ended.ending, ended.exit_code) == ("timed_out", None)


class _Slow:
    """Answers only when the script beats no more."""

    def __init__(self, beats):
        self.beats, self.saw_the_end = beats, False

    def __call__(self):
        if self.saw_the_end or not self.beats.exists():
            return
        for _ in range(40):
            before = self.beats.stat().st_size
            time.sleep(0.4)
            if self.beats.stat().st_size == before:
                self.saw_the_end = True
                return


def test_a_run_that_is_cancelled_as_it_starts_is_given_no_time(go):
    script = "sleep 2; trap '' TERM; echo up; sleep 15"
    ended = go("bash", "-c", script, check_stop=lambda: "cancelled", grace_s=60, limits=Limits(timeout_s=15))
    assert (ended.ending, ended.stdout) == ("cancelled", b"")


def test_a_cancelled_run_may_tidy_up(go):
    script = "trap 'echo tidied; exit 7' TERM; echo up; while :; do sleep 0.02; done"
    wish = _Wish("cancelled")
    ended = go("bash", "-c", script, on_output=wish.hear, check_stop=wish)
    assert (ended.ending, ended.exit_code) == ("cancelled", 7)
    assert ended.stdout == b"up\ntidied\n"


def test_a_cancelled_run_that_will_not_end_is_killed(go):
    wish = _Wish("cancelled")
    script = "trap '' TERM; echo up; while :; do sleep 0.02; done"
    ended = go("bash", "-c", script, on_output=wish.hear, check_stop=wish, grace_s=0.3)
    assert (ended.ending, ended.exit_code) == ("cancelled", None)


def test_a_lost_lease_kills_at_once(go):
    wish = _Wish("lease_lost")
    script = "trap 'echo tidied' TERM; echo up; while :; do sleep 0.02; done"
    ended = go("bash", "-c", script, on_output=wish.hear, check_stop=wish)
    assert (ended.ending, ended.stdout) == ("lease_lost", b"up\n")


class _Wish:
    """Wishes the run's end once it has said something."""

    def __init__(self, reason):
        self.reason, self.heard = reason, False

    def hear(self, stream, text):
        self.heard = True

    def __call__(self):
        return self.reason if self.heard else None


def test_a_failing_listener_leaves_nothing_behind(go):
    def fail(stream, text):
        raise RuntimeError("the database is gone")

    with pytest.raises(RuntimeError):
        go("bash", "-c", "echo x; sleep 61.25", on_output=fail)
    assert marked("61.25") == []


@pytest.mark.row("C6")
@pytest.mark.parametrize("use_cgroups", [True, False], ids=["cgroup", "watchdog"])
def test_memory_is_held_and_the_run_says_by_what(go, use_cgroups):
    site = SandboxSettings(minimum="landlock", use_cgroups=use_cgroups)
    limits = Limits(timeout_s=20, memory_mb=96)
    ended = go(*PYTHON, "x = []\nwhile True: x.append(b'x' * (1 << 20))", limits=limits, site=site)
    assert ended.ending == "memory_limit"
    assert ended.enforcement["memory"] in ({"cgroup", "watchdog"} if use_cgroups else {"watchdog"})


@pytest.mark.row("C6")
def test_memory_shared_by_children_is_counted_once(go, watched):
    script = (
        "import os, time\nheld = b'x' * (60 << 20)\n"
        "pids = [os.fork() for _ in range(3) if True]\ntime.sleep(0.4)\n"
    )
    assert go(*PYTHON, script, limits=Limits(memory_mb=140), site=watched).ending == "exited"


@pytest.mark.row("C6")
def test_memory_files_without_a_name_count(go, watched):
    script = (
        "import os, time\nheld = [os.memfd_create('x') for _ in range(40)]\n"
        "for one in held: os.write(one, b'x' * (4 << 20))\ntime.sleep(20)"
    )
    assert go(*PYTHON, script, limits=Limits(memory_mb=96), site=watched).ending == "memory_limit"


def test_nothing_is_left_of_a_run(go, job_dir):
    before = _mounts()
    go("bash", "-c", "setsid sleep 62.5 & echo")
    assert marked("62.5") == []
    assert (_mounts(), _zombies()) == (before, 0)
    assert list(Path("/sys/fs/cgroup").glob(f"**/skillquay-{os.getpid()}-*")) == []


def _mounts():
    return Path("/proc/self/mountinfo").read_text().count("\n")


def _zombies():
    listing = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "stat="], capture_output=True, text=True
    )
    return listing.stdout.count("Z")


def test_runs_of_several_threads_are_apart(tier, tmp_path):
    results: dict[int, SandboxResult] = {}
    threads = [threading.Thread(target=_one, args=(tier, tmp_path, n, results)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [results[n].stdout for n in range(6)] == [b"%d\n" % n for n in range(6)]
    uids = {(tmp_path / str(n) / "job").stat().st_uid for n in range(6)}
    assert len(uids) == (6 if os.geteuid() == 0 else 1)


def _one(tier, folder, n, results):
    (folder / str(n) / "job" / "output").mkdir(parents=True)
    (folder / str(n) / "package").mkdir()
    job = Job(("bash", "-c", f"sleep 0.3; echo {n}"), folder / str(n) / "package", folder / str(n) / "job")
    results[n] = run(job, tier=tier, site=SandboxSettings(minimum="landlock"))


def test_a_fork_of_the_worker_runs_with_a_launcher_of_its_own(go):
    go("true")
    child = os.fork()
    if child == 0:
        os._exit(0 if go("true").exit_code == 0 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert go("true").exit_code == 0


def test_a_lost_launcher_is_replaced(go):
    from worker.sandbox import launch

    go("true")
    not_none(launch._launcher).process.kill()
    not_none(launch._launcher).process.wait()
    assert go("true").exit_code == 0


def test_no_tier_means_refusal_with_the_kernels_word_and_the_fix(package, job_dir, monkeypatch):
    reports = [available.TierReport("bwrap", False, "bwrap: no permission", "Allow it.")]
    monkeypatch.setattr(available, "usable_tiers", lambda site: reports)
    with pytest.raises(Refusal) as refused:
        run(Job(("true",), package, job_dir))
    assert refused.value.code == "SANDBOX_UNAVAILABLE"
    assert "no permission" in refused.value.problems[0].message()
    assert refused.value.problems[0].remedy().endswith(": Allow it.")


def test_a_site_may_forbid_weaker_tiers(package, job_dir, monkeypatch):
    reports = [available.TierReport("bwrap", False, "absent"), available.TierReport("nsrun", True)]
    monkeypatch.setattr(available, "usable_tiers", lambda site: reports)
    with pytest.raises(Refusal, match="SKILLQUAY_SANDBOX_MINIMUM"):
        run(Job(("true",), package, job_dir), site=SandboxSettings(minimum="bwrap"))


def test_no_isolation_only_where_it_is_asked_for(package, job_dir):
    (package / "say.py").write_text("import os; print(os.path.dirname(__file__))")
    job = Job(("python", "/skill/say.py"), package, job_dir)
    ended = run(job, site=SandboxSettings(choice="unsafe"))
    assert (ended.tier, ended.stdout.decode().strip()) == ("unsafe", str(package))


def test_without_isolation_a_cancelled_run_may_tidy_up_too(package, job_dir):
    script = "trap 'echo tidied; exit 7' TERM; echo up; while :; do sleep 0.02; done"
    wish = _Wish("cancelled")
    job = Job(("bash", "-c", script), package, job_dir, limits=Limits(timeout_s=20))
    ended = run(job, site=SandboxSettings(choice="unsafe"), on_output=wish.hear, check_stop=wish)
    assert (ended.ending, ended.exit_code, ended.stdout) == ("cancelled", 7, b"up\ntidied\n")
    assert ended.enforcement["processes"] in ("cgroup", "none")


def test_a_launcher_killed_in_the_middle_takes_the_run_with_it(go):
    from worker.sandbox import launch

    def kill(stream, text):
        not_none(launch._launcher).process.kill()

    ended = go("bash", "-c", "echo up; setsid sleep 63.75 & sleep 63.75", on_output=kill)
    assert ended.ending == "start_failed"
    deadline = time.monotonic() + 5
    while marked("63.75") and time.monotonic() < deadline:
        time.sleep(0.01)
    assert marked("63.75") == []
