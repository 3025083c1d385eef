"""A library that a maintainer added is installed, imported by runs, and stops warnings about it."""

from __future__ import annotations

import json

import pytest

from registry.identity.actors import Actor
from registry.models import Version
from registry.versions.needs.change_additions import set_additions
from registry.versions.publishing.version_rows import load_problems
from tests.factories.skills import publish_files
from tests.servers.package_index import PackageIndex, wheel
from tests.skipping import require_network
from worker.attempts.recording import read_stream_ends
from worker.dependencies import build
from worker.models import RunStatus
from worker.module_loads import load_modules
from worker.service.inline import execute_here

pytestmark = [pytest.mark.row("A8", "C6"), pytest.mark.django_db(transaction=True)]
SKILL_MD = b"---\nname: tables\ndescription: For tests.\nversion: 1.0.0\n---\n# Tables\n"
FILES = {
    "SKILL.md": SKILL_MD,
    "scripts/a.py": b"import json, pypdf\nprint(json.dumps(pypdf.__file__))\n",
    "scripts/execute.py": b"import pypdf\ndef execute(parameters): ...\n",
}
LIBRARY = ("library", "pypdf")


@pytest.fixture
def index(settings):
    require_network()
    with PackageIndex.serving(settings) as index:
        index.add("pypdf", wheel("pypdf"))
        settings.SKILLQUAY_PYTHON_INDEX = index.url
        yield index


def _codes(version):
    return [each.code for each in load_problems(Version.objects.get(pk=version.pk))]


def test_added_library_is_installed_and_its_warning_ends(index, team, alice, queue_run):
    version = publish_files(FILES, team=team, user=alice)
    load_modules.load_waiting()
    assert _codes(version) == ["LOADED_MODULE_MISSING"]
    run = execute_here(queue_run(version, script="a"))
    assert (run.status, run.failure_code) == (RunStatus.FAILED, "MODULE_MISSING")

    version = set_additions(version, [LIBRARY], Actor(user=alice))
    build.build_waiting()
    load_modules.load_waiting()
    assert _codes(version) == []
    run = execute_here(queue_run(version, script="a"))
    assert run.status == RunStatus.SUCCEEDED, (run.failure_code, run.result)
    assert json.loads(read_stream_ends(run, max_bytes=1000)[0]) == "/deps/pypdf.py"

    version = set_additions(version, [], Actor(user=alice))
    load_modules.load_waiting()
    assert _codes(version) == ["LOADED_MODULE_MISSING"]
