"""Runtimes: pinned libraries that are built once, and joined with a package's own requirements."""

from __future__ import annotations

import hashlib
import io
import json
import os

import pytest
from django.core.management import call_command

from registry.identity.actors import Actor
from tests.pages import part
from tests.servers.package_index import PackageIndex, wheel
from tests.skipping import require_network
from worker.attempts.recording import read_stream_ends
from worker.dependencies import build, store
from worker.dependencies.needs import runtime_keys
from worker.dependencies.runtimes import lists
from worker.dependencies.runtimes.lists import NAMES, runtime_list
from worker.dependencies.runtimes.python_plan import plan_python
from worker.dependencies.status import dependencies_document
from worker.models import DependencyBuild, RunStatus
from worker.service.inline import execute_here

pytestmark = [pytest.mark.row("C6"), pytest.mark.django_db(transaction=True)]

WEB = ("requests", "beautifulsoup4", "lxml", "soupsieve")
SCRIPT = "import json, requests, soupsieve\nprint(json.dumps([requests.__file__, soupsieve.VERSION]))\n"
OWN = '# /// script\n# dependencies = ["cheerful", "soupsieve<2"]\n# ///\nimport cheerful\n' + SCRIPT


@pytest.fixture
def index(settings, monkeypatch, tmp_path):
    """An index with the libraries of the runtime ``web``, and a list that pins version 2.0.0 of each."""
    require_network()
    with PackageIndex.serving(settings) as index:
        pins = []
        for name in WEB:
            needs = ["soupsieve"] if name == "beautifulsoup4" else []
            for version in ("1.0.0", "2.0.0", "3.0.0"):
                data = wheel(name, version, needs=needs)
                index.add(name, data, version=version)
                if version == "2.0.0":
                    digest = hashlib.sha256(data).hexdigest()
                    pins.append(
                        f"{name}==2.0.0 \\\n    --hash=sha256:{'0' * 64} \\\n    --hash=sha256:{digest}\n"
                    )
        index.add("cheerful", wheel("cheerful"))
        (tmp_path / "web.txt").write_text("".join(pins))
        monkeypatch.setattr(lists, "FOLDER", tmp_path)
        monkeypatch.setattr("worker.dependencies.needs.NAMES", ("web",))
        settings.SKILLQUAY_PYTHON_INDEX = index.url
        yield index


def _built(*words):
    out = io.StringIO()
    try:
        call_command("build_runtime", *words, "--json", stdout=out)
    except SystemExit:
        return False, json.loads(out.getvalue())
    return True, json.loads(out.getvalue())


def _answer(run):
    assert run.status == RunStatus.SUCCEEDED, (run.failure_code, run.message, run.result)
    return json.loads(read_stream_ends(run, max_bytes=10_000)[0])


def test_built_runtime_serves_runs_without_an_index(index, publish_skill, queue_run, settings):
    ok, document = _built("web")
    assert (ok, document["state"]) == (True, "ready"), document
    assert {(each["name"], each["version"]) for each in document["packages"]} == {
        (name, "2.0.0") for name in WEB
    }
    store.sweep()
    assert DependencyBuild.objects.get().key in runtime_keys()
    settings.SKILLQUAY_PYTHON_INDEX = ""
    version = publish_skill(script=SCRIPT, front="runtime: web\n")
    assert _answer(execute_here(queue_run(version))) == ["/deps/requests.py", "2.0.0"]
    assert DependencyBuild.objects.count() == 1


def test_runtime_is_joined_with_the_requirements_of_the_package(index, publish_skill, queue_run, alice):
    version = publish_skill(script=OWN, front="runtime: web\n")
    assert _answer(execute_here(queue_run(version))) == ["/deps/requests.py", "1.0.0"]
    [row] = dependencies_document(version, Actor(user=alice))["builds"]
    versions = {each["name"]: each["version"] for each in row["packages"]}
    assert versions == dict.fromkeys(WEB, "2.0.0") | {"cheerful": "1.0.0", "soupsieve": "1.0.0"}


@pytest.mark.parametrize("script", [SCRIPT, OWN])
def test_file_that_the_list_does_not_have_is_refused(index, publish_skill, script):
    index.add("lxml", wheel("lxml", "2.0.0", files={"lxml.py": "EVIL = 1\n"}), version="2.0.0")
    publish_skill(script=script, front="runtime: web\n")
    build.build_waiting()
    row = DependencyBuild.objects.get()
    assert (row.state, row.problem["code"]) == ("failed", "DEPENDENCIES_CHANGED"), row.log


def test_without_a_runtime_nothing_is_joined(publish_skill):
    publish_skill(script=OWN)
    assert json.loads(DependencyBuild.objects.get().spec).keys() == {"requirements", "requires_python"}


def test_folder_of_the_administrator_goes_first(settings, tmp_path, publish_skill):
    settings.SKILLQUAY_RUNTIMES = {"web": str(tmp_path)}
    publish_skill(script=SCRIPT, front="runtime: web\n")
    assert not DependencyBuild.objects.exists()
    assert _built("web") == (True, {"name": "web", "state": "folder"})


def test_unknown_runtime_names_the_available_ones(publish_skill, queue_run):
    run = execute_here(queue_run(publish_skill(front="runtime: absent\n")))
    assert (run.status, run.failure_code) == (RunStatus.REFUSED, "RUNTIME_UNKNOWN")
    assert "data, office, tools, web" in run.result["error"]["details"]["remedy"]


def test_page_shows_a_built_runtime_as_known(publish_skill, client, alice):
    version = publish_skill(front="runtime: tools\n")
    client.force_login(alice)
    shown = part(client.get(f"/skills/{version.skill}/"), "runtime")
    assert (shown["value"], shown["state"]) == ("tools", "known")


def test_missing_programs_are_listed_with_their_package(monkeypatch, tmp_path):
    (tmp_path / "jq").write_text("#!/bin/sh\n")
    (tmp_path / "jq").chmod(0o755)
    monkeypatch.setattr(lists, "_PROGRAM_PATH", str(tmp_path))
    ok, document = _built("tools")
    assert not ok
    assert document["missing_programs"] == ["sqlite3", "ffmpeg", "git", "curl"]
    out = io.StringIO()
    with pytest.raises(SystemExit):
        call_command("build_runtime", "tools", stdout=out)
    assert "apt-get install --no-install-recommends sqlite3 ffmpeg git curl" in out.getvalue()


@pytest.mark.parametrize("name", NAMES)
def test_every_library_is_pinned_with_hashes(name):
    runtime = runtime_list(name)
    assert runtime is not None
    assert {*runtime.libraries} <= {*runtime.pins}
    assert all(pin.hashes for pin in runtime.pins.values())
    assert bool(runtime.digest) == bool(runtime.libraries)


def test_own_hashes_are_joined_with_the_hashes_of_the_runtime():
    web = runtime_list("web")
    assert web is not None
    own = f"cheerful==1.0.0 --hash=sha256:{'a' * 64}"
    plan = plan_python([own], web)
    assert plan.requirements[0] == own
    assert len(plan.requirements) == 1 + len(web.pins)
    assert plan.constraints == ()
    assert all("--hash=" in line for line in plan.requirements)


def test_script_sees_the_fonts_of_the_worker(publish_skill, queue_run):
    script = "import json, os\nprint(json.dumps(sorted(os.listdir('/etc'))))\n"
    shown = _answer(execute_here(queue_run(publish_skill(script=script))))
    for name in ("fonts", "libreoffice"):
        assert (name in shown) == os.path.exists(f"/etc/{name}")
    assert "shadow" not in shown
