"""Wheels and indexes that lie: nothing goes before what Python brings, and what cannot be read is refused."""

from __future__ import annotations

import contextlib
import json

import pytest

from registry.identity.actors import Actor
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish
from tests.servers.package_index import PackageIndex, wheel
from worker.dependencies import build
from worker.dependencies.installers.package_index import PythonIndex, Source
from worker.dependencies.store import unpack_archive
from worker.models import DependencyBuild
from worker.protocols.call import Request
from worker.sandbox.tiers import available
from worker.service.inline import request_and_execute

pytestmark = [
    pytest.mark.matrix(at_most=4),
    pytest.mark.slow("runs hostile scripts in a sandbox"),
    pytest.mark.attack,
    pytest.mark.row("C6"),
    pytest.mark.django_db(transaction=True),
]

SCRIPT = b"""import builtins, evil, json, pathlib, typing
print(json.dumps({'owned': hasattr(builtins, 'OWNED'), 'files': [pathlib.__file__, evil.__file__]}))
"""
OWN = "import builtins; builtins.OWNED = True\n"
LIKE_PYTHON_S = ("json.py", "pathlib.py", "typing/__init__.py", "sitecustomize.py", "usercustomize.py")


@pytest.fixture
def index(settings):
    if not {"bwrap", "nsrun"} & {tier.name for tier in available.usable_tiers() if tier.usable}:
        pytest.skip("no tier of this machine has a network of its own")
    index = PackageIndex()
    settings.SKILLQUAY_PYTHON_INDEX = index.url
    settings.SKILLQUAY_OUTBOUND_ALLOW = ["127.0.0.1"]
    settings.SKILLQUAY_DEPENDENCIES_SECONDS = 60
    yield index
    index.stop()


@pytest.fixture
def prepared(index, team, alice):
    """``prepared(wheel or None)``: the preparation of a skill that asks for the package evil."""

    def prepared(data=None):
        if data is not None:
            index.add("evil", data)
        head = b"---\nname: victim\ndescription: For tests.\nversion: 1.0.0\n---\n# Victim\n"
        files = [("SKILL.md", head), ("scripts/victim.py", SCRIPT), ("requirements.txt", b"evil")]
        publish(read_files(files), team=team, actor=Actor(user=alice), visibility="private")
        build.build_waiting()
        return DependencyBuild.objects.get()

    return prepared


def test_what_is_named_like_a_module_of_python_s_own_takes_no_place_of_it(prepared, alice):
    row = prepared(wheel("evil", files={"evil.py": "X = 1\n", **dict.fromkeys(LIKE_PYTHON_S, OWN)}))
    assert row.state == "ready", row.log
    run = request_and_execute(actor=Actor(user=alice), version=row.versions.get(), request=Request(inputs={}))
    said = run.result["outputs"]
    assert not said["owned"]
    assert "/deps/" not in said["files"][0]
    assert said["files"][1] == "/deps/evil.py"
    kept = {path.name for path in unpack_archive(row.digest).iterdir()}
    assert "evil-1.0.0.dist-info" in kept
    assert not kept & {path.partition("/")[0] for path in LIKE_PYTHON_S}


def test_metadata_of_another_name_is_refused(prepared):
    row = prepared(wheel("other", files={"evil.py": "X = 1\n"}))
    assert (row.state, row.problem["code"]) == ("failed", "DEPENDENCIES_FAILED"), row.log


def test_an_index_that_gives_other_bytes_after_the_lock_was_made_is_refused(index, prepared):
    class Changing(dict):
        """Gives the second bytes of a wheel from the second time on."""

        requests = 0

        def get(self, path, default=None):
            self.requests += path.endswith(".whl")
            return second if self.requests > 1 and path.endswith(".whl") else super().get(path, default)

    second = wheel("evil", files={"evil.py": OWN})
    index.add("evil", wheel("evil"))
    index.files = Changing(index.files)
    row = prepared()
    assert (row.state, row.problem["code"]) == ("failed", "DEPENDENCIES_CHANGED"), row.log


def test_an_index_that_wants_credentials_is_said_to_answer_so(index, prepared, monkeypatch):
    def forbids(_source, _path, _accept):
        return Answer(401)

    monkeypatch.setattr(Source, "page", forbids)
    row = prepared()
    assert row.problem["code"] == "DEPENDENCIES_OFFLINE", row.log
    assert "401" in row.problem["params"]["reason"]


def test_an_index_that_drips_is_left_at_the_limit_and_nothing_is_logged_as_our_failure(
    index, prepared, settings, caplog
):
    settings.SKILLQUAY_DEPENDENCIES_SECONDS = 5
    answers = index.server.RequestHandlerClass
    usual = answers.do_GET

    def drips(self):
        if not self.path.endswith(".whl"):
            return usual(self)
        self.send_response(200)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        with contextlib.suppress(OSError):
            while not index.stopping.wait(0.2):
                self.wfile.write(b"x")
        return None

    answers.do_GET = drips
    row = prepared(wheel("evil"))
    assert row.problem["code"] in ("DEPENDENCIES_SLOW", "DEPENDENCIES_OFFLINE"), row.log
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_an_index_at_an_inner_address_is_told_by_the_setting_that_lets_it(index, prepared, settings):
    settings.SKILLQUAY_OUTBOUND_ALLOW = []
    settings.SKILLQUAY_PYTHON_INDEX = index.url.replace("http:", "https:")
    row = prepared()
    assert row.problem["code"] == "DEPENDENCIES_OFFLINE", row.log
    assert "SKILLQUAY_OUTBOUND_ALLOW" in row.problem["params"]["reason"]


class Answer:
    url = "https://index.example/simple/evil/"

    def __init__(self, status, body=b"", kind="text/html"):
        self.status, self.body, self.headers = status, body, {"content-type": kind}


JSON_PAGES = [
    b'{"files": 5}',
    b'{"files": [5, {"url": 5}]}',
    b"[]",
    b'{"files": [{"url": "http://[x", "filename": "evil-1.0.0-py3-none-any.whl"}]}',
    b"[" * 200_000,
    b"\xff\xfe",
]
HTML_PAGES = [b'<a href="http://[">x</a>', b"<!DOCTYPE [<!", b"<![CDATA[", b'<a href="x" ' * 1000]


@pytest.mark.parametrize(
    ("body", "kind"),
    [(body, "application/json") for body in JSON_PAGES] + [(body, "text/html") for body in HTML_PAGES],
)
def test_a_page_that_cannot_be_read_is_a_page_without_files(monkeypatch, body, kind):
    monkeypatch.setattr(Source, "page", lambda *_asked: Answer(200, body, kind))
    reply = PythonIndex(Source("https://index.example/simple/", 1, 1)).answer("/simple/evil/")
    assert json.loads(b"".join(reply.body))["files"] == []
