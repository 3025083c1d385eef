"""Published modules are loaded in the sandbox, and those that fail are named with file and line."""

from __future__ import annotations

import pytest
from django.utils import timezone

from registry.models import Version
from registry.versions.publishing.version_rows import load_problems
from tests.factories.skills import publish_files
from tests.pages import part, parts
from tests.shell import api
from worker.dependencies.errors import PREPARING
from worker.models import DependencyBuild, ModuleLoad
from worker.module_loads import load_modules, queue
from worker.service import tasks

pytestmark = [pytest.mark.django_db, pytest.mark.row("C8", "C6")]
SOUND = b"import json, helper\nasync def execute(parameters):\n    raise SystemExit(9)\n"


@pytest.fixture
def published(team, alice):
    def publish(files, front="", number="1.0.0"):
        head = f"---\nname: loaded\ndescription: For tests.\nversion: {number}\n{front}---\n# Loaded\n"
        return publish_files({"SKILL.md": head.encode(), **files}, team=team, user=alice)

    return publish


def _problems(version):
    version.refresh_from_db()
    return [(one.code, one.path, one.line) for one in load_problems(version)]


BROKEN = {
    "import": (
        "execute.py",
        b"import json\nimport absent_library\ndef execute(p): ...\n",
        ("LOADED_MODULE_MISSING", "scripts/execute.py", 2),
    ),
    "exception": (
        "execute.py",
        b"from helper import table\nX = table['gone']\ndef execute(p): ...\n",
        ("MODULE_LOAD_FAILED", "scripts/execute.py", 2),
    ),
    "end": ("execute.py", b"raise SystemExit(3)\n", ("MODULE_LOAD_FAILED", "scripts/execute.py", None)),
    "export": (
        "execute.py",
        b"from helper import *\nrun = 1\n",
        ("EXPORT_MISSING", "scripts/execute.py", 1),
    ),
    "typescript": (
        "execute.ts",
        b"import './lib.ts';\nexport const execute = (): number => 1;\n",
        ("MODULE_LOAD_FAILED", "scripts/lib.ts", 2),
    ),
    "node": (
        "execute.mjs",
        b"import x from 'absent-library';\nexport const execute = () => x;\n",
        ("LOADED_MODULE_MISSING", "scripts/execute.mjs", None),
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_module_that_fails_to_load_is_a_problem_of_the_version(published, client, alice, name):
    script, source, problem = BROKEN[name]
    helper = {"scripts/helper.py": b"table = {}\n", "scripts/lib.ts": b"const a: any = null;\na.b.c;\n"}
    version = published({f"scripts/{script}": source, **helper})
    assert problem not in _problems(version)
    tasks.on_wake_parser_reader()
    assert problem in _problems(version)
    assert ModuleLoad.objects.get().state == "failed"
    _status, profiles = api("GET", "skills/docs/loaded/versions/1.0.0/profiles")
    assert problem[0] in str(profiles)
    client.force_login(alice)
    assert problem[0] in client.get("/skills/docs/loaded/").content.decode()


def test_module_that_loads_is_not_called_and_has_no_problem(published):
    front = "security:\n  environment: {ZONE: UTC}\n  secrets: [API_KEY]\n"
    source = b"import os\nfrom pathlib import Path\nos.environ['API_KEY'], os.environ['ZONE']\n"
    source += b"Path('assets/a.txt').read_text()\nPath('new').write_text('x')\n" + SOUND
    files = {"scripts/execute.py": source, "scripts/helper.py": b"", "assets/a.txt": b"a"}
    version = published(files, front)
    before = _problems(version)
    assert load_modules.load_waiting() == 1
    assert (ModuleLoad.objects.get().state, _problems(version)) == ("passed", before)
    assert not queue.has_waiting()


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (b"import urllib.request\nurllib.request.urlopen('https://api.example.com/x')\n", "network"),
        (b"while True: pass\n", "limit"),
    ],
)
def test_module_that_needs_the_network_or_much_time_has_no_problem(published, source, reason, monkeypatch):
    monkeypatch.setattr(load_modules, "_LIMITS", load_modules.Limits(timeout_s=1, memory_mb=256))
    version = published({"scripts/execute.py": source + SOUND, "scripts/helper.py": b""})
    before = _problems(version)
    assert load_modules.load_waiting() == 1
    row = ModuleLoad.objects.get()
    assert (row.state, row.reason, _problems(version)) == ("skipped", reason, before)


def test_modules_wait_for_their_dependencies_and_for_the_release(published):
    files = {"scripts/execute.py": SOUND, "scripts/helper.py": b"", "requirements.txt": b"tiny==1\n"}
    version = published(files)
    DependencyBuild.objects.update(state="waiting")
    assert not queue.has_waiting()
    DependencyBuild.objects.update(state="failed", problem={"code": PREPARING.name})
    Version.objects.filter(pk=version.pk).update(held_at=timezone.now())
    assert not queue.has_waiting()
    Version.objects.filter(pk=version.pk).update(released_at=timezone.now())
    assert queue.has_waiting()
    assert load_modules.load_waiting() == 1
    row = ModuleLoad.objects.get()
    assert (row.state, row.reason) == ("skipped", "dependencies")


def test_page_and_api_show_the_state_of_each_module(published, client, alice, settings):
    files = {"scripts/execute.py": SOUND, "scripts/helper.py": b""}
    published(files)
    page, address = "/skills/docs/loaded/1.0.0/", "skills/docs/loaded/versions/1.0.0"
    client.force_login(alice)

    def shown():
        _status, document = api("GET", address)
        row = part(client.get(f"{page}modules/"), "module")
        assert document["modules"] == [
            {"path": "scripts/execute.py", "state": row["state"], "reason": row["value"]}
        ]
        assert part(client.get(page), "module")["state"] == row["state"]
        return row["state"], row["value"]

    assert shown() == ("waiting", "")
    assert f'hx-get="{page}modules/"' in client.get(page).content.decode()
    load_modules.load_waiting()
    assert shown() == ("passed", "")
    ModuleLoad.objects.update(state="waiting")
    queue.claim_next()
    assert shown() == ("skipped", "error")  # until the worker reports
    settings.SKILLQUAY_SANDBOX = settings.SKILLQUAY_SANDBOX_MINIMUM = "unsafe"
    ModuleLoad.objects.update(state="waiting")
    load_modules.load_waiting()
    assert shown() == ("skipped", "no_sandbox")


def test_version_without_modules_has_no_states(published, client, alice):
    published({"scripts/main.py": b"print(1)\n"})
    client.force_login(alice)
    assert not parts(client.get("/skills/docs/loaded/1.0.0/"), "module")
    assert api("GET", "skills/docs/loaded/versions/1.0.0")[1]["modules"] == []


def test_scripts_called_with_arguments_are_not_loaded(published):
    published({"scripts/main.py": b"raise SystemExit(1)\n"})
    assert not ModuleLoad.objects.exists()
