"""The npm protocol: packuments, tarballs that npm accepts, and errors that it prints."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile

import pytest
from django.test import Client
from django.utils import timezone

from registry.canonical.pins import set_canonical
from registry.models import Use, Visibility
from registry.versions.lifecycle.channels import set_channel
from registry.versions.lifecycle.yank import yank
from tests.factories.skills import publish_files, tidy_files
from tests.registry.facades.conftest import HOST, get, show

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7")]
NAME = "@docs/weekly-report"
PACKAGE_JSON = {
    "name": "other",
    "version": "9.9.9",
    "type": "module",
    "dependencies": {"yaml": "^2.0.0"},
    "scripts": {"postinstall": "echo executed"},
    "bin": {"x": "x.js"},
}


def packument(name=NAME, **more):
    return get(f"/npm/{name}", **more).json()


def unpacked(data):
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        files = ((entry.name, archive.extractfile(entry)) for entry in archive.getmembers())
        return {name: file.read() for name, file in files if file}


def test_packument_names_a_tarball_with_the_digests_that_npm_checks(report, settings):
    settings.SKILLQUAY_PUBLIC_URL = HOST
    document = packument("@docs%2fweekly-report")
    assert (document["name"], document["dist-tags"]) == (NAME, {"latest": "1.2.0"})
    dist = document["versions"]["1.2.0"]["dist"]
    data = get(dist["tarball"]).getvalue()
    assert dist["integrity"] == "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
    assert dist["shasum"] == hashlib.sha1(data).hexdigest()
    files = unpacked(data)
    own = json.loads(files.pop("package/package.json"))
    assert (own["name"], own["version"], own["license"]) == (NAME, "1.2.0", "MIT")
    assert files == {f"package/{path}": content for path, content in tidy_files().items()}


def test_tarball_is_the_same_each_time(report):
    path = f"/npm/{NAME}/-/weekly-report-1.2.0.tgz"
    first, second = get(path), get(path)
    assert first.getvalue() == second.getvalue()
    get(path, status=304, **{"If-None-Match": first["ETag"]})
    head = Client().head(path)
    head.close()
    assert head["ETag"] == first["ETag"]


def test_authors_package_json_keeps_what_scripts_need_and_nothing_that_npm_executes(team, alice):
    files = tidy_files() | {"package.json": json.dumps(PACKAGE_JSON).encode()}
    show(publish_files(files, team=team, user=alice))
    data = get(f"/npm/{NAME}/-/weekly-report-1.2.0.tgz").getvalue()
    own = json.loads(unpacked(data)["package/package.json"])
    listed = packument()["versions"]["1.2.0"]
    for found in (own, listed):
        assert (found["name"], found["version"], found["type"]) == (NAME, "1.2.0", "module")
        assert found["dependencies"] == {"yaml": "^2.0.0"}
        assert not {"scripts", "bin"} & set(found)


def test_channels_are_tags_and_yanked_versions_are_deprecated(report, team, alice, actor_of):
    newer = publish_files(tidy_files("1.3.0"), team=team, user=alice)
    set_channel("stable", report, actor_of(alice))
    document = packument()
    assert document["dist-tags"] == {"latest": "1.3.0", "stable": "1.2.0"}
    yank(newer, actor_of(alice), reason="Wrong figures.")
    document = packument()
    assert document["dist-tags"]["latest"] == "1.2.0"
    assert document["versions"]["1.3.0"]["deprecated"] == "Wrong figures."
    assert "deprecated" not in document["versions"]["1.2.0"]


def test_held_version_is_absent_for_its_team_too(report, team, alice, secret_of):
    held = publish_files(tidy_files("1.3.0"), team=team, user=alice)
    type(held).objects.filter(pk=held.pk).update(held_at=timezone.now())
    member = {"Authorization": f"Bearer {secret_of(alice)}"}
    assert list(packument(**member)["versions"]) == ["1.2.0"]
    get(f"/npm/{NAME}/-/weekly-report-1.3.0.tgz", status=404, **member)


def test_canonical_skill_has_a_scope_of_its_own(report, team, alice, root):
    set_canonical("weekly-report", report, root, reason="Best one.")
    publish_files(tidy_files("1.3.0"), team=team, user=alice)
    document = packument("@canonical/weekly-report")
    assert document["dist-tags"] == {"latest": "1.2.0"}
    assert list(document["versions"]) == ["1.2.0"]
    data = get("/npm/@canonical/weekly-report/-/weekly-report-1.2.0.tgz").getvalue()
    assert json.loads(unpacked(data)["package/package.json"])["name"] == "@canonical/weekly-report"
    get("/npm/@canonical/weekly-report/-/weekly-report-1.3.0.tgz", status=404)


@pytest.mark.row("P2")
def test_private_package_is_there_for_a_token_of_its_team_only(report, alice, charlie, secret_of):
    show(report, Visibility.PRIVATE)
    tarball = f"/npm/{NAME}/-/weekly-report-1.2.0.tgz"
    stranger = {"Authorization": f"Bearer {secret_of(charlie)}"}
    for headers in ({}, stranger):
        absent = get("/npm/@docs/weekly-other", status=404, **headers).json()
        private = get(f"/npm/{NAME}", status=404, **headers).json()
        assert private["error"].replace("weekly-report", "weekly-other") == absent["error"]
        get(tarball, status=404, **headers)
        assert get("/npm/-/v1/search?text=weekly+report", **headers).json()["objects"] == []
    member = {"Authorization": f"Bearer {secret_of(alice)}"}
    assert packument(**member)["name"] == NAME
    get(tarball, **member).close()


def test_only_a_tarball_counts_as_an_install(report):
    packument()
    assert not Use.objects.exists()
    get(f"/npm/{NAME}/-/weekly-report-1.2.0.tgz").close()
    assert Use.objects.get().last_kind == "install"


def test_search_whoami_ping_and_audit_answer_as_npm_expects(report, alice, secret_of):
    (found,) = get("/npm/-/v1/search?text=weekly+report&from=0&size=20&quality=0.6").json()["objects"]
    assert (found["package"]["name"], found["package"]["version"]) == (NAME, "1.2.0")
    token = {"Authorization": f"Bearer {secret_of(alice)}"}
    assert get("/npm/-/whoami", **token).json() == {"username": "alice"}
    assert get("/npm/-/whoami", status=401).json()["error"]
    assert get("/npm/-/ping?write=true").json() == {}
    audit = Client().post("/npm/-/npm/v1/security/advisories/bulk", b"\x1f\x8b", "application/json")
    assert (audit.status_code, audit.json()) == (200, {})


@pytest.mark.parametrize(
    "path",
    [
        f"/npm/{NAME}/-/weekly-report-9.9.9.tgz",
        f"/npm/{NAME}/-/other-1.2.0.tgz",
        f"/npm/{NAME}/-/weekly-report-1.2.0.zip",
        "/npm/@docs/none",
        "/npm/@nobody/weekly-report",
    ],
)
def test_wrong_address_gets_an_error_that_npm_prints(report, path):
    document = get(path, status=404).json()
    assert (document["code"], bool(document["error"])) == ("NOT_FOUND", True)
