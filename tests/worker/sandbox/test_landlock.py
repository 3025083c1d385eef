"""Tier C: what it says of old kernels, where its names lie, what it cannot give."""

from __future__ import annotations

import json
import os

import pytest

from registry.packages.problems import Refusal
from worker.sandbox.inner import landlock as inner
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import Job
from worker.sandbox.site_settings import SandboxSettings
from worker.sandbox.tiers.available import run, usable_tiers
from worker.sandbox.tiers.landlock import PathTranslation

pytestmark = [pytest.mark.row("C6"), pytest.mark.matrix("tier", at_most=1)]

LETTING = SandboxSettings(minimum="landlock", choice="landlock")


@pytest.fixture
def usable():
    report = next(report for report in usable_tiers() if report.name == "landlock")
    if not report.usable:
        pytest.skip(f"landlock: {report.reason}")


@pytest.mark.parametrize(
    ("abi", "lacks"),
    [(0, "missing from this kernel"), (-1, "missing from this kernel"), (4, "signals"), (1, "moving files")],
)
def test_an_older_landlock_is_refused_by_what_it_lacks(monkeypatch, abi, lacks):
    monkeypatch.setattr(inner._libc, "syscall", lambda *arguments: abi, raising=False)
    with pytest.raises(OSError, match=lacks):
        inner.require_abi()


def test_files_are_moved_between_folders_in_every_tier(go, job_dir):
    script = "mkdir output/a output/b; echo x > output/a/one && mv output/a/one output/b/two"
    script += " && python -c \"import os; os.rename('output/b/two', 'output/a/three')\""
    ended = go("bash", "-c", script)
    assert (ended.exit_code, ended.stderr) == (0, b"")
    assert (job_dir / "output" / "a" / "three").read_text() == "x\n"


def test_it_serves_only_where_the_site_lets_it(usable, package, job_dir):
    with pytest.raises(Refusal, match="SKILLQUAY_SANDBOX_MINIMUM"):
        run(Job(("true",), package, job_dir), site=SandboxSettings(choice="landlock"))
    assert run(Job(("true",), package, job_dir), site=LETTING).tier == "landlock"


def test_a_network_allowlist_is_refused_with_the_reason(usable, package, job_dir):
    with pytest.raises(Refusal) as refused:
        run(Job(("true",), package, job_dir, network=("api.example.org",)), site=LETTING)
    assert refused.value.code == "NETWORK_ALLOWLIST_UNAVAILABLE"
    assert "landlock" in refused.value.problems[0].message()


def test_paths_of_the_request_lead_to_the_host_and_back(usable, package, job_dir):
    script = (
        "import json, sys; asked = json.load(sys.stdin); open(asked['output_dir'] + '/x', 'w').write('x')\n"
    )
    (package / "write.py").write_text(script + "print(asked['output_dir'], sys.argv[1], sys.argv[0])")
    job = Job(
        ("python", "/skill/write.py", "--to=/job/output"),
        package,
        job_dir,
        stdin=json.dumps({"output_dir": "/job/output", "text": "see /job/output"}).encode(),
        limits=Limits(timeout_s=20),
    )
    ended = run(job, site=LETTING)
    assert ended.stdout == b"/job/output --to=/job/output /skill/write.py\n", ended.stderr
    assert (job_dir / "output" / "x").read_text() == "x"


def test_inputs_stay_as_they_are(usable, package, job_dir):
    (job_dir / "input" / "given").write_text("given")
    script = "chmod 777 input input/given; echo more >> input/given; touch input/new; cat input/given"
    ended = run(Job(("bash", "-c", script), package, job_dir), site=LETTING)
    assert ended.stdout == b"given", ended.stderr
    assert os.listdir(job_dir / "input") == ["given"]


def test_only_paths_are_given_other_names(tmp_path):
    job = Job((), tmp_path / "package", tmp_path / "job")
    names = PathTranslation.of(job, str)
    assert names.to_host("/jobs and /job") == "/jobs and /job"
    assert names.to_host("--x=/job/output") == f"--x={tmp_path}/job/output"
    assert names.to_host_json(b'{"a": "/job", "b": "no /job", "c": "/jobs"}') == (
        b'{"a": "%s/job", "b": "no /job", "c": "/jobs"}' % str(tmp_path).encode()
    )
