"""Install links: what they open, what they don't, and that they are private, revocable and short-lived."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from portal.streaming.install_links.middleware import InstallLinks
from registry.collections import edit
from registry.collections.edit import ChosenSkill
from registry.identity import tokens
from registry.identity.actors import Actor
from registry.identity.teams import create_team
from registry.install_links.links import create_link, find_target
from registry.models import AuditEntry, Token, Use, Visibility
from registry.packages.problems import Refusal
from tests.event_loops import run_in_loop
from tests.factories.skills import prompt_files, publish_files, tidy_files
from tests.registry.facades.conftest import show

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7")]
INDEX = "/.well-known/agent-skills/index.json"
REFS = "/info/refs?service=git-upload-pack"


@pytest.fixture
def secret_skill(team, alice):
    return publish_files(tidy_files(), team=team, user=alice)


@pytest.fixture
def link(alice):
    """``link("docs/weekly-report")``: the path of Alice's new link to the target."""

    def make(target, *, by=alice):
        actor = Actor(user=by)
        return urlsplit(create_link(find_target(target, actor), actor)[1]).path

    return make


def follow(address, *, method="GET", **headers):
    """The answer at the address: the web server's part, then Django's, as one."""
    path, _, query = urlsplit(address)._replace(scheme="", netloc="").geturl().partition("?")
    inner, started = {}, []

    async def app(scope, receive, send):
        inner.update(scope)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"cache-control", b"x")]})

    async def receive():
        return {"type": "http.request", "body": b""}

    async def send(message):
        started.append(message)

    sent = [
        (b"cookie", b"sessionid=x"),
        *((name.encode(), value.encode()) for name, value in headers.items()),
    ]
    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": sent}
    run_in_loop(InstallLinks(app)(scope, receive, send))
    found = {name.decode(): value.decode() for name, value in started[0]["headers"]}
    if not inner:
        return started[0]["status"], b"", found
    passed = {name.decode(): value.decode() for name, value in inner["headers"]}
    assert "cookie" not in passed
    answer = Client().generic(method, f"{inner['path']}?{query}", headers=passed)
    return answer.status_code, answer.getvalue(), found


def status(address, **more):
    return follow(address, **more)[0]


def test_link_to_a_skill_serves_index_archive_git_and_npm(secret_skill, link):
    address = link("docs/weekly-report")
    code, body, headers = follow(f"{address}{INDEX}")
    assert code == 200
    assert headers["cache-control"] == "private, no-store"
    assert headers["x-robots-tag"].startswith("noindex")
    root = address.removesuffix("docs/weekly-report")
    entry = json.loads(body)["skills"][0]
    assert urlsplit(entry["url"]).path.startswith(root)
    code, data, _ = follow(entry["url"])
    assert (code, f"sha256:{hashlib.sha256(data).hexdigest()}") == (200, entry["digest"])
    assert Use.objects.get().last_kind == "install"
    assert status(f"{address}.git{REFS}") == 200
    assert status(f"{address}/1.2.0{INDEX}") == 200
    assert status(f"{root}npm/@docs/weekly-report") == 200


@pytest.mark.parametrize(
    "path",
    [
        "docs/kind-review.git/info/refs?service=git-upload-pack",
        f"docs/kind-review{INDEX}",
        f"docs{INDEX}",
        INDEX.lstrip("/"),
        "docs/all.git/info/refs?service=git-upload-pack",
        "all.git/info/refs?service=git-upload-pack",
        "docs/marketplace.json",
        "collections/docs/all/marketplace.json",
        "npm/@docs/kind-review",
        "npm/-/whoami",
        "skills/docs/weekly-report/",
        "api/v1/me",
        "api/v1/skills/docs/weekly-report",
        "mcp",
        "",
    ],
)
def test_link_to_a_skill_opens_nothing_else(secret_skill, team, alice, link, path):
    publish_files(prompt_files(), team=team, user=alice)
    root = link("docs/weekly-report").removesuffix("docs/weekly-report")
    assert status(f"{root}{path}") == 404


def test_link_to_a_team_reads_that_team_only(secret_skill, alice, charlie, link):
    other = create_team("other", "Other", Actor(user=alice))
    publish_files(prompt_files(), team=other, user=alice)
    address = link("docs")
    root = address.removesuffix("docs")
    assert b"weekly-report" in follow(f"{address}{INDEX}")[1]
    assert status(f"{address}/all.private.git{REFS}") == 200
    assert status(f"{address}/weekly-report.git{REFS}") == 200
    assert status(f"{root}other{INDEX}") == 404
    assert status(f"{root}other/kind-review.git{REFS}") == 404


def test_link_to_a_collection_reads_its_skills_of_several_teams(secret_skill, team, alice, link):
    other = create_team("other", "Other", Actor(user=alice))
    publish_files(prompt_files(), team=other, user=alice)
    edit.create(team, "start", Actor(user=alice), chosen=[ChosenSkill("other/kind-review")])
    address = link("collections/docs/start")
    root = address.removesuffix("collections/docs/start")
    assert b"kind-review" in follow(f"{address}{INDEX}")[1]
    assert status(f"{address}.git{REFS}") == 200
    assert status(f"{root}other/kind-review.plugin.git{REFS}") == 200
    assert status(f"{root}docs/weekly-report.git{REFS}") == 404
    assert status(f"{root}other{INDEX}") == 404


def test_link_ends_when_it_expires_is_revoked_or_its_owner_loses_access(secret_skill, alice, bob, link):
    expired, revoked, orphan = (f"{link('docs/weekly-report')}{INDEX}" for _ in range(3))
    assert {status(address) for address in (expired, revoked, orphan)} == {200}
    first, second, _third = Token.objects.order_by("pk")
    Token.objects.filter(pk=first.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    tokens.revoke(second, Actor(user=alice))
    assert [status(address) for address in (expired, revoked, orphan)] == [404, 404, 200]
    alice.memberships.all().delete()
    assert status(orphan) == 404
    assert status(f"/c/{tokens.new_secret()}/docs/weekly-report{INDEX}") == 404
    assert status(f"/c/é/docs/weekly-report{INDEX}") == 404


def test_link_is_no_token_and_a_token_no_link(secret_skill, alice, link, secret_of):
    secret = link("docs/weekly-report").split("/")[2]
    for header in ({"authorization": f"Bearer {secret}"}, {"x-api-key": secret}):
        assert Client().get("/docs/weekly-report.git" + REFS, headers=header).status_code == 401
    assert Client().get("/api/v1/me", headers={"authorization": f"Bearer {secret}"}).status_code == 401
    assert status(f"/c/{secret_of(alice)}/docs/weekly-report{INDEX}") == 404


def test_only_the_digest_is_stored_and_creation_is_audited(secret_skill, link):
    secret = link("docs/weekly-report").split("/")[2]
    row = Token.objects.get()
    assert secret not in str(vars(row))
    assert AuditEntry.objects.filter(action="install_link.create", target=row.uid).exists()
    assert not any(secret in str(entry.detail) for entry in AuditEntry.objects.all())


def test_stranger_can_link_only_to_what_strangers_see(secret_skill, charlie, link):
    for target in ("docs/weekly-report", "docs/absent"):
        with pytest.raises(Refusal) as refused:
            link(target, by=charlie)
        assert refused.value.problems[0].code == "NOT_FOUND"
    show(secret_skill, Visibility.SITE)
    assert status(f"{link('docs/weekly-report', by=charlie)}{INDEX}") == 200


def test_malformed_pack_request_through_a_link_is_refused(secret_skill, link):
    assert status(f"{link('docs/weekly-report')}.git/git-upload-pack", method="POST") == 400
    assert not Use.objects.exists()
