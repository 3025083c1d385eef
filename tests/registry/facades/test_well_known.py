"""The well-known index as clients of the discovery format read it."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import zipfile

import pytest
from django.test import Client

from portal.checks import team_slugs_are_free
from registry.canonical.pins import set_canonical
from registry.core.text import RESERVED_SLUGS, SLUG
from registry.facades.well_known import entries
from registry.identity.teams import create_team
from registry.models import Skill, Team, Use, Visibility
from registry.packages.problems import Refusal
from registry.versions.lifecycle.yank import yank
from tests.addresses import routes
from tests.factories.skills import publish_files, tidy_files
from tests.registry.facades.conftest import HOST, get, show

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7")]
ADDRESSES = (
    "/docs/{}",
    "/docs/{}@{}",
    "/docs/{}/1.2.0",
    "/docs/{}/latest",
    "/skills/docs/{}",
    "/skills/docs/{}/1.2.0",
    "/api/v1/skills/docs/{}/versions/1.2.0/archive",
)


def index(scope="", **more):
    return get(f"{scope}/.well-known/agent-skills/index.json", **more).json()


def file_index(scope="", **more):
    return get(f"{scope}/.well-known/skills/index.json", **more).json()


def names(document):
    return [entry["name"] for entry in document["skills"]]


def test_site_index_names_archives_and_single_files(report, prompt, settings):
    settings.SKILLQUAY_PUBLIC_URL = HOST
    document = index()
    assert document["$schema"] == "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
    found = {entry["name"]: entry for entry in document["skills"]}
    assert set(found) == {"weekly-report", "kind-review"}
    archive, single = found["weekly-report"], found["kind-review"]
    assert (archive["type"], single["type"]) == ("archive", "skill-md")
    for entry in (archive, single):
        data = get(entry["url"]).getvalue()
        assert entry["digest"] == "sha256:" + hashlib.sha256(data).hexdigest()
        assert 1 <= len(entry["description"]) <= 1024
    with zipfile.ZipFile(io.BytesIO(get(archive["url"]).getvalue())) as zipped:
        assert "SKILL.md" in zipped.namelist()


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_address_that_we_print_has_an_index_of_its_own(report, prompt, address):
    scope = address.format("weekly-report", "weekly-report")
    assert names(index(scope)) == names(file_index(scope)) == ["weekly-report"]


def test_team_index_holds_the_team_alone(report, team, alice, bob):
    assert names(index("/docs")) == names(index("/teams/docs")) == ["weekly-report"]
    assert get("/nobody/.well-known/agent-skills/index.json", status=404).json()["code"] == "NOT_FOUND"


def test_file_index_lists_files_that_can_be_fetched(report):
    (entry,) = file_index("/docs/weekly-report")["skills"]
    assert entry["files"][0] == "SKILL.md"
    assert set(entry["files"]) == set(tidy_files())
    for path in entry["files"]:
        answer = get(f"/docs/weekly-report/.well-known/skills/weekly-report/{path}")
        assert answer.getvalue() == tidy_files()[path]
    get("/docs/weekly-report/.well-known/skills/weekly-report/none.md", status=404)
    get("/docs/weekly-report/.well-known/skills/other/SKILL.md", status=404)


def test_exact_version_stays_when_a_newer_one_is_published(report, team, alice):
    publish_files(tidy_files("1.3.0"), team=team, user=alice)
    assert index("/docs/weekly-report/1.2.0")["skills"][0]["digest"] == report.digest
    assert index("/docs/weekly-report")["skills"][0]["version"] == "1.3.0"
    assert index("/docs/weekly-report@1.2.0")["skills"][0]["version"] == "1.2.0"


def test_canonical_skill_has_one_address_that_follows_its_pin(report, team, alice, root):
    set_canonical("weekly-report", report, root, reason="Best one.")
    assert index("/canonical/weekly-report")["skills"][0]["digest"] == report.digest
    newer = publish_files(tidy_files("1.3.0"), team=team, user=alice)
    assert index("/canonical/weekly-report")["skills"][0]["digest"] == report.digest
    set_canonical("weekly-report", newer, root, reason="Better one.")
    (entry,) = index("/canonical/weekly-report")["skills"]
    assert (entry["name"], entry["digest"]) == ("weekly-report", newer.digest)
    assert names(index()) == ["weekly-report"]


@pytest.mark.row("P2")
@pytest.mark.parametrize("visibility", ["private", "site"])
def test_hidden_skill_is_in_no_index_of_a_stranger(report, charlie, visibility):
    show(report, visibility)
    signed_in = Client()
    signed_in.force_login(charlie)
    client = signed_in if visibility == "private" else Client()
    assert names(index(client=client)) == []
    for address in ADDRESSES:
        scope = address.format("weekly-report", "weekly-report")
        for kind in ("agent-skills", "skills"):
            get(f"{scope}/.well-known/{kind}/index.json", client=client, status=404)
            get(f"{scope}/.well-known/{kind}/weekly-report/SKILL.md", client=client, status=404)
    found = get("/api/search?q=weekly+report", client=client).json()
    assert found["skills"] == []


def test_token_sees_the_private_skills_of_its_team(report, alice, secret_of):
    show(report, Visibility.PRIVATE)
    secret = secret_of(alice)
    basic = base64.b64encode(f"alice:{secret}".encode()).decode()
    for headers in (
        {"Authorization": f"Bearer {secret}"},
        {"Authorization": f"Basic {basic}"},
        {"X-Api-Key": secret},
    ):
        assert names(index("/docs/weekly-report", **headers)) == ["weekly-report"]
    for broken in ("Basic ???", "Basic YQ==", "Digest x"):
        get("/.well-known/agent-skills/index.json", status=401, Authorization=broken)


@pytest.mark.row("P2")
def test_session_does_not_count_for_other_protocols(report, alice):
    show(report, Visibility.PRIVATE)
    client = Client()
    client.force_login(alice)
    assert names(index(client=client)) == []


def test_yanked_latest_version_leaves_the_index(report, actor_of, alice):
    yank(report, actor_of(alice), reason="Wrong figures.")
    assert names(index()) == []
    assert get("/docs/weekly-report/.well-known/agent-skills/index.json", status=404).json()["code"]


def test_large_packages_and_names_that_clients_refuse_are_left_out(report, prompt, monkeypatch):
    monkeypatch.setattr(entries, "_MAX_ARCHIVE", prompt.archive_size)
    assert names(index()) == ["kind-review"]
    Skill.objects.filter(pk=prompt.skill_id).update(slug="kind--review")
    assert names(index()) == []


def test_site_index_is_bounded(report, prompt, monkeypatch):
    monkeypatch.setattr(entries, "MAX_SITE_ENTRIES", 1)
    Skill.objects.filter(pk=report.skill_id).update(hot_key=5.0)
    assert names(index()) == ["weekly-report"]


def test_reading_an_index_is_no_use_and_fetching_skill_md_is_one(report, prompt):
    index()
    index("/docs/kind-review")
    file_index()
    file = "/docs/kind-review/.well-known/agent-skills/kind-review/SKILL.md"
    get(file, **{"X-Skills-Update-Check": "1"})
    assert _uses() == 0
    get(file)
    assert _uses() == 1


def _uses():
    return sum(Use.objects.values_list("count", flat=True))


def test_index_answers_a_browser_and_a_conditional_request(report):
    answer = get("/.well-known/agent-skills/index.json")
    assert answer["Access-Control-Allow-Origin"] == "*"
    again = get("/.well-known/agent-skills/index.json", status=304, **{"If-None-Match": answer["ETag"]})
    assert again.getvalue() == b""
    head = Client().head("/.well-known/agent-skills/index.json")
    assert (head.status_code, head["ETag"]) == (200, answer["ETag"])


def test_search_prints_addresses_with_an_index(report, prompt, settings):
    settings.SKILLQUAY_PUBLIC_URL = HOST
    document = get("/api/search?q=weekly+report&limit=5&unknown=1").json()
    (found,) = [each for each in document["skills"] if each["name"] == "weekly-report"]
    assert found["id"] == "docs/weekly-report"
    assert isinstance(found["installs"], int)
    assert names(index(found["source"].removeprefix(HOST))) == ["weekly-report"]
    assert get("/api/search?q=weekly&owner=nobody").json()["skills"] == []
    assert get("/api/search?q=weekly&limit=0", status=400).json()["code"]


@pytest.mark.parametrize(
    "path",
    [
        "/docs/weekly-report/0.0.1/.well-known/agent-skills/index.json",
        "/docs/weekly-report/%00/.well-known/agent-skills/index.json",
        "/.well-known/agent-skills/none/SKILL.md",
        "/.well-known/skills/weekly-report/../../x",
        "/docs/none/.well-known/skills/index.json",
    ],
)
def test_wrong_address_gets_a_clear_error(report, path):
    answer = Client().get(path)
    assert answer.status_code in (400, 404)
    assert json.loads(answer.getvalue())["code"] if "json" in answer["Content-Type"] else True


def test_no_team_can_take_the_address_of_a_page_or_protocol(actor_of, alice):
    first_parts = {route.partition("/")[0] for route in routes()} - {""}
    words = {part for part in first_parts if SLUG.fullmatch(part)} | {"static"}
    assert len(words) > 20
    assert words <= RESERVED_SLUGS
    with pytest.raises(Refusal) as refused:
        create_team("runs", "Runs", actor_of(alice))
    assert refused.value.code == "SLUG_INVALID"


def test_team_with_a_reserved_slug_is_reported_at_start(team):
    Team.objects.filter(pk=team.pk).update(slug="handbook")
    assert team_slugs_are_free(None) == []
    Team.objects.filter(pk=team.pk).update(slug="npm")
    (warning,) = team_slugs_are_free(None)
    assert (warning.id, "npm" in warning.msg) == ("skillquay.W003", True)
