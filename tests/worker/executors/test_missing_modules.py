"""A script whose unguarded import is missing fails before it starts."""

from __future__ import annotations

import pytest

from registry.models import EntryNeeds
from registry.packages.problems import code_named
from tests.factories.skills import publish_files
from worker.attempts.context import RuntimeEnvironment
from worker.attempts.missing_modules import missing_module
from worker.attempts.unpacking import open_package
from worker.protocols.call import Call
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("A8")]

HEAD = b"---\nname: failing\ndescription: For tests.\nversion: 1.0.0\n---\n# Failing\n"
SCRIPT = b"print('started', flush=True)\n\nimport json, absent_library\n"


@pytest.fixture
def publish_script(team, alice):
    def publish(script=SCRIPT, **files):
        others = {f"scripts/{name}": data for name, data in files.items()}
        package = {"SKILL.md": HEAD, "scripts/a.py": script, **others}
        return publish_files(package, team=team, user=alice)

    return publish


def find_missing(version, runtime=None, entry="scripts/a.py", protocol="script"):
    call = Call(protocol, entry, ("python3", entry))
    package = open_package(version.digest)
    return missing_module(package, version.digest, call, runtime or RuntimeEnvironment())


def test_script_without_its_module_does_not_start(publish_script, queue_run):
    run = execute_here(queue_run(publish_script()))
    assert (run.status, run.failure_code) == ("failed", "MODULE_MISSING")
    assert (run.cause["file"], run.cause["line"]) == ("scripts/a.py", 3)
    assert "absent_library" in run.cause["message"]
    assert run.result["error"]["details"]["remedy"] == code_named("MODULE_MISSING").remedy
    assert run.exit_code is None
    assert run.sandbox == {}


def test_guarded_import_lets_the_script_start(publish_script, queue_run):
    script = b"try:\n    import absent_library\nexcept ImportError:\n    print('without')\n"
    run = execute_here(queue_run(publish_script(script)))
    assert run.status == "succeeded", run.cause


def test_installed_module_is_found(publish_script, tmp_path):
    version = publish_script()
    runtime = RuntimeEnvironment({"/deps": tmp_path})
    assert find_missing(version, runtime) is not None
    (tmp_path / "absent_library.cpython-311-x86_64-linux-gnu.so").touch()
    assert find_missing(version, runtime) is None


def test_module_of_any_folder_of_the_package_lets_the_script_start(publish_script):
    script = b"import helper_package\nprint(1)\n"
    version = publish_script(script, **{"lib/helper_package/x.txt": b""})
    assert find_missing(version) is None


@pytest.mark.parametrize("protocol", ["stdin_json", "execute", "abp"])
def test_only_scripts_called_with_arguments_are_checked(publish_script, protocol):
    version = publish_script()
    assert find_missing(version) is not None
    assert find_missing(version, protocol=protocol) is None


def test_runtime_folder_or_missing_isolation_lets_the_script_start(publish_script, settings, tmp_path):
    version = publish_script()
    assert find_missing(version, RuntimeEnvironment({"/runtime": tmp_path})) is None
    settings.SKILLQUAY_SANDBOX = "unsafe"
    assert find_missing(version) is None


def test_version_without_stored_needs_starts(publish_script):
    version = publish_script()
    EntryNeeds.objects.all().delete()
    assert find_missing(version) is None
