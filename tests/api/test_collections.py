"""Collections by API: creation, changes, deletion and refusals."""

from __future__ import annotations

import uuid

import pytest

from registry.collections import edit
from registry.collections.edit import ChosenSkill
from registry.identity.actors import Actor
from registry.identity.permissions import Action, may
from registry.models import AuditEntry, Collection
from tests.factories.skills import prompt_files, publish_files, tidy_files

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7")]


@pytest.fixture
def report(team, alice):
    return publish_files(tidy_files(), team=team, user=alice)


@pytest.fixture
def prompt(team, alice):
    return publish_files(prompt_files(), team=team, user=alice)


@pytest.fixture
def make(team, alice):
    """``make("docs/a", "docs/b@1.0.0")``: the site's collection docs/start with these skills."""

    def create(*lines):
        chosen = [ChosenSkill.parse(line) for line in lines]
        return edit.create(team, "start", Actor(user=alice), visibility="site", chosen=chosen)

    return create


def test_api_creates_reads_changes_and_deletes(report, prompt, alice, token_api):
    api = token_api(alice)
    body = {
        "team": "docs",
        "slug": "start",
        "title": "First steps",
        "visibility": "site",
        "skills": [{"skill": "docs/weekly-report", "version": "1.2.0"}, {"skill": "docs/kind-review"}],
    }
    key = str(uuid.uuid4())
    made = api.post("/api/v1/collections", body, headers={"Idempotency-Key": key})
    assert made.status_code == 201
    assert api.post("/api/v1/collections", body, headers={"Idempotency-Key": key}).json() == made.json()
    assert made["Location"].endswith("/api/v1/collections/docs/start")
    read = api.get("/api/v1/collections/docs/start")
    assert [(row["skill"], row["selector"], row["pinned"]) for row in read.json()["skills"]] == [
        ("docs/weekly-report", "1.2.0", True),
        ("docs/kind-review", "", False),
    ]
    change = {"skills": [{"skill": "docs/kind-review"}, {"skill": "docs/weekly-report"}]}
    stale = api("PATCH", "/api/v1/collections/docs/start", change, headers={"If-Match": '"other"'})
    assert stale.status_code == 412
    done = api("PATCH", "/api/v1/collections/docs/start", change, headers={"If-Match": read["ETag"]})
    assert [row["skill"] for row in done.json()["skills"]] == ["docs/kind-review", "docs/weekly-report"]
    assert [row["collection"] for row in api.get("/api/v1/collections?team=docs").json()["items"]] == [
        "docs/start"
    ]
    assert api("DELETE", "/api/v1/collections/docs/start").status_code == 204
    assert api.get("/api/v1/collections/docs/start").status_code == 404
    kinds = AuditEntry.objects.filter(action__startswith="collection.").order_by("pk")
    assert [row.action for row in kinds] == ["collection.create", "collection.change", "collection.delete"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"slug": "all"}, "SLUG_INVALID"),
        ({"slug": "No"}, "SLUG_INVALID"),
        ({"slug": "start"}, "COLLECTION_EXISTS"),
        ({"skills": [{"skill": "docs/weekly-report"}] * 2}, "COLLECTION_REPEATS"),
        ({"skills": [{"skill": "docs/weekly-report"}] * 201}, "COLLECTION_FULL"),
        ({"skills": [{"skill": "docs/absent"}]}, "NOT_FOUND"),
        ({"skills": [{"skill": "docs/weekly-report", "version": "9.9.9"}]}, "NOT_FOUND"),
        ({"visibility": "all"}, "FIELD_INVALID"),
        ({"title": "x" * 121}, "FIELD_INVALID"),
        ({"team": "absent"}, "NOT_FOUND"),
    ],
)
def test_invalid_collection_is_refused_with_a_code(report, make, alice, token_api, change, code):
    make()
    answer = token_api(alice).post("/api/v1/collections", {"team": "docs", "slug": "new-one", **change})
    assert answer.json()["code"] == code
    assert Collection.objects.count() == 1


def test_only_maintainers_change_a_collection(report, make, alice, bob, token_api):
    make()
    for api in (token_api(bob), token_api(alice, "publish")):
        assert api("PATCH", "/api/v1/collections/docs/start", {"title": "x"}).status_code == 403
        assert api("DELETE", "/api/v1/collections/docs/start").status_code == 403
    assert not may(Actor(user=bob), Action.COLLECTIONS, team=report.skill.team)
