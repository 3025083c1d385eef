"""The Rules tab of a team, the rules of a token, and the decision on a skill's page."""

from __future__ import annotations

import pytest

from registry.identity.actors import Actor
from registry.identity.teams import create_team
from registry.models import AuditEntry, Membership, Role, Rule, Team
from registry.rules import edit
from registry.secrets import grants, values
from tests.factories.skills import publish_files
from tests.pages import actions, messages, part, parts, select
from tests.portal.test_stranger import _content as told
from tests.registry.conftest import make_package

pytestmark = [pytest.mark.django_db, pytest.mark.row("D6")]

RULES = "/teams/docs/rules/"
RUN = "/skills/elsewhere/report/run/"


@pytest.fixture
def others(charlie):
    """Charlie's public skill, which asks for a tool."""
    from registry.packages.package import PackageFile
    from registry.versions.publishing.publish import publish

    away = Team.objects.get(slug="elsewhere")

    def make(version="1.0.0", tools=("Bash",), **more):
        files = (PackageFile("scripts/main.py", b"print('{}')"),)
        package = make_package(version=version, files=files, allowed_tools=tools, **more)
        return publish(package, team=away, actor=Actor(user=charlie), visibility="public").version

    return make


def test_an_owner_adds_a_rule_and_takes_it_back(browse, alice, others):
    others()
    client = browse(alice)
    assert parts(client.get(RULES), "empty")
    page = client.post(RULES, {"effect": "allow", "name": "/elsewhere/report", "version": ""}, follow=True)
    rule = part(page, "rule", state="allow", value="elsewhere/report")
    for text in ("elsewhere/report@1.0.0", "Bash", "alice"):
        assert text in rule
    uid = Rule.objects.get().uid
    assert f"/rules/{uid}/remove/" in page.text
    page = client.post(f"/rules/{uid}/remove/", follow=True)
    assert parts(page, "empty")
    page = client.post(f"/rules/{uid}/restore/", follow=True)
    assert messages(page) == ["success"]
    assert parts(page, "rule", value="elsewhere/report")
    assert "rule.restore" in client.get("/teams/docs/activity/").text


@pytest.mark.parametrize(
    ("asked", "field", "code"),
    [
        ({"effect": "deny", "name": "no name"}, "name", "RULE_NAME_INVALID"),
        ({"effect": "allow", "name": "docs/absent"}, None, "NOT_FOUND"),
        ({"effect": "deny", "name": ""}, "name", "required"),
        ({"effect": "perhaps", "name": "docs/x"}, "effect", "invalid_choice"),
    ],
)
def test_invalid_rule_is_reported_at_its_field(browse, alice, asked, field, code):
    page = browse(alice).post(RULES, asked)
    assert page.status_code == 422
    [error] = part(page, "errors").tags("li")
    assert (error.attributes.get("data-field"), error["code"]) == (field, code)
    assert not Rule.objects.exists()


@pytest.mark.parametrize(
    ("role", "may_add", "may_allow"),
    [(Role.VIEWER, False, False), (Role.MEMBER, False, False), (Role.MAINTAINER, True, False)],
)
def test_each_role_is_offered_what_it_may(browse, alice, bob, team, others, role, may_add, may_allow):
    others()
    Membership.objects.filter(user=bob).update(role=role)
    rule = edit.add_rule(team, "allow", "elsewhere/report", Actor(user=alice))
    page = browse(bob).get(RULES)
    assert "elsewhere/report" in page.text
    assert ("add-rule" in actions(page)) is may_add
    assert ('value="allow"' in page.text) is may_allow
    assert (f"/rules/{rule.uid}/remove/" in page.text) is may_add


def test_a_stranger_finds_neither_rules_nor_who_keeps_them(browse, alice, charlie, private, team):
    rule = edit.add_rule(team, "deny", "x", Actor(user=alice))
    client = browse(charlie)
    assert client.get(RULES).status_code == client.get("/teams/dxcs/rules/").status_code == 404
    for verb in ("remove", "restore"):
        paths = [f"/rules/{uid}/{verb}/" for uid in (rule.uid, "absent")]
        answers = [client.post(path, headers={"x-request-id": "stranger-1"}) for path in paths]
        assert told(answers[0]) == told(answers[1], [("absent", rule.uid)])
        assert answers[0].status_code == 404
    assert "/sign-in/" in browse(None).get(RULES)["Location"]


def test_a_visible_teams_rules_are_its_members_alone(browse, charlie, public):
    assert browse(charlie).get(RULES).status_code == 403
    assert RULES not in browse(charlie).get("/teams/docs/").text


def test_the_skills_page_says_why_agents_may_not_and_an_owner_lets_them(browse, alice, bob, others):
    others()
    page = browse(bob).get(RUN)
    assert part(page, "agent-permission", team="docs")["state"] == "ask"
    assert "Bash" in part(page, "reason")
    assert "elsewhere/report:*" not in page.text
    client = browse(alice)
    assert "elsewhere/report:*" in client.get(RUN).text
    asked = {"name": "elsewhere/report:*", "version": "1.0.0"}
    page = client.post("/skills/elsewhere/report/allow/", asked, follow=True)
    permission = part(page, "agent-permission")
    assert (permission["state"], permission["reason"]) == ("allow", "rule")
    assert "undo" in actions(page)
    assert AuditEntry.objects.filter(action="rule.add").count() == 1
    others(version="2.0.0", tools=("Bash", "Write"))
    page = client.get(RUN)
    added = part(page, "added-permissions")
    assert [name.text for name in added.tags("code")] == ["Write"]


@pytest.mark.row("D11")
def test_the_page_says_of_what_is_kept_for_people_that_no_agent_runs_it(browse, alice, others):
    others(disable_model_invocation=True)
    page = browse(alice).get(RUN)
    permission = part(page, "agent-permission")
    assert (permission["state"], permission["reason"]) == ("deny", "skill")
    assert parts(page, "requested-permissions") == []


def test_the_run_form_decides_for_the_team_that_is_chosen(browse, alice, others):
    """Without scripts too: another team's decision is a link, and its rule is its own."""
    others()
    second = create_team("press", "Press", Actor(user=alice))
    client = browse(alice)
    assert "?team=press" in client.get(RUN).text
    page = client.get(f"{RUN}?team=press").text
    assert part(page, "agent-permission", team="press")["state"] == "ask"
    assert parts(page, "requested-permissions")
    assert select(page, "input", name="team", value="press")
    asked = {"name": "elsewhere/report", "version": "1.0.0", "team": "press"}
    page = client.post("/skills/elsewhere/report/allow/", asked, follow=True)
    permission = part(page, "agent-permission", team="press")
    assert (permission["state"], permission["reason"]) == ("allow", "rule")
    assert Rule.objects.get().team == second
    assert part(client.get(f"{RUN}?team=docs"), "agent-permission", team="docs")["state"] == "ask"


def test_a_rule_is_made_for_no_team_of_others(browse, alice, others):
    others()
    asked = {"name": "elsewhere/report", "version": "1.0.0", "team": "elsewhere"}
    assert browse(alice).post("/skills/elsewhere/report/allow/", asked).status_code in (302, 404)
    assert not Rule.objects.exists()


def test_a_member_who_posts_an_allowance_is_refused_and_told(browse, bob, others):
    others()
    asked = {"name": "elsewhere/report", "version": "1.0.0"}
    page = browse(bob).post("/skills/elsewhere/report/allow/", asked, follow=True)
    assert part(page, "message", kind="error")["code"] == "FORBIDDEN"
    assert not Rule.objects.exists()


def test_a_person_is_refused_by_a_denial_where_they_press_run(browse, alice, others, team):
    others()
    edit.add_rule(team, "deny", "elsewhere/:*", Actor(user=alice))
    client = browse(alice)
    permission = part(client.get(RUN), "agent-permission")
    assert (permission["state"], permission["reason"]) == ("deny", "rule")
    page = client.post(RUN, {"version": "1.0.0", "run": "1", "team": "docs"})
    assert page.status_code == 422
    assert "elsewhere/:*" in part(part(page, "errors"), code="RULE_DENIED")


def test_a_token_has_rules_of_its_own(browse, alice, bob, others):
    from datetime import timedelta

    from django.utils import timezone

    from registry.identity import tokens

    others()
    ends = timezone.now() + timedelta(days=1)
    token, _secret = tokens.issue(bob, name="agent", scopes=["run"], expires_at=ends, by=Actor(user=bob))
    address = f"/account/tokens/{token.uid}/rules/"
    client = browse(bob)
    assert address in client.get("/account/tokens/").text
    page = client.post(address, {"effect": "deny", "name": "report"}, follow=True)
    assert parts(page, "rule", state="deny", value="report")
    assert browse(alice).get(address).status_code == 404


def test_a_prompt_says_it_too(browse, alice, public):
    page = browse(alice).get("/skills/docs/kind-review/use/")
    assert parts(page, "agent-permission")
    assert parts(browse(None).get("/skills/docs/kind-review/use/"), "agent-permission") == []


def test_the_run_form_says_which_secrets_are_missing_before_run_is_pressed(browse, alice, team):
    head = b"---\nname: post\ndescription: P.\nversion: 1.0.0\nsecurity: {secrets: [API_KEY]}\n---\n# P\n"
    files = {"SKILL.md": head, "scripts/post.py": b"print('{}')\n"}
    version, owner = publish_files(files, team=team, user=alice), Actor(user=alice)
    client, form = browse(alice), "/skills/docs/post/run/"
    page = client.get(form).text
    assert secret_states(page) == ["not-set"]
    link = "/teams/docs/secrets/?skill=docs/post&amp;version=1.0.0"
    assert link in page
    needs = part(client.get(link.replace("&amp;", "&")), "secret-needs")
    assert (needs["value"], secret_states(needs)) == ("docs/post@1.0.0", ["not-set"])
    kept = values.put_secret(team, "API_KEY", "s3cr3t value", owner)
    page = client.get(form).text
    assert secret_states(page) == ["not-granted"]
    grants.grant(kept, version, owner)
    assert parts(client.get(form), "missing-secrets") == []


def secret_states(page):
    return [row["state"] for row in parts(page, "secret", value="API_KEY")]
