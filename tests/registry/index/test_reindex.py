from __future__ import annotations

import io
import json

import pytest
from django.core.management import call_command

from registry.identity.actors import Actor
from registry.index import postings
from registry.matching.match import MatchQuery, match
from registry.models import Posting, Skill, TermScope, Trigger
from registry.packages.package import Triggers
from registry.search.query import search

pytestmark = [pytest.mark.django_db, pytest.mark.row("P4")]


def rows():
    counts = TermScope.objects.filter(df__gt=0).values_list("scope", "term", "df")
    return (
        sorted(Posting.objects.values_list("skill", "term", "weight", "field_mask", "scope")),
        sorted(Trigger.objects.values_list("skill", "kind", "key", "text", "scope")),
        sorted(counts),
    )


def test_what_is_written_anew_is_what_publishing_wrote(publish_skill):
    for n in range(25):
        publish_skill(f"s{n}", description=f"report {n}", triggers=Triggers(phrases=("make it so",)))
    before = rows()
    assert list(postings.reindex(every=True)) == [20, 25]
    assert rows() == before


def test_answers_stay_the_same_while_all_is_written_anew(publish_skill, alice):
    for n in range(25):
        publish_skill(f"s{n}", description=f"pottery {n}", triggers=Triggers(phrases=("shape clay",)))
    actor = Actor(user=alice)

    def seen():
        found = match(MatchQuery("shape clay"), actor, limit=50).rows
        return [hit.skill.pk for hit in search("pottery", actor, limit=50).hits], [
            (row.skill.pk, row.score) for row in found
        ]

    before = seen()
    assert [len(every) for every in before] == [25, 25]
    assert [seen() == before for _ in postings.reindex(every=True)] == [True, True]


def test_only_what_older_rules_wrote_is_written_anew(publish_skill, alice):
    publish_skill("old", description="pottery", triggers=Triggers(phrases=("shape clay",)))
    publish_skill("new", description="pottery")
    Skill.objects.filter(slug="old").update(indexed_as=0)
    Trigger.objects.all().delete()
    stream = io.StringIO()
    call_command("reindex_skills", "--json", stdout=stream)
    assert json.loads(stream.getvalue()) == {"indexed": 1, "canonical": 0}
    assert match(MatchQuery("shape clay"), Actor(user=alice)).rows[0].skill.slug == "old"
    assert len(search("pottery", Actor(user=alice)).hits) == 2
    assert list(postings.reindex()) == []
