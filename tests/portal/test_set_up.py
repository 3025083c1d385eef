"""``manage.py set_up``: an administrator once, a team of theirs, and the examples where they are wanted."""

from __future__ import annotations

import io
import re

import pytest
from django.core.management import call_command

from registry.core.errors import UNAVAILABLE
from registry.identity.actors import ANONYMOUS
from registry.models import Membership, Role, Skill, User, Visibility
from registry.packages.problems import Refusal

pytestmark = [pytest.mark.django_db, pytest.mark.row("P9")]


def set_up() -> str:
    out = io.StringIO()
    call_command("set_up", stdout=out)
    return out.getvalue()


def test_without_examples_there_is_still_a_team_to_publish_for(settings):
    settings.SKILLQUAY_EXAMPLES = False
    assert "password" in set_up()
    owner = Membership.objects.get(team__slug="examples")
    assert (owner.user, owner.role) == (User.objects.get(is_superuser=True), Role.OWNER)
    assert set(Skill.objects.values_list("source", flat=True)) == {"builtin"}


def test_done_again_it_changes_and_says_nothing(settings, monkeypatch):
    monkeypatch.setattr(
        "portal.management.commands.set_up.EXAMPLES", settings.BASE_DIR / "examples" / "absent"
    )
    set_up()
    assert set_up() == ""
    assert User.objects.filter(is_superuser=True).count() == Membership.objects.count() == 1


def test_examples_are_there_to_be_found_before_signing_in(settings, tmp_path, monkeypatch):
    folder = tmp_path / "hello"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: hello\ndescription: Says hello.\n---\n# Hello\n")
    monkeypatch.setattr("portal.management.commands.set_up.EXAMPLES", tmp_path)
    assert re.search(r"\b1\b", set_up())  # how many were published
    hello = Skill.objects.get(slug="hello")
    assert hello.visibility == Visibility.PUBLIC
    assert hello in Skill.objects.visible_to(ANONYMOUS)
    assert hello not in Skill.objects.recommendable_to(ANONYMOUS)  # the prompts of agents contain no samples


def test_a_site_whose_storage_is_away_is_not_set_up(tmp_path, monkeypatch):
    (tmp_path / "hello").mkdir()
    (tmp_path / "hello" / "SKILL.md").write_text("---\nname: hello\ndescription: Says hello.\n---\n# Hello\n")
    monkeypatch.setattr("portal.management.commands.set_up.EXAMPLES", tmp_path)

    def away(*arguments, **more):
        raise UNAVAILABLE.refusal()

    monkeypatch.setattr("portal.management.commands.set_up.publish", away)
    with pytest.raises(Refusal) as refused:
        set_up()
    assert refused.value.code == "UNAVAILABLE"
