"""Which changes raise which numbers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.identity import tokens
from registry.identity.actors import Actor
from registry.models import (
    Canonical,
    ChangeKind,
    ChangeNumber,
    Channel,
    Finding,
    Membership,
    Redirect,
    Role,
    Scope,
    Skill,
    Team,
    Token,
    User,
    Version,
)
from registry.usage.recording import record_use
from worker.models import DependencyBuild

pytestmark = [pytest.mark.django_db, pytest.mark.row("P9")]
COMMON = ("common", 0)


@pytest.fixture
def version(publish_skill):
    return publish_skill("report", visibility="public")


def test_publication_raises_site_team_and_skill(raised, publish_skill, team):
    found = raised(lambda: publish_skill("new-skill"))
    skill = Skill.objects.get(slug="new-skill")
    assert found == {"site", ("team", team.pk), ("skill", skill.pk)}


def test_new_version_raises_only_its_skill(raised, publish_skill, version):
    found = raised(lambda: publish_skill("report", version="1.1.0"))
    assert found == {"site", ("skill", version.skill_id)}


def test_use_raises_nothing(raised, version, alice):
    assert raised(lambda: record_use(version.skill, "user:1", "install", version="1.0.0")) == set()
    assert Skill.objects.get().usage_count == 1


def test_write_of_the_same_values_raises_nothing(raised, version):
    assert raised(lambda: Skill.objects.update(visibility="public")) == set()


CHANGES = {
    "hide": lambda version: Skill.objects.update(visibility="private"),
    "purge": lambda version: Skill.objects.update(purged_at=timezone.now()),
    "yank": lambda version: Version.objects.update(yanked_at=timezone.now()),
    "hold": lambda version: Version.objects.update(held_at=timezone.now()),
    "report": lambda version: Version.objects.update(reported_at=timezone.now()),
    "set channel": lambda version: Channel.objects.create(skill=version.skill, name="beta", version=version),
    "find": lambda version: Finding.objects.create(version=version, rule="x", severity="low", path="a"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changes_of_a_version_raise_its_skill(raised, version, change):
    assert raised(lambda: CHANGES[change](version)) == {"site", ("skill", version.skill_id)}


def test_change_of_address_raises_the_skill_and_both_teams(raised, version, team):
    other = Team.objects.create(slug="other")
    found = raised(lambda: Skill.objects.update(team=other))
    assert found == {"site", ("skill", version.skill_id), ("team", team.pk), ("team", other.pk)}
    found = raised(lambda: Redirect.objects.create(team=team, slug="old", to=version.skill))
    assert found == {"site", ("skill", version.skill_id), ("team", team.pk)}


def test_canonical_name_raises_common_and_both_skills(raised, version, publish_skill):
    other = publish_skill("other")
    row = Canonical.objects.create(slug="report", skill=version.skill, version=version)
    found = raised(lambda: Canonical.objects.filter(pk=row.pk).update(skill=other.skill, version=other))
    assert found == {"site", COMMON, ("skill", version.skill_id), ("skill", other.skill_id)}


def test_membership_raises_its_user_and_team(raised, alice, team):
    user = User.objects.create(username="dora")
    wanted = {"site", ("user", user.pk), ("team", team.pk)}
    assert raised(lambda: Membership.objects.create(user=user, team=team, role=Role.MEMBER)) == wanted
    assert raised(lambda: Membership.objects.filter(user=user).update(role=Role.OWNER)) == wanted
    assert raised(lambda: Membership.objects.filter(user=user).delete()) == wanted


def test_token_raises_its_owner_but_its_use_does_not(raised, alice):
    secret = tokens.issue(
        alice,
        name="ci",
        scopes=[Scope.READ],
        expires_at=timezone.now() + timedelta(days=1),
        by=Actor(user=alice),
    )[1]
    assert raised(lambda: tokens.actor_of(secret)) == set()
    assert Token.objects.get().last_used_at is not None
    wanted = {"site", ("user", alice.pk)}
    assert raised(lambda: Token.objects.update(revoked_at=timezone.now())) == wanted
    assert raised(lambda: User.objects.filter(pk=alice.pk).update(is_active=False)) == wanted
    assert raised(lambda: User.objects.filter(pk=alice.pk).update(username="a2")) == wanted | {COMMON}
    assert raised(lambda: User.objects.filter(pk=alice.pk).update(last_login=timezone.now())) == set()


def test_change_of_several_versions_of_a_skill_gives_it_one_number(raised, publish_skill, version):
    """Also a skill without a number, as after the numbers were removed."""
    build = DependencyBuild.objects.create(key="a" * 64, kind="python", platform="x", spec="{}")
    build.versions.add(version, publish_skill("report", version="1.1.0"))
    builds, links = DependencyBuild.objects.all(), DependencyBuild.versions.through.objects.all()

    def empty_tables():
        ChangeNumber.objects.all().delete()
        for rows in (builds, links):  # in the order in which a database is emptied
            rows._raw_delete("default")

    assert raised(empty_tables) == {"site", ("skill", version.skill_id)}
    assert ChangeNumber.objects.filter(kind=ChangeKind.SKILL, key=version.skill_id).count() == 1


def test_new_team_raises_common(raised):
    found = raised(lambda: Team.objects.create(slug="fresh"))
    assert found == {"site", COMMON, ("team", Team.objects.get(slug="fresh").pk)}


def test_ignored_conflicts_do_not_silence_triggers(raised, version):
    rows = [Channel(skill=version.skill, name=name, version=version) for name in ("beta", "beta", "rc")]
    found = raised(lambda: Channel.objects.bulk_create(rows, ignore_conflicts=True))
    assert found == {"site", ("skill", version.skill_id)}
