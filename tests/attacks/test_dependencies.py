"""Packages that name hostile dependencies: refused by the index's keeper, by hashes, or contained."""

from __future__ import annotations

import io
import json
import tarfile
import time

import pytest

from registry.identity.actors import Actor
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish
from tests.servers.package_index import PackageIndex, wheel
from tests.skipping import require_network
from worker.attempts.recording import read_stream_ends
from worker.dependencies import build
from worker.dependencies.store import unpack_archive
from worker.models import DependencyBuild
from worker.protocols.call import Request
from worker.service.inline import request_and_execute

pytestmark = [
    pytest.mark.matrix(at_most=3),
    pytest.mark.slow("runs hostile scripts in a sandbox"),
    pytest.mark.attack,
    pytest.mark.row("C6"),
    pytest.mark.django_db(transaction=True),
]

SCRIPT = b"""import builtins, evil, json, os
print(json.dumps([hasattr(builtins, 'OWNED'), os.path.exists('/job/output/owned')]))
"""
OWN = "open('/job/output/owned', 'w').write('x'); import builtins; builtins.OWNED = True\n"


@pytest.fixture
def index(settings):
    require_network()
    with PackageIndex.serving(settings) as index:
        settings.SKILLQUAY_PYTHON_INDEX = index.url
        yield index


@pytest.fixture
def prepared(index, team, alice):
    """``prepared(wheel or None)``: the preparation of a skill that asks for the package evil."""

    def prepared(data=None, *, named="evil"):
        if data is not None:
            index.add("evil", data)
        head = b"---\nname: victim\ndescription: For tests.\nversion: 1.0.0\n---\n# Victim\n"
        files = [("SKILL.md", head), ("scripts/victim.py", SCRIPT), ("requirements.txt", named.encode())]
        publish(read_files(files), team=team, actor=Actor(user=alice), visibility="private")
        build.build_waiting()
        return DependencyBuild.objects.get()

    return prepared


def test_setup_code_of_a_source_archive_never_runs(index, prepared, tmp_path):
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for name, text in (
            ("setup.py", f"open({str(tmp_path / 'owned')!r}, 'w')\n" + OWN),
            ("PKG-INFO", "x"),
        ):
            member = tarfile.TarInfo(f"evil-1.0.0/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    index.add("evil", held.getvalue(), "evil-1.0.0.tar.gz")
    row = prepared()
    assert (row.state, row.problem["code"]) == ("failed", "DEPENDENCIES_FAILED")
    assert "/files/evil-1.0.0.tar.gz" not in {path for path, _ in index.requests}
    assert not (tmp_path / "owned").exists()


def test_a_page_cannot_slip_in_a_wheel_of_another_package(index, prepared):
    index.add("evil", wheel("other"), "other-9.9.9-py3-none-any.whl")
    row = prepared()
    assert row.problem["code"] == "DEPENDENCIES_FAILED"
    assert not any(path.startswith("/files/") for path, _ in index.requests)


def test_a_dependency_that_names_an_address_is_not_fetched(index, prepared):
    row = prepared(wheel("evil", needs=[f"more @ {index.url}/../files/more-1.0.0-py3-none-any.whl"]))
    assert row.state == "failed"
    assert not any("more-" in path for path, _ in index.requests)


@pytest.mark.parametrize("path", ["../../../../escaped.py", "/job/escaped.py", "evil/../../../escaped.py"])
def test_a_path_that_leads_out_of_a_wheel_writes_nothing_outside(prepared, path):
    row = prepared(wheel("evil", more=[(path, "x")]))
    if row.state == "ready":
        assert [name for name in _names(row) if "escaped" in name and "/" not in name] == []
    else:
        assert row.problem["code"] == "DEPENDENCIES_FAILED"


def test_a_wheel_that_swells_is_cut_at_its_limit(prepared, settings):
    settings.SKILLQUAY_DEPENDENCIES_MB = 4
    row = prepared(wheel("evil", files={"evil.py": "#" * (40 << 20)}))
    assert (row.state, row.problem["code"]) == ("failed", "DEPENDENCIES_TOO_LARGE"), row.log


def test_too_many_files_are_refused(prepared, settings):
    settings.SKILLQUAY_DEPENDENCIES_FILES = 20
    row = prepared(wheel("evil", files={f"evil/m{number}.py": "" for number in range(30)}))
    assert row.problem["code"] == "DEPENDENCIES_TOO_LARGE", row.log


def test_an_index_that_never_ends_its_answer_is_cut(index, prepared, settings):
    settings.SKILLQUAY_DEPENDENCIES_SECONDS = 5
    index.files["/simple/evil/"] = b""
    index.pause = 30
    begun = time.monotonic()
    row = prepared()
    assert row.problem["code"] in ("DEPENDENCIES_SLOW", "DEPENDENCIES_OFFLINE")
    assert time.monotonic() - begun < 25


def test_path_files_and_programs_of_a_wheel_do_nothing(prepared, alice):
    files = {"evil.py": "X = 1\n", "evil.pth": f"import os; {OWN}"}
    more = [("evil-1.0.0.data/scripts/python", "#!/bin/sh\ntouch /job/owned\n")]
    row = prepared(wheel("evil", files=files, more=more))
    assert row.state == "ready", row.log
    version = row.versions.get()
    run = request_and_execute(actor=Actor(user=alice), version=version, request=Request(inputs={}))
    assert json.loads(read_stream_ends(run)[0]) == [False, False]
    assert all(
        file.stat().st_mode & 0o133 == 0 for file in unpack_archive(row.digest).rglob("*") if file.is_file()
    )


def test_other_bytes_than_the_lock_says_are_refused(index, prepared):
    row = prepared(wheel("evil"))
    assert row.state == "ready", row.log
    DependencyBuild.objects.update(state="waiting", digest="", attempt=0)
    index.add("evil", wheel("evil", files={"evil.py": OWN}))
    build.build_waiting()
    row.refresh_from_db()
    assert (row.state, row.problem["code"]) == ("failed", "DEPENDENCIES_CHANGED"), row.log


def _names(row):
    folder = unpack_archive(row.digest)
    return [str(file.relative_to(folder)) for file in folder.rglob("*")]
