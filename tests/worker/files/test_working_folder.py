"""The working folder: copies of inputs, links to the package, changes as artifacts, in every tier."""

from __future__ import annotations

import shutil
import textwrap

import pytest

from registry.identity.actors import Actor
from tests.factories.skills import publish_files
from worker.files.inputs import store_input
from worker.sandbox.site_settings import TIERS
from worker.sandbox.tiers.available import usable_tiers
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("A5", "P10", "C6")]

HEAD = "---\nname: folders\ndescription: For tests.\nversion: 1.0.0\n---\n# Folders\n"


@pytest.fixture(params=[*TIERS, "unsafe"])
def tier(request, settings):
    if request.param != "unsafe":
        _require(request.param, settings)
    settings.SKILLQUAY_SANDBOX = request.param
    return request.param


@pytest.fixture(params=TIERS)
def protecting_tier(request, settings):
    """The tiers that make the package read-only."""
    _require(request.param, settings)
    settings.SKILLQUAY_SANDBOX = request.param
    return request.param


def _require(tier, settings):
    report = next(report for report in usable_tiers() if report.name == tier)
    if not report.usable:
        pytest.skip(f"{report.name}: {report.reason}")
    settings.SKILLQUAY_SANDBOX_MINIMUM = "landlock"


@pytest.fixture
def upload(alice):
    return lambda name, data=b"one": {"input": store_input([data], name, Actor(user=alice)).uid}


@pytest.fixture
def ran(team, alice, queue_run):
    """``ran(script, arguments)``: the executed run of a skill with this script and two more folders."""

    def ran(script, arguments=(), name="main.py", **more):
        files = {
            "SKILL.md": HEAD.encode(),
            f"scripts/{name}": textwrap.dedent(script).encode(),
            "scripts/lib/part.py": b"TEXT = 'part'\n",
            "references/guide.md": b"guide",
        }
        version = publish_files(files, team=team, user=alice)
        return execute_here(queue_run(version, arguments=list(arguments), **more))

    return ran


def _artifacts(run):
    return sorted(run.artifacts.values_list("path", flat=True))


CHANGES = """
    import os, shutil, sys
    assert os.listdir() and open("references/guide.md").read() == "guide"
    assert os.path.exists("scripts/lib/part.py") and os.access("same.txt", os.W_OK)
    with open("changed.txt", "a") as file:
        file.write("more")
    os.makedirs("made/deep"); open("made/deep/new.txt", "w").write("new")
    os.makedirs("__pycache__"); open("__pycache__/x.pyc", "w").write("x")
    open("same.txt", "r+").write("one")
    open("output/linked.txt", "w").write("x")
    if "--output-dir" in sys.argv:
        for name in ("out.txt", "changed.txt"):
            open(os.path.join(sys.argv[-1], name), "w").write("out")
    print('{"read": "%s"}' % open(sys.argv[1]).read())
"""


def test_new_and_changed_files_become_artifacts(tier, ran, upload):
    files = [upload("changed.txt"), upload("same.txt")]
    run = ran(CHANGES, files, inputs={"output_dir": ""})
    assert run.status == "succeeded", run.message
    assert run.result["outputs"] == {"read": "onemore"}
    own = ["out.txt", "work/changed.txt"]
    assert _artifacts(run) == ["changed.txt", "linked.txt", "made/deep/new.txt", *own]
    assert run.result["warnings"] == ["not collected: __pycache__: a folder of a tool or cache"]
    assert run.sandbox["tier"] == tier


def test_git_works_in_each_tier(protecting_tier, ran):
    if not shutil.which("git", path="/usr/local/bin:/usr/bin:/bin"):
        pytest.skip("this machine lacks git")
    run = ran("set -e; git init -q r; git -C r status --short", name="main.sh")
    assert run.status == "succeeded", run.cause


def test_input_hides_the_folder_of_the_same_name(ran, upload):
    run = ran("print(open('references').read())", [upload("references", b"mine")])
    assert run.status == "succeeded", run.message
    assert _artifacts(run) == []


def test_inputs_do_not_use_the_space_of_the_run(ran, upload, settings):
    settings.SKILLQUAY_MAX_RUN_DISK_MB = 2
    run = ran("import os; print(os.path.getsize('large.bin'))", [upload("large.bin", bytes(6 << 20))])
    assert run.status == "succeeded", run.message


WRITES = {
    "main.py": "import os; open(os.path.dirname(os.path.abspath(__file__)) + '/cache.json', 'w')",
    "append.py": "open('references/guide.md', 'a')",
    "link.py": "open('references/new.md', 'w')",
    "main.sh": 'echo x > "$(dirname "$0")/cache"',
    "main.js": "require('fs').writeFileSync(__dirname + '/cache', 'x')",
    "folder.py": "import os; os.mkdir('/skill/cache')",
    "inside.py": "import os; os.chdir(os.path.dirname(os.path.abspath(__file__))); open('new', 'w')",
    "relative.sh": "set -e; touch references/new.md",
}


@pytest.mark.parametrize("name", ["main.py", "append.py", "link.py", "main.sh", "main.js"])
def test_write_into_the_package_is_named(protecting_tier, ran, name):
    run = ran(WRITES[name], name=name)
    assert (run.status, run.failure_code) == ("failed", "PACKAGE_READ_ONLY"), run.cause


@pytest.mark.parametrize("name", ["folder.py", "inside.py", "relative.sh"])
def test_other_writes_into_the_package_are_named(ran, name):
    assert ran(WRITES[name], name=name).failure_code == "PACKAGE_READ_ONLY"


@pytest.mark.parametrize(
    ("name", "script"),
    [
        ("main.py", "open('/usr/new', 'w')"),
        ("main.sh", "echo x > /etc/passwd"),
        ("main.py", "raise ValueError('Permission denied')"),
        ("main.sh", "/skill/scripts/main.sh"),
        ("main.py", "try:\n    open('/skill/x', 'w')\nexcept OSError as error:\n    print(error)\n1 / 0"),
    ],
)
def test_other_failures_keep_their_code(ran, name, script):
    assert ran(script, name=name).failure_code == "SCRIPT_FAILED"


def test_standard_code_stays_in_the_answer_of_the_stdin_protocol(ran):
    run = ran("open('/skill/x', 'w')", action="go")
    assert (run.failure_code, run.result["error"]["code"]) == ("PACKAGE_READ_ONLY", "INTERNAL_ERROR")
