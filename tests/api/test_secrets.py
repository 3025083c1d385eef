"""Secrets by API, page and command: names and grants for members, values for nobody."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace

import pytest
from django.core.management import call_command

from registry.identity.actors import Actor
from registry.models import AuditEntry, Membership, Role
from registry.secrets import grants, reviews, values
from registry.secrets.encryption import unseal
from tests.pages import parsed, part, parts
from tests.shell import api

pytestmark = [pytest.mark.django_db, pytest.mark.row("C6")]

SKILL_MD = """---
name: keyed
description: Asks a service that needs a key.
version: 1.0.0
security:
  network: allowlist
  network_allowlist: [api.example.org]
  secrets: [API_KEY]
---
# Keyed
"""
VALUE = "the-value-itself"


@pytest.fixture
def keyed(team, alice):
    from registry.packages.read_package import read_files
    from registry.versions.publishing.publish import publish

    package = read_files([("SKILL.md", SKILL_MD.encode()), ("scripts/main.py", b"print('{}')")])
    return publish(package, team=team, actor=Actor(user=alice), visibility="site").version


@pytest.fixture
def session(client):
    """``session(user)``: a client of theirs that is signed in."""

    def enter(user):
        client.force_login(user)
        return client

    return enter


def _put(client, name="API_KEY", value=VALUE):
    return client.put(f"/api/v1/teams/docs/secrets/{name}", {"value": value}, content_type="application/json")


def test_an_owner_sets_grants_and_revokes_and_the_value_comes_back_nowhere(session, alice, keyed):
    client = session(alice)
    answers = [_put(client)]
    granting = "/api/v1/teams/docs/secrets/API_KEY/grants"
    answers.append(client.post(granting, {"skill": "docs/keyed"}, content_type="application/json"))
    granted = answers[-1].json()
    assert (granted["scope"], granted["version"], granted["hosts"]) == (
        "version",
        "1.0.0",
        ["api.example.org"],
    )
    answers.append(client.get("/api/v1/skills/docs/keyed/versions/1.0.0/secrets?team=docs"))
    assert answers[-1].json()["secrets"] == [{"name": "API_KEY", "is_set": True, "granted": True}]
    answers.append(client.delete(f"/api/v1/teams/docs/secret-grants/{granted['id']}"))
    assert answers[-1].json()["revoked_at"]
    answers.append(client.get("/api/v1/teams/docs/secrets"))
    assert [row["grants"] for row in answers[-1].json()["items"]] == [[]]
    answers.append(client.get("/teams/docs/secrets/?skill=docs/keyed"))
    assert all(answer.status_code in (200, 201) for answer in answers)
    assert not any(VALUE in answer.content.decode() for answer in answers)
    assert client.delete("/api/v1/teams/docs/secrets/API_KEY").status_code == 204
    told = list(AuditEntry.objects.filter(action__startswith="secret.").order_by("pk"))
    assert [entry.action for entry in told] == [
        f"secret.{deed}" for deed in ("set", "grant", "revoke", "remove")
    ]
    assert VALUE not in json.dumps([entry.detail for entry in told])


def test_who_grants_is_told_hosts_and_no_path_that_would_hold_nobody(team, alice):
    from registry.packages.read_package import read_files
    from registry.secrets.grants import allowed_hosts
    from registry.versions.publishing.publish import publish

    listed = '["https://api.example.org/v1/only", "api.example.org:8443/x", "https://api.example.org/v2"]'
    text = SKILL_MD.replace("name: keyed", "name: pathed")
    text = text.replace("[api.example.org]", listed)
    package = read_files([("SKILL.md", text.encode()), ("scripts/main.py", b"print('{}')")])
    version = publish(package, team=team, actor=Actor(user=alice), visibility="site").version
    assert allowed_hosts(version) == ("https://api.example.org", "api.example.org:8443")


def test_a_grant_to_reviewed_versions_tells_the_hosts_of_each_that_was_reviewed(
    session, keyed, team, alice, bob
):
    from registry.packages.read_package import read_files
    from registry.versions.publishing.publish import publish

    kept = values.put_secret(team, "API_KEY", VALUE, Actor(user=alice))
    grants.grant(kept, keyed, Actor(user=alice), to="reviewed")
    text = SKILL_MD.replace("1.0.0", "1.1.0").replace("[api.example.org]", "[other.example.org]")
    package = read_files([("SKILL.md", text.encode()), ("scripts/main.py", b"print('{}')")])
    later = publish(package, team=team, actor=Actor(user=alice)).version

    def hosts():
        (row,) = session(alice).get("/api/v1/teams/docs/secrets").json()["items"]
        return row["grants"][0]["hosts"]

    assert hosts() == ["api.example.org"]
    Membership.objects.filter(user=bob).update(role=Role.MAINTAINER)
    reviews.review(later, team, Actor(user=bob))
    assert hosts() == ["api.example.org", "other.example.org"]
    assert "→ api.example.org, other.example.org" in session(alice).get("/teams/docs/secrets/").text


def test_who_grants_is_told_which_skills_it_could_be_handed_to(session, team, alice):
    from registry.packages.read_package import read_files
    from registry.versions.publishing.publish import publish

    text = "---\nname: handing\ndescription: x\nversion: 1.0.0\nrequires: [docs/other]\n"
    text += "security: {secrets: [API_KEY]}\n---\n# H\n"
    package = read_files([("SKILL.md", text.encode()), ("scripts/main.py", b"print('{}')")])
    publish(package, team=team, actor=Actor(user=alice), visibility="site")
    client = session(alice)
    needs = client.get("/api/v1/skills/docs/handing/versions/1.0.0/secrets?team=docs").json()
    assert (needs["hosts"], needs["child_skills"]) == ([], ["docs/other"])
    page = client.get("/teams/docs/secrets/?skill=docs/handing")
    assert "docs/other" in part(page, "secret-needs")
    assert not parts(page, "no-hosts")


def test_a_member_reads_names_and_changes_nothing(session, alice, bob, team, keyed):
    values.put_secret(team, "API_KEY", VALUE, Actor(user=alice))
    client = session(bob)
    assert [row["name"] for row in client.get("/api/v1/teams/docs/secrets").json()["items"]] == ["API_KEY"]
    assert _put(client).status_code == 403
    granting = "/api/v1/teams/docs/secrets/API_KEY/grants"
    assert client.post(granting, {"skill": "docs/keyed"}, content_type="application/json").status_code == 403
    page = client.get("/teams/docs/secrets/").content.decode()
    assert "API_KEY" in page
    assert 'name="value"' not in page


def test_a_maintainer_sets_and_an_owner_grants(session, bob, team, keyed):
    Membership.objects.filter(user=bob).update(role=Role.MAINTAINER)
    client = session(bob)
    assert _put(client).status_code == 200
    granting = "/api/v1/teams/docs/secrets/API_KEY/grants"
    assert client.post(granting, {"skill": "docs/keyed"}, content_type="application/json").status_code == 403


def test_a_stranger_learns_of_none(session, alice, charlie, team, keyed):
    values.put_secret(team, "API_KEY", VALUE, Actor(user=alice))
    client = session(charlie)
    for address in ("/api/v1/teams/docs/secrets", "/teams/docs/secrets/"):
        there, absent = client.get(address), client.get(address.replace("docs", "nowhere"))
        assert there.status_code in (403, 404)
        assert "API_KEY" not in there.content.decode() + absent.content.decode()
    assert client.get("/api/v1/skills/docs/keyed/versions/1.0.0/secrets?team=docs").status_code == 403


def test_pages_do_the_whole_path(session, alice, bob, team, keyed):
    client = session(alice)
    assert client.post("/teams/docs/secrets/", {"name": "lower", "value": VALUE}).status_code == 422
    assert client.post("/teams/docs/secrets/", {"name": "API_KEY", "value": VALUE}).status_code == 302
    about = {"skill": "docs/keyed", "version": "1.0.0"}
    answer = client.post(
        "/teams/docs/secrets/grant/", {**about, "name": "API_KEY", "scope": "reviewed"}, follow=True
    )
    page = parsed(answer)
    assert page.part("grant", value="docs/keyed")["state"] == "reviewed-versions"
    assert "api.example.org" in page
    assert page.part("secret", value="API_KEY")["state"] == "not-granted"
    assert not page.parts("review", state="reviewed")
    Membership.objects.filter(user=bob).update(role=Role.MAINTAINER)
    client = session(bob)
    page = client.post("/teams/docs/secrets/review/", about, follow=True)
    assert part(page, "review")["state"] == "reviewed"
    assert part(page, "secret", value="API_KEY")["state"] == "granted"
    page = client.post("/teams/docs/secrets/review/", {**about, "withdraw": "1"}, follow=True)
    assert part(page, "review")["state"] == "pending"
    uid = grants.grants_of(team).get().uid
    client.post(f"/teams/docs/secrets/{uid}/revoke/")
    assert not grants.grants_of(team).exists()
    page = client.post("/teams/docs/secrets/remove/", {"name": "API_KEY"}, follow=True)
    assert parts(page, "empty")
    assert not team.secrets.exists()


def test_a_key_of_many_lines_keeps_its_line_ends(session, alice, team):
    client = session(alice)
    client.post("/teams/docs/secrets/", {"name": "API_KEY", "value": "-----BEGIN\r\nabc\r\n"})
    row = team.secrets.get()
    assert unseal(row.sealed, team=team.uid, name="API_KEY") == "-----BEGIN\nabc\n"


def test_shell_sets_a_value_from_standard_input(team, keyed, monkeypatch):
    given = json.dumps({"value": VALUE}).encode()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(given)))
    out = io.StringIO()
    call_command("api", "PUT", "/api/v1/teams/docs/secrets/API_KEY", "-", stdout=out)
    assert (json.loads(out.getvalue())["name"], VALUE in out.getvalue()) == ("API_KEY", False)
    row = team.secrets.get()
    assert unseal(row.sealed, team=team.uid, name="API_KEY") == VALUE
    about = {"skill": "docs/keyed", "version": "1.0.0"}
    status, granted = api("POST", "teams/docs/secrets/API_KEY/grants", about)
    assert status == 0
    needs = api("GET", "skills/docs/keyed/versions/1.0.0/secrets?team=docs")[1]
    assert needs["secrets"][0]["granted"]
    assert api("DELETE", f"teams/docs/secret-grants/{granted['id']}")[0] == 0
    assert api("GET", "teams/docs/secrets")[1]["items"][0]["grants"] == []
    assert api("DELETE", "teams/docs/secrets/API_KEY") == (0, None)
    assert not team.secrets.exists()


def test_values_are_sealed_again_under_the_first_key(team, alice, settings, capsys):
    values.put_secret(team, "API_KEY", VALUE, Actor(user=alice))
    before = team.secrets.get().sealed
    settings.SKILLQUAY_SECRETS_KEYS = ["new key", *settings.SKILLQUAY_SECRETS_KEYS]
    call_command("reseal_secrets", "--json")
    assert json.loads(capsys.readouterr().out)["resealed"] == 1
    settings.SKILLQUAY_SECRETS_KEYS = ["new key"]
    row = team.secrets.get()
    assert row.sealed != before
    assert unseal(row.sealed, team=team.uid, name="API_KEY") == VALUE
