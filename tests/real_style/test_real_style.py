"""Packages as authors write them run from page, API and command, and give their artifacts."""

from __future__ import annotations

import io
import json
import shutil
from contextlib import ExitStack, suppress

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from registry.storage import blobs
from tests.factories.skills import publish_files
from tests.pages import field_names, part, parts
from tests.real_style.libraries import add_libraries
from tests.real_style.packages import real_style_packages
from tests.servers.package_index import PackageIndex
from tests.skipping import require_network
from worker.models import Run
from worker.service.inline import execute_here

pytestmark = [pytest.mark.row("A1", "A2", "A5", "A7", "C6", "C8", "P5", "P9", "P10", "P11")]
PACKAGES = {package.name: package for package in real_style_packages()}
_PROGRAM_PATH = "/usr/local/bin:/usr/bin:/bin"  # as in the sandbox


@pytest.fixture(autouse=True)
def no_worker(monkeypatch):
    monkeypatch.setattr("worker.runs.request.wake", lambda: True)


@pytest.fixture
def published(team, alice, settings):
    """``published(package)``: its version; starts the local index for packages that need it."""
    with ExitStack() as stack:

        def publish(package):
            if absent := [name for name in package.programs if not shutil.which(name, path=_PROGRAM_PATH)]:
                pytest.skip(f"this machine lacks {', '.join(absent)}")
            if package.index:
                require_network()
                index = stack.enter_context(PackageIndex.serving(settings))
                add_libraries(index)
                settings.SKILLQUAY_PYTHON_INDEX = index.url
                settings.SKILLQUAY_NPM_REGISTRY = f"{index.root}/npm"
                settings.SKILLQUAY_JSR_URL = f"{index.root}/jsr/"
            return publish_files(package.contents(), team=team, user=alice, visibility="private")

        yield publish


@pytest.mark.matrix("name", at_most=8)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.django_db(transaction=package.index))
        for name, package in PACKAGES.items()
    ],
)
def test_package_gives_its_artifacts_from_page_api_and_command(name, published, alice, tmp_path):
    package = PACKAGES[name]
    skill = published(package).skill
    client = Client()
    client.force_login(alice)
    for start in (_post_form, _post_api, _call_command):
        run = start(package, skill, client, tmp_path)
        assert run.status == "succeeded", (start.__name__, run.failure_code, run.message, run.cause)
        found = {each.path: blobs.read(each.digest).decode() for each in run.artifacts.all()}
        assert found == package.artifacts, start.__name__


def _post_form(package, skill, client, _folder):
    address = f"/skills/{skill}/run/"
    version = skill.versions.get()
    chosen = {"version": version.number, "script": package.script, "form_token": "x" * 26}
    if package.command:
        chosen["command"] = package.command
    page = client.post(address, {**chosen, "show_fields": "1"})
    values = {**chosen, "stdin": package.stdin}
    if package.line is None:
        names = field_names(page)
        for label, value in (package.form or {}).items():
            values |= _field_values(_field_name(label, names), value, package)
    else:
        assert not parts(page, "exclusive")
        uploads = [_upload(name, package) for name in package.uploads]
        values |= {"arguments": package.line, "argument_files": uploads}
        for number, (key, value) in enumerate(package.inputs.items()):
            values |= {f"key-{number}": key, f"value-{number}-text": value}
    answer = client.post(address, values)
    assert answer.status_code == 302, part(answer, "errors").text
    return execute_here(Run.objects.latest("pk"))


def _field_name(label, names):
    option, _space, part = label.partition(" ")
    assert option in names, names
    return f"{names[option]}-{part}" if part else names[option]


def _field_values(name, value, package):
    match value:
        case {"file": upload}:
            return {f"{name}-file": _upload(upload, package)}
        case {"files": uploads}:
            return {f"{name}-files": [_upload(each, package) for each in uploads]}
        case _:
            return {name: value, f"{name}-text": value}  # the field may accept a file too


def _upload(name, package):
    return SimpleUploadedFile(name, package.uploads[name].encode())


def _post_api(package, skill, client, _folder):
    ids = {}
    for name in package.uploads:
        sent = client.post("/api/v1/inputs", {"file": _upload(name, package)})
        ids[name] = sent.json()["reference"]
    arguments = [ids[each["file"]] if isinstance(each, dict) else each for each in package.arguments]
    body = {"skill": str(skill), "arguments": arguments, "inputs": package.inputs}
    body |= {name: value for name in ("script", "stdin") if (value := getattr(package, name))}
    answer = client.post("/api/v1/runs", body, content_type="application/json")
    assert answer.status_code == 202, answer.content
    return execute_here(Run.objects.get(uid=answer.json()["id"]))


def _call_command(package, skill, _client, folder):
    arguments = [each["file"] if isinstance(each, dict) else each for each in package.arguments]
    words = ["--arguments", json.dumps(arguments), "--input", json.dumps(package.inputs)]
    for name, text in package.uploads.items():
        (folder / name).write_text(text)
        words += ["--file", f"{name}={folder / name}"]
    for name in ("script", "stdin"):
        if value := getattr(package, name):
            words += [f"--{name}", value]
    out = io.StringIO()
    with suppress(SystemExit):
        call_command("run_skill", str(skill), *words, "--here", "--json", "--as", "alice", stdout=out)
    return Run.objects.get(uid=json.loads(out.getvalue())["id"])
