"""What maintainers add next to a package: by API and command, in runs, and without widening older grants."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from registry.canonical.pins import set_canonical
from registry.identity import tokens
from registry.identity.actors import Actor
from registry.models import AuditEntry, Membership, Role, Team, User
from registry.packages.problems import Refusal
from registry.packages.read_package import read_files
from registry.rules import decision, edit
from registry.secrets import grants, reviews
from registry.secrets import values as secrets_values
from registry.versions.lifecycle.yank import yank
from registry.versions.needs.change_additions import set_additions
from registry.versions.needs.offered_additions import earlier_additions, offered_additions
from registry.versions.publishing.publish import publish
from tests.factories.skills import publish_files
from tests.pages import part
from worker.approvals.decide import decide as decide_approval
from worker.models import Approval, ApprovalDecision, Attempt, DependencyBuild, Run, RunStatus
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("A8")]

API = "/api/v1/skills/docs/tables/versions/1.0.0/additions"
HEAD = "---\nname: tables\ndescription: For tests.\nversion: {number}\n{front}---\n# Tables\n"
SCRIPT = """import json, os, subprocess, urllib.request
def later():
    import pypdf, internal_tables
    subprocess.run(["pdftotext"])
    urllib.request.urlopen("https://api.crossref.org/works")
    os.environ["LD_PRELOAD"], os.environ["GITHUB_TOKEN"]
print(json.dumps({"token": len(os.environ.get("GITHUB_TOKEN", ""))}))
"""
HOST, TOKEN, LIBRARY = ("host", "api.crossref.org"), ("secret", "GITHUB_TOKEN"), ("library", "pypdf")


@pytest.fixture
def publish_tables(team, alice):
    def publish(number="1.0.0", script=SCRIPT, front="", **more):
        files = {"SKILL.md": HEAD.format(number=number, front=front).encode()}
        return publish_files({**files, "scripts/a.py": script.encode()}, team=team, user=alice, **more)

    return publish


@pytest.fixture
def tables(publish_tables):
    return publish_tables()


@pytest.fixture
def owner(alice):
    return Actor(user=alice)


@pytest.fixture
def agent(alice):
    ends = timezone.now() + timedelta(days=1)
    scopes = ["read", "run", "publish"]
    _row, text = tokens.issue(alice, name="agent", scopes=scopes, expires_at=ends, by=Actor(user=alice))
    return tokens.actor_of(text)


def code(verb, *args, **kwargs):
    with pytest.raises(Refusal) as refused:
        verb(*args, **kwargs)
    return refused.value.code


def put(client, *rows, api=API):
    body = {"additions": [{"kind": kind, "name": name} for kind, name in rows]}
    return client.put(api, body, content_type="application/json")


def test_api_offers_needs_and_records_who_added_them(tables, client, alice):
    client.force_login(alice)
    document = client.get(API).json()
    offered = {(row["kind"], row["name"]) for row in document["offered"]}
    assert offered == {HOST, TOKEN, LIBRARY, ("program", "pdftotext")}  # never a reserved variable
    assert document["unmapped"] == ["internal_tables"]
    document = put(client, HOST, LIBRARY).json()
    added = {(row["kind"], row["name"]): row["added_by"] for row in document["additions"]}
    assert added == {HOST: "alice", LIBRARY: "alice"}
    states = {row["name"]: row["state"] for row in client.get(API.removesuffix("/additions")).json()["needs"]}
    assert (states["pypdf"], states["api.crossref.org"], states["GITHUB_TOKEN"]) == (
        "added",
        "added",
        "missing",
    )
    assert put(client).json()["additions"] == []
    entries = AuditEntry.objects.filter(action="version.change_additions").order_by("pk")
    assert [entry.detail["removed"] for entry in entries] == [[], ["host api.crossref.org", "library pypdf"]]


def test_command_adds_and_package_stays_the_same(tables):
    body = json.dumps({"additions": [{"kind": "library", "name": "pypdf"}]})
    out = io.StringIO()
    call_command("api", "PUT", API, body, stdout=out)
    assert json.loads(out.getvalue())["additions"][0]["name"] == "pypdf"
    digest = tables.digest
    tables.refresh_from_db()
    assert tables.digest == digest
    assert tables.manifest["security"]["network"] == "none"


@pytest.mark.parametrize(
    ("kind", "name", "refusal"),
    [
        ("library", "internal_tables", "ADDITION_UNMAPPED"),
        ("library", "requests", "ADDITION_NOT_NEEDED"),
        ("host", "evil.example", "ADDITION_NOT_NEEDED"),
        ("host", "*.crossref.org", "ADDITION_NOT_NEEDED"),
        ("secret", "LD_PRELOAD", "ADDITION_NOT_NEEDED"),
    ],
)
def test_what_no_script_needs_is_refused(tables, owner, kind, name, refusal):
    assert code(set_additions, tables, [(kind, name)], owner) == refusal


def test_member_token_and_subscribed_team_cannot_add(publish_tables, client, agent, bob, charlie):
    version = publish_tables(visibility="site")
    away = Team.objects.get(slug="elsewhere")
    Membership.objects.update_or_create(user=charlie, team=away, defaults={"role": Role.MAINTAINER})
    for user in (bob, charlie):
        client.force_login(user)
        assert put(client, HOST).status_code == 403
    assert code(set_additions, version, [HOST], agent) == "FORBIDDEN"
    version.refresh_from_db()
    assert version.additions == []


def test_yanked_and_held_versions_get_no_additions_but_lose_them(tables, owner):
    set_additions(tables, [HOST], owner)
    yank(tables, owner, reason="Wrong.")
    assert code(set_additions, tables, [HOST, TOKEN], owner) == "ADDITIONS_YANKED"
    assert set_additions(tables, [], owner).additions == []
    tables.yanked_at, tables.held_at = None, timezone.now()
    tables.save()
    assert code(set_additions, tables, [HOST], owner) == "VERSION_HELD"


def test_library_becomes_a_build_of_the_version(tables, owner, queue_run):
    before = queue_run(tables)
    tables = set_additions(tables, [LIBRARY], owner)
    build = DependencyBuild.objects.get(versions=tables)
    assert json.loads(build.spec)["requirements"] == ["pypdf"]
    assert execute_here(before).status == RunStatus.SUCCEEDED  # requested without the library
    run = execute_here(queue_run(tables))  # this site has no package index
    assert (run.failure_code, run.grants["additions"]) == ("DEPENDENCIES_DISABLED", {"library": ["pypdf"]})
    tables = set_additions(tables, [], owner)
    assert not DependencyBuild.objects.filter(versions=tables).exists()
    assert execute_here(queue_run(tables)).status == RunStatus.SUCCEEDED


DIAL = """import socket, urllib.request
try:
    urllib.request.urlopen("http://api.crossref.org/works", timeout=5)
except Exception as error:
    print(type(error).__name__)
"""


def dialled(run):
    network = Attempt.objects.get(run=execute_here(run)).network
    return {each["code"] for each in network if each["host"] == "api.crossref.org"}


def test_run_reaches_an_added_host_only_if_requested_and_executed_with_it(
    publish_tables, owner, queue_run, monkeypatch
):
    monkeypatch.setattr("worker.executors.script.resolve_host", lambda *_host: ["127.0.0.1"])
    version = publish_tables(script=DIAL)
    before = queue_run(version)
    version = set_additions(version, [HOST], owner)
    after, undone = queue_run(version), queue_run(version)
    assert dialled(before) == {"NETWORK_HOST_REFUSED"}
    assert dialled(after) == {"NETWORK_UNREACHABLE"}  # allowed, but nothing listens here
    set_additions(version, [], owner)
    assert dialled(undone) == {"NETWORK_HOST_REFUSED"}


def test_answers_from_before_an_addition_are_not_reused(publish_tables, owner, queue_run):
    version = publish_tables(front="cacheable: true\n")
    execute_here(queue_run(version))
    assert queue_run(version).cached_from_id
    version = set_additions(version, [HOST], owner)
    assert not queue_run(version).cached_from_id


def granted(version, team):
    return bool(grants.grants_for_version(version, team))


def test_older_secret_grant_does_not_cover_an_added_host(publish_tables, team, owner, queue_run):
    version = publish_tables(front="security: {secrets: [GITHUB_TOKEN]}\n")
    secret = secrets_values.put_secret(team, "GITHUB_TOKEN", "a-secret", owner)
    row = grants.grant(secret, version, owner)
    waiting = queue_run(version)
    version = set_additions(version, [HOST], owner)
    assert code(queue_run, version) == "SECRET_NOT_GRANTED"
    assert execute_here(waiting).result["outputs"] == {"token": 8}  # without the host
    again = grants.grant(secret, version, owner)
    assert (again.uid, again.hosts) == (row.uid, ["api.crossref.org"])
    assert execute_here(queue_run(version)).result["outputs"] == {"token": 8}


def test_review_from_before_an_addition_does_not_cover_it(publish_tables, team, owner, bob):
    version = publish_tables(front="security: {secrets: [GITHUB_TOKEN]}\n")
    Membership.objects.filter(user=bob, team=team).update(role=Role.MAINTAINER)
    secret = secrets_values.put_secret(team, "GITHUB_TOKEN", "a-secret", owner)
    grants.grant(secret, version, owner, to="reviewed")
    reviewer = Actor(user=User.objects.get(pk=bob.pk))
    reviews.review(version, team, reviewer)
    assert granted(version, team)
    version = set_additions(version, [LIBRARY], owner)
    assert not granted(version, team)
    reviews.review(version, team, reviewer)
    assert granted(version, team)


def test_added_secret_needs_a_grant(tables, team, owner, queue_run):
    version = set_additions(tables, [TOKEN], owner)
    assert code(queue_run, version) == "SECRET_NOT_SET"
    secret = secrets_values.put_secret(team, "GITHUB_TOKEN", "a-secret", owner)
    assert code(queue_run, version) == "SECRET_NOT_GRANTED"
    grants.grant(secret, version, owner)
    assert execute_here(queue_run(version)).result["outputs"] == {"token": 8}
    waiting = queue_run(version)
    set_additions(version, [], owner)
    assert execute_here(waiting).status == RunStatus.SUCCEEDED


@pytest.mark.parametrize("added", [HOST, TOKEN, LIBRARY])
def test_allow_rule_and_canonical_pin_do_not_cover_additions(publish_tables, root, charlie, owner, added):
    version = publish_tables(visibility="site")
    away = Team.objects.get(slug="elsewhere")
    edit.add_rule(away, "allow", "docs/tables", Actor(user=charlie))
    assert decision.decide(version, team=away).outcome == "allow"
    version = set_additions(version, [added], owner)
    found = decision.decide(version, team=away)
    assert (found.outcome, bool(found.added_permissions)) == ("ask", True)
    set_canonical("tables", version, root, reason="Ours.")
    assert decision.decide(version, team=away).outcome == "ask"
    edit.add_rule(away, "allow", "docs/tables", Actor(user=charlie))
    assert decision.decide(version, team=away).outcome == "allow"


@pytest.mark.row("D6")
def test_approval_covers_only_what_it_shows(publish_tables, owner, agent, queue_run, team):
    version = publish_tables(front="allowed-tools: Bash\n")
    run = run_of(agent, version, team)
    version = set_additions(version, [HOST], owner)
    approval = Approval.objects.get(run=run)
    assert code(decide_approval, approval, ApprovalDecision.EXACT, owner) == "APPROVAL_OUTDATED"
    decide_approval(approval, ApprovalDecision.ONCE, owner)
    run.refresh_from_db()
    assert run.grants == {}
    run = run_of(agent, version, team)
    assert run.grants["additions"] == {"host": ["api.crossref.org"]}
    assert Approval.objects.get(run=run).requested_permissions["hosts"] == ["api.crossref.org"]


def run_of(agent, version, team) -> Run:
    from worker.protocols.call import Request
    from worker.runs.request import request_run

    return request_run(actor=agent, version=version, request=Request(inputs={}), team=team)


def test_next_version_is_offered_what_its_scripts_still_need(publish_tables, client, alice, owner):
    set_additions(publish_tables(), [HOST, LIBRARY], owner)
    script = SCRIPT.replace("import pypdf, ", "import ")
    version = publish_tables("1.1.0", script)
    client.force_login(alice)
    api = API.replace("1.0.0", "1.1.0")
    earlier = {"version": "1.0.0", "additions": [{"kind": HOST[0], "name": HOST[1]}]}
    assert client.get(api).json()["earlier"] == earlier
    assert put(client, HOST, api=api).json()["earlier"] is None
    version.refresh_from_db()
    assert earlier_additions(version, offered_additions(version)) == (None, [])


def test_publishing_names_additions_that_the_new_version_lacks(publish_tables, client, alice, owner):
    set_additions(publish_tables(), [HOST, LIBRARY], owner)
    client.force_login(alice)
    archive = zipped({"SKILL.md": HEAD.format(number="1.1.0", front=""), "scripts/a.py": SCRIPT})
    address = "/api/v1/packages?team=docs"
    answer = client.post(address, archive, content_type="application/zip").json()
    (notice,) = [each for each in answer["problems"] if each["code"] == "ADDITIONS_NOT_CARRIED"]
    assert notice["severity"] == "notice"
    assert "docs/tables@1.0.0" in notice["message"]
    assert "api.crossref.org, pypdf" in notice["message"]
    assert notice["remedy"].endswith("/skills/docs/tables/1.1.0/#additions.")
    page = client.get("/skills/docs/tables/1.1.0/")
    assert part(page, "earlier-additions")
    again = client.post(address, archive, content_type="application/zip").json()
    assert "ADDITIONS_NOT_CARRIED" not in {each["code"] for each in again["problems"]}


def test_publishing_without_earlier_additions_names_none(publish_tables, owner):
    set_additions(publish_tables(), [LIBRARY], owner)
    head = HEAD.format(number="1.1.0", front="").encode()
    package = read_files([("SKILL.md", head), ("scripts/a.py", b"print(1)\n")])  # needs nothing
    done = publish(package, team=Team.objects.get(slug="docs"), actor=owner)
    assert "ADDITIONS_NOT_CARRIED" not in {each.code for each in done.problems}


def zipped(files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()
