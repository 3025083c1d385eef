"""The registry protocol of APM, replayed without the client."""

from __future__ import annotations

import hashlib

import pytest
from django.test import Client

from registry.identity.actors import Actor
from registry.models import Use, Version
from registry.versions.lifecycle.yank import yank
from tests.factories.skills import publish_files, tidy_files
from tests.registry.facades.conftest import get
from tests.registry.facades.test_anthropic import FILES, zipped

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7")]
API = "/apm/v1/packages"


def put(path, data, headers, *, status=201, kind="application/zip"):
    answer = Client().put(path, data, kind, headers=headers)
    assert answer.status_code == status, answer.content
    return answer.json()


def test_versions_and_their_archives_are_served(team, alice, report):
    publish_files(tidy_files("1.3.0"), team=team, user=alice)
    document = get(f"{API}/docs/weekly-report/versions").json()
    assert [row["version"] for row in document["versions"]] == ["1.3.0", "1.2.0"]
    for row in document["versions"]:
        assert row["published_at"].endswith("Z")
        archive = get(f"{API}/docs/weekly-report/versions/{row['version']}/download")
        data = archive.getvalue()
        assert archive["Content-Type"] == "application/zip"
        assert (f"sha256:{hashlib.sha256(data).hexdigest()}", len(data)) == (row["digest"], row["size_bytes"])
    assert Use.objects.get().last_kind == "install"
    yank(Version.objects.get(number="1.3.0"), Actor(user=alice), reason="Broken.")
    document = get(f"{API}/docs/weekly-report/versions").json()
    assert [row["version"] for row in document["versions"]] == ["1.2.0"]


def test_publication_is_possible_once(member):
    path = f"{API}/docs/csv-clean/versions/1.0.0"
    document = put(path, zipped(FILES), member)
    assert (document["package"], document["version"]) == ("docs/csv-clean", "1.0.0")
    assert document["digest"] == Version.objects.get().digest
    for files in (FILES, {**FILES, "csv-clean/scripts/a.py": b"2"}):
        problem = put(path, zipped(files), member, status=409)
        assert (problem["status"], problem["title"]) == (409, "Conflict")
    assert (
        put(f"{API}/docs/other/versions/1.0.0", zipped(FILES), member, status=422)["code"] == "FIELD_INVALID"
    )
    assert Version.objects.count() == 1


@pytest.mark.row("P2")
def test_stranger_learns_nothing_of_a_private_skill(team, alice, charlie, token_of):
    publish_files(tidy_files(), team=team, user=alice)
    headers = {**token_of(charlie), "x-request-id": "stranger-1"}
    for path in ("versions", "versions/1.2.0/download"):
        there = get(f"{API}/docs/weekly-report/{path}", status=404, **headers)
        absent = get(f"{API}/docs/weekly-rxport/{path}", status=404, **headers)
        assert there.content == absent.content.replace(b"rxport", b"report")
        assert there["Content-Type"] == "application/problem+json"
    for slug in ("weekly-report", "none"):
        put(f"{API}/docs/{slug}/versions/9.0.0", zipped(FILES), headers, status=404)


@pytest.mark.row("P2")
def test_publication_needs_a_token_with_its_scope(team, alice, token_of):
    path = f"{API}/docs/csv-clean/versions/1.0.0"
    put(path, zipped(FILES), {}, status=401)
    assert put(path, zipped(FILES), token_of(alice, "read"), status=403)["code"] == "TOKEN_SCOPE_MISSING"


@pytest.mark.parametrize("path", ["docs/csv/versions/1.0.0", "docs/a%00b/versions/1", "docs/a/versions/~"])
@pytest.mark.parametrize("body", [b"", b"PK\x03\x04", b"\xff" * 100, b"{}"])
def test_malformed_publication_gets_problem_details(member, path, body):
    answer = Client().put(f"{API}/{path}", body, "application/zip", headers=member)
    assert 400 <= answer.status_code < 500
    assert answer.json()["status"] == answer.status_code
