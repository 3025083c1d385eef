from __future__ import annotations

import json

import pytest
from django.utils import timezone

from registry.identity.actors import ANONYMOUS, Actor
from registry.matching import match as matching
from registry.matching.documents import match_document
from registry.matching.match import MatchQuery
from registry.matching.ranking import MatchTier
from registry.models import GlossaryEntry, Skill, Subscription, Team
from registry.packages.package import Triggers
from registry.versions.lifecycle import settings
from registry.versions.lifecycle import yank as publishing_yank

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]


@pytest.fixture
def catalog(publish_skill):
    """Skills of several kinds, so that words are neither all rare nor all common."""
    publish_skill("weekly", name="Weekly report", description="Writes a weekly report from notes.")
    publish_skill("invoice-sorter", description="Sorts invoices and receipts for reimbursement.")
    publish_skill("k8s-backup", description="Backs up and restores a cluster.", tags=("kubernetes",))
    publish_skill("tickets", description="Reads support tickets and drafts replies.")
    publish_skill("translator", description="Translates documents between languages.")


class TestExplicit:
    def test_an_event_an_intent_and_a_phrase_ask_for_a_skill(self, catalog, publish_skill, ask):
        triggers = Triggers(
            intents=("summarize_day",), phrases=("wrap up my day",), event_types=("day.ended",)
        )
        publish_skill("evening", description="x", triggers=triggers)
        for asked, kind in (
            ({"event": "day.ended"}, "event"),
            ({"intent": "summarize_day"}, "intent"),
            ({"intent": "Summarize day"}, "intent"),
            ({"utterance": "could you wrap up my day, please?"}, "phrase"),
        ):
            row = ask(**asked).rows[0]
            assert (row.skill.slug, row.tier) == ("evening", MatchTier.EXPLICIT), asked
            assert kind in {reason.kind for reason in row.reasons}
        assert ask(event="day.begun").none
        assert ask(intent="nothing of the sort").none

    def test_the_reason_says_where_in_the_utterance_the_phrase_stands(self, publish_skill, ask):
        publish_skill("evening", description="x", triggers=Triggers(phrases=("wrap up my day",)))
        utterance = "Please WRAP  UP my day now"
        (reason,) = ask(utterance).rows[0].reasons
        assert (reason.kind, reason.field, reason.text) == ("phrase", "phrases", "wrap up my day")
        assert utterance[reason.start : reason.end] == "WRAP  UP my day"
        assert reason.share == 1

    @pytest.mark.parametrize("utterance", ["start the engines", "smart ways to restart", "part of it"])
    def test_a_phrase_fires_at_whole_words_only(self, publish_skill, slugs, utterance):
        publish_skill("gallery", name="zz", description="x", body="y", triggers=Triggers(phrases=("art",)))
        assert slugs(utterance) == []
        assert slugs("art") == ["gallery"]

    def test_the_more_of_the_utterance_a_phrase_covers_the_more_it_scores(self, publish_skill, ask):
        publish_skill("long", description="x", triggers=Triggers(phrases=("make a weekly report",)))
        publish_skill("short", description="x", triggers=Triggers(phrases=("weekly report",)))
        rows = ask("make a weekly report now").rows
        assert [row.skill.slug for row in rows] == ["long", "short"]
        assert rows[0].score > rows[1].score >= 0.7
        assert ask("weekly report").rows[0].score == 1

    def test_a_chinese_phrase_is_found_in_a_sentence_and_nearly_said(self, publish_skill, slugs):
        publish_skill("digest", description="x", triggers=Triggers(phrases=("总结报告",)))
        publish_skill("other", description="翻译合同")
        assert slugs("请帮我总结报告好吗")[0] == "digest"
        assert slugs("帮我总结一下报告")[0] == "digest"

    def test_a_name_or_slug_that_is_said_asks_for_the_skill(self, catalog, ask):
        for utterance in ("run the invoice sorter on these", "use invoice-sorter", "weekly report"):
            assert ask(utterance).rows[0].tier is MatchTier.EXPLICIT, utterance
        assert ask("/tickets of today").rows[0].tier is MatchTier.EXPLICIT
        assert ask("of all tickets of today /tickets").rows[0].tier is MatchTier.EXPLICIT
        assert ask("show me all tickets that came in from the shop").rows[0].tier is MatchTier.LEXICAL

    def test_explicit_stands_above_lexical_and_priority_weighs_within(self, publish_skill, slugs):
        publish_skill("words", description="wrap up my day " * 5, body="wrap up my day " * 9)
        for slug, priority in (("low", 0.1), ("high", 0.9), ("middle", 0.5)):
            triggers = Triggers(phrases=("wrap up my day",), priority=priority)
            publish_skill(slug, description="x", triggers=triggers)
        assert slugs("wrap up my day") == ["high", "middle", "low", "words"]

    def test_a_phrase_of_more_words_than_are_looked_up_is_found_by_its_words(self, publish_skill, ask):
        phrase = "please take all of the quarterly numbers and turn them into a zebra striped brochure "
        phrase += "that each of our customers may read on the train home"
        publish_skill("brochure", description="x", triggers=Triggers(phrases=(phrase,)))
        row = ask(phrase).rows[0]
        assert (row.skill.slug, row.tier) == ("brochure", MatchTier.LEXICAL)


class TestLexical:
    def test_what_is_said_in_other_words_is_found_in_both_languages(self, catalog, slugs):
        assert slugs("整理发票准备报销")[0] == "invoice-sorter"
        assert slugs("恢复集群")[0] == "k8s-backup"
        assert slugs("put my bills in order")[0] == "invoice-sorter"

    def test_a_little_of_each_thing_asked_for_is_more_than_a_lot_of_one(self, publish_skill, ask):
        publish_skill("album", tags=("kite",), keywords=("kite",), description="A kite.")
        publish_skill(
            "holder",
            description="Holds a string.",
            body=f"Holds the string of a kite. {'Some other words. ' * 40}",
        )
        rows = ask("wind up a kite string, please").rows
        assert [row.skill.slug for row in rows] == ["holder", "album"]
        assert rows[0].score > rows[1].score
        assert {reason.text for reason in rows[0].reasons} == {"kite", "string"}
        assert sum(reason.share for reason in rows[0].reasons) == pytest.approx(1)

    def test_a_word_in_the_name_tells_more_than_one_in_the_description(self, publish_skill, slugs):
        publish_skill("lantern", description="Kite.")
        publish_skill("kite-mender", description="Repairs torn fabric.")
        assert slugs("kite") == ["kite-mender", "lantern"]

    def test_skill_whose_whole_name_is_requested_ranks_first(self, publish_skill, slugs):
        publish_skill("kite", description="Repairs torn fabric.")
        publish_skill(
            "kite-museum-guide",
            tags=("kite",),
            keywords=("kite",),
            description="Shows each kite, and every kite again.",
        )
        assert slugs("print a kite") == ["kite", "kite-museum-guide"]

    def test_description_with_all_words_ranks_before_one_with_a_word(self, publish_skill, slugs):
        publish_skill("workshop", description=f"Repairs a string of a kite. {'Other words stand here. ' * 3}")
        publish_skill("almanac", description="Kite.", body="String string string.")
        assert slugs("untangle a kite string") == ["workshop", "almanac"]

    def test_one_common_word_that_skills_are_all_about_is_answered(self, publish_skill, slugs):
        for number in range(11):
            publish_skill(f"file-{number}", description="Reads files of data.", body="Sorts what it finds.")
        assert len(slugs("data")) == 11

    def test_what_is_left_of_a_contraction_says_nothing(self, catalog, publish_skill, slugs):
        publish_skill("letters", name="S and T", description="Draws the letters S, T, D and M.")
        assert slugs("it's what she doesn't say: that'd be Tom's, I'm told") == []
        assert slugs("draw letters that don't lean") == ["letters"]

    def test_administrators_words_count_at_once(self, catalog, slugs):
        assert slugs("flumph") == []
        GlossaryEntry.objects.create(text="flumph, invoice")
        assert slugs("flumph") == ["invoice-sorter"]

    def test_a_slip_of_the_finger_in_a_name_or_tag_is_forgiven(self, catalog, slugs):
        for wrong in ("kubernets", "kuberentes"[:9] + "s", "kubernettes"):
            assert slugs(wrong) == ["k8s-backup"], wrong

    def test_the_reasons_say_which_words_counted_and_in_whose_place(self, catalog, ask):
        utterance = "restore the 集群"
        row = ask(utterance).rows[0]
        said = {(reason.kind, utterance[reason.start : reason.end]) for reason in row.reasons}
        assert {("word", "restore"), ("meaning", "集群")} <= said
        assert sum(reason.share for reason in row.reasons) == pytest.approx(1)

    def test_what_means_the_same_is_told_in_whole_words(self, catalog, ask):
        (reason,) = ask("发票").rows[0].reasons[:1]
        assert (reason.kind, reason.text) == ("meaning", "invoice")

    @pytest.mark.parametrize(
        ("description", "utterance"),
        [
            ("Makes bar charts. Not for pancakes.", "pancakes"),
            ("Makes bar charts. Do NOT use for pancakes or waffles.", "waffles"),
            ("制作柱状图。不适用于煎饼。", "煎饼"),
            ("制作柱状图，不用于煎饼", "煎饼"),
        ],
    )
    def test_what_a_skill_says_it_is_not_for_does_not_ask_for_it(
        self, publish_skill, slugs, description, utterance
    ):
        from registry.search.query import search

        publish_skill(
            "charts", description=description, body="# Charts\n\n## When not to use\n\nFor pancakes 煎饼.\n"
        )
        assert slugs(utterance) == []
        assert not search(utterance, matching_actor()).none

    def test_use_breaks_ties(self, publish_skill, slugs):
        for slug in ("one", "two", "three"):
            publish_skill(slug, name="zz", description="Shapes pottery.")
        assert slugs("pottery") == ["one", "two", "three"]
        Skill.objects.filter(slug="three").update(usage_count=5, last_used_at=timezone.now())
        assert slugs("pottery") == ["three", "one", "two"]

    def test_below_the_threshold_the_answer_is_none(self, catalog, ask):
        for utterance in (
            "hello",
            "thank you very much",
            "你好",
            "the weather on mars is dusty this time of year",
        ):
            assert ask(utterance).none, utterance


@pytest.mark.parametrize(
    "utterance",
    [
        "",
        " ",
        "a",
        "!?…",
        "\0",
        "\ud800",
        "😀🎉",
        "我",
        "a " * 50_000,
        "报告" * 50_000,
        "x" * 100_000,
        "Ünïcode مرحبا 报告 report",
    ],
)
def test_any_utterance_gets_an_answer(catalog, ask, utterance):
    found = ask(utterance)
    json.dumps(match_document(found, ANONYMOUS), ensure_ascii=True)
    assert all(0 <= row.score <= 1 for row in found.rows)


@pytest.mark.parametrize("utterance", ["a", "I", "", "…", "😀", "的"])
def test_what_says_nothing_matches_nothing(catalog, ask, utterance):
    assert ask(utterance).none


def test_a_skill_with_paths_is_there_only_where_a_named_file_fits(publish_skill, slugs):
    publish_skill(
        "migrations", description="Reviews database migrations.", paths=("**/migrations/*.py", "!**/0001_*")
    )
    assert slugs("review the database migrations") == []
    assert slugs("review the database migrations", paths=("app/views.py",)) == []
    assert slugs("review the database migrations", paths=("app/migrations/0001_initial.py",)) == []
    assert slugs("review the database migrations", paths=("x.md", "app/migrations/0002_more.py")) == [
        "migrations"
    ]


class TestWhoIsOffered:
    def test_a_skill_that_models_may_not_invoke_never_matches(self, publish_skill, slugs):
        triggers = Triggers(phrases=("shape pottery",), event_types=("clay",))
        publish_skill("pottery", description="Pottery.", triggers=triggers, disable_model_invocation=True)
        assert slugs("shape pottery") == slugs(event="clay") == slugs("pottery") == []

    @pytest.mark.row("C3")
    def test_internal_skills_match_for_their_team_only(self, publish_skill, slugs, bob, charlie):
        publish_skill("pottery", description="Pottery.", type="internal", visibility="public")
        assert slugs("pottery", actor=Actor(user=bob)) == ["pottery"]
        assert slugs("pottery", actor=Actor(user=charlie)) == []

    @pytest.mark.row("P1")
    def test_a_yanked_version_matches_no_more_from_that_moment(self, publish_skill, slugs, alice):
        version = publish_skill(
            "pottery", description="Pottery.", triggers=Triggers(phrases=("shape pottery",))
        )
        assert slugs("shape pottery") == ["pottery"]
        publishing_yank.yank(version, Actor(user=alice), reason="broken")
        assert slugs("shape pottery") == []
        publishing_yank.unyank(version, Actor(user=alice))
        assert slugs("shape pottery") == ["pottery"]

    def test_hiding_and_showing_move_the_triggers_too(self, publish_skill, slugs, alice, charlie):
        skill = publish_skill(
            "pottery", description="Pottery.", triggers=Triggers(phrases=("shape pottery",))
        ).skill
        stranger = Actor(user=charlie)
        Subscription.objects.create(team=Team.objects.get(slug="elsewhere"), publisher=skill.team)
        assert slugs("shape pottery", actor=stranger) == []
        settings.set_visibility(skill, "site", Actor(user=alice))
        assert slugs("shape pottery", actor=stranger) == ["pottery"]
        settings.set_visibility(skill, "private", Actor(user=alice))
        assert slugs("shape pottery", actor=stranger) == []

    def test_another_teams_skill_matches_once_it_is_subscribed_to_or_bundled(
        self, publish_skill, slugs, charlie, ask
    ):
        """However many others fit better."""
        mine, words = Actor(user=charlie), "Shapes pottery"
        for n in range(45):
            publish_skill(f"loud-{n}", description=f"{words}. {words}.", visibility="public")
        publish_skill("offered", description=words, visibility="public", triggers=Triggers(phrases=(words,)))
        assert slugs("shape pottery", actor=mine) == []
        Skill.objects.filter(slug="offered").update(is_bundled=True)
        assert slugs("shape pottery", actor=mine) == slugs("shape pottery", actor=ANONYMOUS) == ["offered"]
        own = Team.objects.get(slug="elsewhere")
        Subscription.objects.create(team=own, publisher=Team.objects.get(slug="docs"))
        assert len(ask("shape pottery", actor=mine, limit=100).rows) > 1


@pytest.mark.row("P2")
def test_a_private_publish_changes_nothing_of_a_strangers_answers(catalog, publish_skill, charlie):
    elsewhere, mine = Team.objects.get(slug="elsewhere"), Actor(user=charlie)
    for n in range(4):
        publish_skill(f"public-{n}", name=f"Report {n}", description="weekly data 报告", visibility="public")
    publish_skill(
        "own", into=elsewhere, by=mine, name="xylophone", description="secret data", tags=("music",)
    )

    def answers():
        texts = [
            "weekly report",
            "secret",
            "xylophne",
            "xylophones",
            "报告",
            "shape pottery",
            "docs report",
            "kubernets",
        ]
        found = [
            matching.match(MatchQuery(text, event="clay"), actor)
            for text in texts
            for actor in (mine, ANONYMOUS)
        ]
        return json.dumps([match_document(each, ANONYMOUS) for each in found])

    Skill.objects.filter(visibility="public").update(is_bundled=True)
    before = answers()
    assert "docs/public-1" in before
    triggers = Triggers(phrases=("shape pottery", "weekly report"), event_types=("clay",))
    for n in range(6):
        publish_skill(
            f"kubernetes-{n}",
            name="secret xylophones report",
            tags=("music",),
            triggers=triggers,
            body="报告",
        )
    assert answers() == before


def test_the_original_scorers_right_answers_stay_right(publish_skill, slugs):
    """Keyword 0.6, description 0.3, domain 0.1; an intent or phrase that is said; a priority on top."""
    publish_skill("pdf", keywords=("pdf",), description="Extracts text from documents.", domain="office")
    publish_skill("sheets", keywords=("excel",), description="Fills spreadsheets.", domain="office")
    publish_skill(
        "greet", triggers=Triggers(intents=("greet_user",), phrases=("good morning",)), description="Greets."
    )
    assert slugs("read this pdf")[0] == "pdf"
    assert slugs("extract text")[0] == "pdf"
    assert slugs("fill the spreadsheet")[0] == "sheets"
    assert set(slugs("office")) == {"pdf", "sheets"}
    assert slugs("good morning everybody")[0] == "greet"
    assert slugs("a") == []


def matching_actor():
    from registry.identity.actors import administrator_actor

    return administrator_actor()


@pytest.mark.parametrize("said", ["wrap up my day", "收工 啦", "总结今天的工作", "dayend now"])
def test_a_phrase_is_found_at_the_end_of_a_page_of_words(publish_skill, ask, said):
    publish_skill("evening", description="x", triggers=Triggers(phrases=("wrap up my day", said)))
    publish_skill("night", description="x", triggers=Triggers(phrases=("wrap up my night", "收工 吧")))
    page = " ".join(f"word{number} wrap up" for number in range(150))
    (first, *_) = ask(f"{page} {said}").rows
    assert (first.skill.slug, first.tier, first.reasons[0].kind) == ("evening", MatchTier.EXPLICIT, "phrase")
