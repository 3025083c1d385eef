"""The portal's own tools, offered as skills."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from django.urls import resolve

from portal import builtin
from registry.identity.actors import ANONYMOUS, Actor
from registry.matching.match import MatchQuery, match
from registry.models import Skill, Version
from registry.packages.scan.scan import scan

pytestmark = [pytest.mark.django_db, pytest.mark.row("D2", "E1")]


@pytest.fixture(autouse=True)
def address(settings):
    settings.SKILLQUAY_PUBLIC_URL = "https://skills.quay.dev"


def test_they_are_prompts_against_which_nothing_stands():
    for package in builtin.packages():
        assert [one for one in package.problems if one.severity != "notice"] == []
        assert [one for one in scan(package) if one.is_flagged] == []
        assert [file.path for file in package.files] == ["SKILL.md"]
        assert package.manifest.triggers.phrases
        assert "⟦" not in package.body


def test_every_address_that_they_name_is_there():
    named = {
        urlsplit(found.rstrip(".")).path
        for package in builtin.packages()
        for found in re.findall(r"https://skills\.quay\.dev[\w./-]*", package.body)
    }
    assert len(named) >= 12
    for path in named:
        resolve(path)


def test_they_are_published_once_and_again_when_the_site_has_moved(administrator, settings):
    actor = Actor(user=administrator)
    assert builtin.publish_builtin(actor) == 3
    assert builtin.publish_builtin(actor) == 0
    rows = Skill.objects.values_list("team__slug", "source", "visibility", "is_bundled").distinct()
    assert list(rows) == [("skillquay", "builtin", "public", True)]
    settings.SKILLQUAY_PUBLIC_URL = "https://elsewhere.quay.dev"
    assert builtin.publish_builtin(actor) == 3
    assert set(Version.objects.values_list("number", flat=True)) == {"0.1.0", "0.1.1"}


@pytest.mark.parametrize(
    ("words", "slug"),
    [
        ("is there a skill that counts words", "find-skills"),
        ("查找技能", "find-skills"),
        ("执行这个技能", "run-skill"),
        ("publish this skill for my team", "publish-skill"),
        ("上传技能包", "publish-skill"),
    ],
)
def test_an_agent_finds_them_in_both_languages(administrator, words, slug):
    builtin.publish_builtin(Actor(user=administrator))
    found = match(MatchQuery(words), ANONYMOUS, limit=3)
    assert found.rows[0].skill.slug == slug
