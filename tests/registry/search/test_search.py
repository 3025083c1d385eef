from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from registry.identity.actors import ANONYMOUS, Actor
from registry.models import Posting, Skill, Team, TermScope
from registry.search import query as search
from registry.search import sql
from registry.search.query import Filters
from registry.search.ranking import SearchTier
from registry.versions.lifecycle import settings

pytestmark = [pytest.mark.django_db, pytest.mark.row("P4")]


@pytest.fixture
def find(alice):
    def do(text, actor=None, **more):
        return [hit.skill.slug for hit in search.search(text, actor or Actor(user=alice), **more).hits]

    return do


def exactly_counted():
    """The counts as they would be made anew: of each scope and term, the skills that have it."""
    anew = {}
    for skill in Skill.objects.all():
        scope = (
            f"team:{skill.team_id}" if skill.effective_visibility == "private" else skill.effective_visibility
        )
        for term in skill.postings.values_list("term_id", flat=True):
            anew[scope, term] = anew.get((scope, term), 0) + 1
    return anew


def counted():
    return {(row.scope, row.term_id): row.df for row in TermScope.objects.filter(df__gt=0)}


def test_each_field_is_found(publish_skill, find):
    publish_skill("a", name="Quarterly figures")
    publish_skill("b", keywords=("ledger",))
    publish_skill("c", tags=("finance",), category="money", domain="banking")
    publish_skill("d", description="Reconciles invoices.", when_to_use="before an audit")
    publish_skill("e", body="# How\nCalls the treasury service.")
    for text, slug in [
        ("quarterly", "a"),
        ("ledger", "b"),
        ("finance", "c"),
        ("money", "c"),
        ("banking", "c"),
        ("invoice", "d"),
        ("audits", "d"),
        ("Treasury", "e"),
    ]:
        assert find(text) == [slug], text


@pytest.mark.parametrize("text", ["报告", "总结报告", "周报", "总结", "导出pdf"])
def test_chinese_is_found_by_words_of_two_characters(publish_skill, find, text):
    publish_skill("weekly", name="周报助手", description="总结报告并导出PDF")
    publish_skill("other", name="翻译", description="把文字翻译成英文")
    assert find(text) == ["weekly"]


def test_a_lone_chinese_character_is_found_when_it_is_all_there_is(publish_skill, find):
    publish_skill("weekly", name="周报助手")
    assert find("报") == ["weekly"]


def test_an_exact_slug_or_name_stands_first_however_much_others_say_it(publish_skill, find):
    publish_skill("report-all", name="report report report", description="report " * 30, body="report " * 300)
    publish_skill("report", name="Something else", description="Nothing.")
    assert find("report") == ["report", "report-all"]
    assert find("Something else")[0] == "report"
    for label in ("docs/report", "Docs/Report", "docs/report@1.0.0", "report@v1", " REPORT "):
        assert find(label)[0] == "report", label


def test_the_tiers_stand_in_their_order(publish_skill, find, alice):
    publish_skill("text", name="a", description="data pipeline data pipeline data pipeline")
    publish_skill("tags", name="b", tags=("data", "pipeline"))
    publish_skill("begun", name="data pipelines2go", description="x")
    publish_skill("name", name="pipeline for all data", description="x")
    publish_skill("data-pipeline", name="c", description="x")
    hits = search.search("data pipeline", Actor(user=alice)).hits
    assert [(hit.skill.slug, hit.tier) for hit in hits] == [
        ("data-pipeline", SearchTier.EXACT),
        ("name", SearchTier.NAME),
        ("begun", SearchTier.BEGINNING),
        ("tags", SearchTier.TAGS),
        ("text", SearchTier.TEXT),
    ]


@pytest.mark.parametrize(
    ("text", "slugs"),
    [
        ("trans", ["translator"]),
        ("kube", ["deploy"]),
        ("cluster kubern", ["deploy"]),
        ("k", []),
        ("clu", ["deploy"]),
    ],
)
def test_the_last_word_may_be_only_begun(publish_skill, find, text, slugs):
    publish_skill("translator", name="Translator", description="x")
    publish_skill("deploy", name="Deploy", tags=("kubernetes",), body="to a cluster")
    assert find(text) == slugs


@pytest.mark.parametrize("slip", ["learnign", "learningg", "laerning", "lerning", "Learnimg"])
def test_a_slip_in_an_ending_is_forgiven_as_one_in_the_middle_is(publish_skill, find, slip):
    publish_skill("deep-learning", name="Deep learning", description="x")
    assert find(slip) == ["deep-learning"]


def test_two_slips_of_one_query_are_both_corrected(publish_skill, alice):
    publish_skill("planet")
    publish_skill("plant")
    words = {"planef": "planef", "planen": "planen", "plannt": "plannt"}
    found, _counts = sql.find_corrections(words, Actor(user=alice))
    alone = {}
    for word in words:
        alone |= sql.find_corrections({word: word}, Actor(user=alice))[0]
    assert found == alone
    assert set(found) == set(words)


def test_a_word_two_slips_from_a_name_is_not_taken_for_it(publish_skill, find):
    publish_skill("apple-notes", name="Apple notes", description="x")
    assert find("aple") == ["apple-notes"]
    assert find("zapper") == []


def test_within_a_tier_relevance_then_use_then_freshness_decide(publish_skill, find):
    for slug in ("one", "two", "three"):
        publish_skill(slug, name="Report maker", description="x")
    publish_skill("rich", name="Report maker maker", description="makes a report")
    assert [slug for slug in find("report maker") if slug != "rich"] == ["three", "two", "one"]
    Skill.objects.filter(slug="one").update(usage_count=5, last_used_at=timezone.now())
    Skill.objects.filter(slug="two").update(usage_count=5, last_used_at=timezone.now() - timedelta(days=9))
    ranked = [slug for slug in find("report maker") if slug != "rich"]
    assert ranked == ["one", "two", "three"]


def test_use_never_lifts_a_skill_into_another_tier(publish_skill, find):
    publish_skill("named", name="Report")
    publish_skill("told", name="x", description="A report.")
    Skill.objects.filter(slug="told").update(usage_count=10_000, last_used_at=timezone.now())
    assert find("report") == ["named", "told"]


def test_a_rare_word_counts_more_than_a_common_one(publish_skill, find):
    for n in range(6):
        publish_skill(f"common-{n}", description="handles files", name=f"n{n}")
    publish_skill("rare", description="handles parquet", name="z")
    assert find("files parquet")[0] == "rare"


def test_of_a_new_version_only_its_own_words_are_found(publish_skill, find):
    publish_skill("report", version="1.0.0", description="about elephants")
    publish_skill("report", version="2.0.0", description="about giraffes")
    assert find("elephants") == []
    assert find("giraffes") == ["report"]
    assert counted() == exactly_counted()


def test_filters_narrow_what_is_found(publish_skill, find, charlie):
    elsewhere = Team.objects.get(slug="elsewhere")
    publish_skill("a", name="Report a", type="direct", tags=("x",))
    publish_skill("b", name="Report b", type="static", tags=("x", "y"))
    publish_skill("c", name="Report c", into=elsewhere, by=Actor(user=charlie), visibility="site")
    assert set(find("report")) == {"a", "b", "c"}
    assert find("report", filters=Filters(team="elsewhere")) == ["c"]
    assert find("report", filters=Filters(type="static")) == ["b"]
    assert set(find("report", filters=Filters(tag="x"))) == {"a", "b"}
    assert find("report", filters=Filters(tag="x", type="direct")) == ["a"]


@pytest.mark.parametrize(
    "text", ["", "  ", "!", "\0", "zzzzqq", "报告" * 1000, "a " * 2000, "\ud800", "%_*'"]
)
def test_any_text_gets_an_answer(publish_skill, find, text):
    publish_skill("report")
    assert isinstance(find(text), list)


def test_the_reasons_say_which_words_counted_where(publish_skill, alice):
    publish_skill("weekly", name="Weekly Report", body="Sends mail.")
    (hit,) = search.search("my weekly reports by mail", Actor(user=alice)).hits
    query = "my weekly reports by mail"
    said = {(reason.field, query[reason.start : reason.end]) for reason in hit.reasons}
    assert said == {("name", "weekly"), ("name", "reports"), ("body", "mail")}
    assert sum(reason.share for reason in hit.reasons) == pytest.approx(1)


def test_the_document_is_the_one_of_the_design(publish_skill, alice):
    publish_skill("weekly", name="Weekly Report", version="1.2.0")
    found = search.search_document(search.search("weekly", Actor(user=alice)))
    json.dumps(found)
    assert found["none"] is False
    rows: Any = found["results"]
    (row,) = rows
    assert (row["skill"], row["version"], row["tier"]) == ("docs/weekly", "1.2.0", "exact")
    assert set(row) == {"skill", "version", "score", "tier", "reasons"}
    assert set(row["reasons"][0]) == {"kind", "field", "text", "start", "end", "share"}
    assert search.search_document(search.search("nothing", ANONYMOUS)) == {
        "query": "nothing",
        "none": True,
        "results": [],
    }


class TestWhatIsNotSeenChangesNothing:
    QUERIES = [
        "report",
        "weekly report",
        "data",
        "rep",
        "secret",
        "报告",
        "docs",
        "report weekly data secret",
        "xylo",
    ]

    @pytest.fixture
    def answers(self, charlie):
        def every():
            actors = [Actor(user=charlie), ANONYMOUS]
            return json.dumps(
                [
                    search.search_document(search.search(text, actor))
                    for actor in actors
                    for text in self.QUERIES
                ]
            )

        return every

    @pytest.fixture
    def shown(self, publish_skill, charlie):
        for n in range(4):
            publish_skill(
                f"public-{n}", name=f"Report {n}", description="weekly data 报告", visibility="public"
            )
        publish_skill("site", name="Weekly", body="report " * 5, visibility="site")
        publish_skill(
            "own", into=Team.objects.get(slug="elsewhere"), by=Actor(user=charlie), description="data"
        )

    @pytest.mark.row("P2")
    def test_a_private_publish(self, shown, answers, publish_skill, find):
        before = answers()
        for n in range(8):
            words = {"name": "secret weekly report", "tags": ("data", "xylophone"), "keywords": ("报告",)}
            publish_skill(f"report-{n}", description="weekly " * n, body="secret data report", **words)
        assert answers() == before
        assert "report-1" in find("secret")

    @pytest.mark.row("P2", "C3")
    def test_an_internal_skill_whatever_its_visibility(self, shown, answers, publish_skill):
        before = answers()
        publish_skill("report", type="internal", name="secret report", visibility="public")
        assert answers() == before

    @pytest.mark.row("P2")
    def test_a_skill_that_is_shown_and_hidden_again(self, shown, answers, publish_skill, alice):
        before = answers()
        skill = publish_skill("report", name="secret report").skill
        settings.set_visibility(skill, "public", Actor(user=alice))
        assert answers() != before
        assert counted() == exactly_counted()
        settings.set_visibility(skill, "site", Actor(user=alice))
        assert counted() == exactly_counted()
        settings.set_visibility(skill, "private", Actor(user=alice))
        assert answers() == before
        assert counted() == exactly_counted()

    @pytest.mark.row("C3")
    def test_a_skill_that_becomes_internal_and_stops_being_so(self, shown, answers, publish_skill):
        before = answers()
        publish_skill("report", version="1.0.0", name="secret", visibility="public")
        publish_skill("report", version="2.0.0", name="secret", type="internal")
        assert answers() == before
        assert counted() == exactly_counted()
        publish_skill("report", version="3.0.0", name="secret")
        assert answers() != before
        assert counted() == exactly_counted()


@pytest.mark.row("P2")
def test_only_maintainers_change_who_sees_a_skill(publish_skill, bob, charlie):
    from registry.packages.problems import Refusal

    skill = publish_skill("report").skill
    for person, code in ((bob, "FORBIDDEN"), (charlie, "NOT_FOUND")):
        with pytest.raises(Refusal) as refused:
            settings.set_visibility(skill, "public", Actor(user=person))
        assert refused.value.code == code


def test_an_older_version_published_with_a_visibility_moves_the_counts_too(publish_skill):
    publish_skill("report", version="2.0.0", description="new")
    publish_skill("report", version="1.0.0", description="old", visibility="public")
    assert counted() == exactly_counted()


def test_no_weight_leaves_its_column(publish_skill):
    publish_skill("report", name="report " * 30, description="report " * 5000, body="report " * 20_000)
    assert 0 < max(Posting.objects.values_list("weight", flat=True)) < 2**15


def test_a_common_word_of_a_large_catalog_is_left_out_where_others_tell(publish_skill, find, monkeypatch):
    monkeypatch.setattr(search, "_MIN_COMMON_DF", 2)
    for n in range(9):
        publish_skill(f"s{n}", name=f"n{n}", description="widget" + (" gadget" if n == 4 else ""))
    assert find("widget gadget") == ["s4"]
    assert len(find("widget")) == 9
