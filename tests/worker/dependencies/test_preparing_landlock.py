"""Tier C prepares too: each installer asks the worker, over sockets that are none, and nobody else."""

from __future__ import annotations

import json

import pytest

from registry.identity.actors import Actor
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish
from tests.servers.package_index import PackageIndex, integrity, wheel
from worker.dependencies import build
from worker.models import DependencyBuild
from worker.sandbox.site_settings import SandboxSettings
from worker.sandbox.tiers import available
from worker.service.inline import execute_here

pytestmark = [
    pytest.mark.matrix(at_most=1),
    pytest.mark.row("C6", "P9"),
    pytest.mark.django_db(transaction=True),
]

PYTHON = b"import json, cheerful\nprint(json.dumps({'said': cheerful.say()}))\n"
NODE = b"console.log(JSON.stringify({ said: require('smile') }))\n"
TYPESCRIPT = b'import smile from "npm:smile@1";\nconsole.log(JSON.stringify({ said: smile }));\n'


@pytest.fixture
def index(settings):
    report = next(tier for tier in available.usable_tiers(SandboxSettings()) if tier.name == "landlock")
    if not report.usable:
        pytest.skip(f"landlock: {report.reason}")
    with PackageIndex.serving(settings) as index:
        index.add(
            "cheerful",
            wheel("cheerful", files={"cheerful.py": "import grin\nsay = lambda: grin.FACE"}, needs=["grin"]),
        )
        index.add("grin", wheel("grin", files={"grin.py": "FACE = ':-)'\n"}))
        index.npm("smile", {"index.js": "module.exports = ':-)'"})
        settings.SKILLQUAY_SANDBOX = settings.SKILLQUAY_SANDBOX_MINIMUM = "landlock"
        settings.SKILLQUAY_PYTHON_INDEX, settings.SKILLQUAY_NPM_REGISTRY = index.url, f"{index.root}/npm"
        yield index


def _lock(index):
    entry = {"version": "1.0.0", "integrity": integrity(index.files["/npm/smile/-/smile-1.0.0.tgz"])}
    return {"lockfileVersion": 3, "packages": {"": {}, "node_modules/smile": entry}}


@pytest.mark.parametrize(
    ("script", "content"),
    [("say.py", PYTHON), ("say.js", NODE), ("say.ts", TYPESCRIPT)],
    ids=["py", "js", "ts"],
)
def test_a_script_runs_with_what_it_names(index, team, alice, queue_run, script, content):
    head = b"---\nname: say\ndescription: For tests.\nversion: 1.0.0\n---\n# Say\n"
    more = {
        "say.py": [("requirements.txt", b"cheerful\n")],
        "say.js": [
            ("package.json", json.dumps({"name": "x", "dependencies": {"smile": "^1.0.0"}}).encode()),
            ("package-lock.json", json.dumps(_lock(index)).encode()),
        ],
        "say.ts": [],
    }[script]
    package = read_files([("SKILL.md", head), (f"scripts/{script}", content), *more])
    version = publish(package, team=team, actor=Actor(user=alice), visibility="private").version
    assert build.build_waiting() == 1
    row = DependencyBuild.objects.get()
    assert row.state == "ready", (row.problem, row.log)
    index.stop()
    run = execute_here(queue_run(version))
    assert run.result["outputs"] == {"said": ":-)"}, (run.failure_code, run.message)
    assert run.sandbox["tier"] == "landlock"
