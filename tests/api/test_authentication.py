from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from registry.models import Membership, Skill, Token
from tests.api.conftest import SKILL_MD, archive, assert_error, session_api

pytestmark = [pytest.mark.row("P2"), pytest.mark.django_db]
SKILL = "skills/docs/summarise"


def test_a_token_acts_for_its_owner(version, bob, token_api):
    assert token_api(bob, "read").get(SKILL).status_code == 200


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("Bearer", "CREDENTIALS_UNREADABLE"),
        ("Bearer ", "CREDENTIALS_UNREADABLE"),
        ("Basic YTpi", "CREDENTIALS_UNREADABLE"),
        ("sq_abc", "CREDENTIALS_UNREADABLE"),
        ("", "CREDENTIALS_UNREADABLE"),
        ("Bearer sq_äö", "CREDENTIALS_UNREADABLE"),
        ("Bearer wrong", "TOKEN_INVALID"),
        ("Bearer sq_" + "a" * 43, "TOKEN_INVALID"),
        ("Bearer " + "a" * 100_000, "TOKEN_INVALID"),
        ("Bearer a b", "TOKEN_INVALID"),
    ],
)
def test_a_credential_that_does_not_hold_makes_nobody_a_stranger(public_version, anonymous, header, code):
    answer = anonymous.get(SKILL, headers={"Authorization": header})
    assert_error(answer, 401, code)
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_a_bad_token_is_refused_even_beside_a_good_session(version, as_bob):
    assert_error(as_bob.get(SKILL, headers={"Authorization": "Bearer sq_x"}), 401, "TOKEN_INVALID")


@pytest.mark.parametrize("how", ["revoked", "expired", "owner gone", "owner inactive"])
def test_a_token_that_has_ended_is_refused(version, bob, token_api, how):
    api = token_api(bob, "read")
    if how == "revoked":
        Token.objects.filter(pk=api.token.pk).update(revoked_at=timezone.now())
    elif how == "expired":
        Token.objects.filter(pk=api.token.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    elif how == "owner gone":
        Token.objects.filter(pk=api.token.pk).delete()
    else:
        get_user_model().objects.filter(pk=bob.pk).update(is_active=False)
    assert_error(api.get(SKILL), 401, "TOKEN_INVALID")


def test_a_token_does_what_its_scopes_say_and_no_more(version, alice, token_api):
    reader, runner, publisher = (token_api(alice, scope) for scope in ("read", "run", "publish"))
    for api in (reader, runner, publisher):
        assert api.get(SKILL).status_code == 200
        assert api.get("me").status_code == 200
    archive_path = f"{SKILL}/versions/1.0.0/archive"
    reader.get(archive_path).close()
    assert_error(runner.get(archive_path), 403, "TOKEN_SCOPE_MISSING")
    assert_error(publisher.get(archive_path), 403, "TOKEN_SCOPE_MISSING")
    for api in (reader, runner):
        assert_error(api("PATCH", SKILL, {"visibility": "site"}), 403, "TOKEN_SCOPE_MISSING")
        assert_error(api.post("packages", archive(), kind="application/zip"), 403, "TOKEN_SCOPE_MISSING")
    assert publisher.get("runs").status_code == 403
    assert runner.get("runs").status_code == 200
    assert_error(reader.post("runs", {"skill": "docs/summarise"}), 403, "TOKEN_SCOPE_MISSING")
    assert_error(reader.post("inputs", b"x", kind="text/plain"), 403, "TOKEN_SCOPE_MISSING")


def test_publish_scope_manages_versions_and_settings_scope_shows_them(version, alice, token_api):
    publisher, settings = token_api(alice, "publish"), token_api(alice, "settings")
    newer = archive({"SKILL.md": SKILL_MD.replace("1.0.0", "1.1.0")})
    upload = "packages?team=docs"
    assert publisher.post(f"{upload}&channel=stable", newer, kind="application/zip").status_code == 201
    assert publisher("PUT", f"{SKILL}/channels/beta", {"version": "1.0.0"}).status_code == 200
    assert publisher.post(f"{SKILL}/versions/1.0.0/yank", {"reason": "broken"}).status_code == 200
    newest = archive({"SKILL.md": SKILL_MD.replace("1.0.0", "1.2.0")})
    show = [
        publisher("PATCH", SKILL, {"visibility": "public"}),
        publisher.post(f"{upload}&visibility=public", newest, kind="application/zip"),
        publisher("PATCH", "teams/docs/settings", {"failing_triggers": "block"}),
    ]
    for answer in show:
        assert "settings" in assert_error(answer, 403, "TOKEN_SCOPE_MISSING")["remedy"]
    assert Skill.objects.get().visibility == "private"
    assert_error(settings.post(upload, archive(), kind="application/zip"), 403, "TOKEN_SCOPE_MISSING")
    assert_error(settings("DELETE", f"{SKILL}/channels/beta"), 403, "TOKEN_SCOPE_MISSING")
    assert settings("PATCH", SKILL, {"visibility": "public"}).status_code == 200


def test_a_token_of_a_team_sees_that_team_only(version, alice, team, token_api):
    from registry.models import Role, Team

    other = Team.objects.create(slug="other")
    Membership.objects.create(team=other, user=alice, role=Role.OWNER)
    api = token_api(alice, "read", team=other)
    assert_error(api.get(SKILL), 404, "NOT_FOUND")
    assert [row["team"] for row in api.get("me").json()["teams"]] == ["other"]


def test_a_token_has_no_more_power_than_its_owner_has_now(version, bob, team, token_api):
    api = token_api(bob)
    Membership.objects.filter(user=bob, team=team).delete()
    assert_error(api.get(SKILL), 404, "NOT_FOUND")
    assert_error(api.post("packages?team=docs", archive(), kind="application/zip"), 404, "NOT_FOUND")


def test_a_change_in_a_session_needs_the_csrf_token(version, alice):
    api = session_api(alice, csrf=True)
    assert_error(api("PATCH", SKILL, {"visibility": "site"}), 403, "CSRF_FAILED")
    assert_error(api.post("packages", archive(), kind="application/zip"), 403, "CSRF_FAILED")
    assert api.get(SKILL).status_code == 200
    token = "a" * 32
    api.client.cookies["csrftoken"] = token
    answer = api("PATCH", SKILL, {"visibility": "site"}, headers={"X-CSRFToken": token})
    assert answer.status_code == 200


def test_a_forged_form_of_another_site_is_refused(version, alice):
    api = session_api(alice, csrf=True)
    api.client.cookies["csrftoken"] = "a" * 32
    headers = {"X-CSRFToken": "a" * 32, "Origin": "https://evil.example"}
    assert_error(api("PATCH", SKILL, {"visibility": "site"}, headers=headers), 403, "CSRF_FAILED")


def test_a_token_needs_no_csrf_token(version, alice, token_api):
    api = token_api(alice)
    api.client.handler.enforce_csrf_checks = True
    assert api("PATCH", SKILL, {"visibility": "site"}).status_code == 200
