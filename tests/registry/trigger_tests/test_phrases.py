from __future__ import annotations

import json

import pytest

from registry.core.languages import language_of
from registry.matching import match as matching
from registry.matching import ranking
from registry.models import AuditEntry, SkillPhrase
from registry.packages.package import Triggers
from registry.packages.problems import Refusal
from registry.trigger_tests import phrases
from registry.versions.publishing.publish import preview_publication, publish
from tests.registry.conftest import make_package
from tests.registry.imports.conftest import server as server
from tests.shell import api

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]
ANSWER = {
    "en": ["sum up the report", "sum up the report", "x" * 300],
    "zh": ["总结这份报告", "not Chinese", 7],
}


@pytest.fixture
def model(server, settings):
    """A local server that speaks the chat completions of OpenAI."""
    settings.SKILLQUAY_MODEL_URL = f"{server.url}/v1"
    settings.SKILLQUAY_MODEL_NAME = "little-one"
    settings.SKILLQUAY_MODEL_KEY = "a-key"
    server.asked, server.content, server.status = [], json.dumps(ANSWER), 200

    def answer(handler):
        server.asked.append((handler.recorded.headers, json.loads(handler.recorded.body)))
        message = {"role": "assistant", "content": server.content}
        said = {"object": "chat.completion", "choices": [{"index": 0, "message": message}]}
        handler.send(server.status, json.dumps(said).encode())

    server.responders["/v1/chat/completions"] = answer
    return server


@pytest.fixture
def skill(publish_skill):
    return publish_skill(
        "reader", description="Opens long files.", triggers=Triggers(phrases=("read it for me",))
    ).skill


def _met(said, actor):
    """The phrases that a match names as its reasons."""
    rows = matching.match(matching.MatchQuery(said), actor).rows
    return [reason.text for row in rows for reason in row.reasons if reason.kind == "phrase"]


def test_without_a_named_model_none_is_asked(skill, alice, actor_of):
    with pytest.raises(Refusal) as refused:
        phrases.request_proposals(skill, actor_of(alice))
    assert refused.value.code == "MODEL_DISABLED"


def test_the_model_is_asked_as_openai_is(model, skill, alice, actor_of):
    assert phrases.request_proposals(skill, actor_of(alice)) == [
        "sum up the report",
        "sum up the report",
        "总结这份报告",
    ]
    ((headers, body),) = model.asked
    assert headers["authorization"] == "Bearer a-key"
    assert body["model"] == "little-one"
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    told = json.loads(body["messages"][1]["content"])
    assert told == {"name": "reader", "description": "Opens long files.", "phrases": ["read it for me"]}


def test_proposals_wait_for_a_person_and_are_matched_when_accepted(model, skill, alice, actor_of):
    actor = actor_of(alice)
    proposed = phrases.propose(skill, phrases.request_proposals(skill, actor), actor)
    assert [(row.text, row.language) for row in proposed] == [
        ("sum up the report", "en"),
        ("总结这份报告", "zh"),
    ]
    assert _met("请总结这份报告吧", actor) == []
    phrases.decide(skill, proposed[1].uid, actor, accept=True)
    assert _met("请总结这份报告吧", actor) == ["总结这份报告"]
    phrases.decide(skill, proposed[1].uid, actor, accept=False)
    assert _met("请总结这份报告吧", actor) == []
    assert AuditEntry.objects.filter(action__startswith="phrase").count() == 3


def test_an_accepted_phrase_stays_with_the_next_version_and_changes_no_published_byte(skill, alice, actor_of):
    actor, digest = actor_of(alice), skill.latest.digest
    (row,) = phrases.propose(skill, ["总结这份报告"], actor)
    phrases.decide(skill, row.uid, actor, accept=True)
    skill.latest.refresh_from_db()
    assert skill.latest.digest == digest
    publish(make_package("reader", version="1.1.0"), team=skill.team, actor=actor)
    assert _met("请总结这份报告吧", actor) == ["总结这份报告"]


def test_what_is_known_or_was_declined_is_not_proposed_again(skill, alice, actor_of):
    actor = actor_of(alice)
    (row,) = phrases.propose(skill, ["Read it for me!", "sum it up"], actor)
    phrases.decide(skill, row.uid, actor, accept=False)
    assert phrases.propose(skill, ["sum it up"], actor) == []


@pytest.mark.parametrize("content", ["no JSON", "[]", '"text"', None, "[" * 2000])
def test_an_answer_that_cannot_be_used_is_refused(model, skill, alice, actor_of, content):
    model.content = content
    with pytest.raises(Refusal) as refused:
        phrases.request_proposals(skill, actor_of(alice))
    assert refused.value.code == "MODEL_ANSWER_INVALID"


def test_a_model_that_fails_is_refused_without_its_words(model, skill, alice, actor_of):
    model.status = 500
    with pytest.raises(Refusal, match="500") as refused:
        phrases.request_proposals(skill, actor_of(alice))
    assert refused.value.code == "MODEL_ANSWER_INVALID"


def test_a_code_block_around_the_answer_does_no_harm(model, skill, alice, actor_of):
    model.content = f"```json\n{json.dumps(ANSWER)}\n```"
    assert "总结这份报告" in phrases.request_proposals(skill, actor_of(alice))


def test_a_host_that_is_not_listed_is_not_asked(model, settings, skill, alice, actor_of):
    settings.SKILLQUAY_OUTBOUND_ALLOW = []
    with pytest.raises(Refusal) as refused:
        phrases.request_proposals(skill, actor_of(alice))
    assert refused.value.code in ("OUTBOUND_REFUSED", "OUTBOUND_ADDRESS")
    assert model.asked == []


def test_members_neither_have_phrases_proposed_nor_accept_them(model, skill, bob, charlie, actor_of):
    for user in (bob, charlie):
        with pytest.raises(Refusal) as refused:
            phrases.request_proposals(skill, actor_of(user))
        assert refused.value.code in ("FORBIDDEN", "NOT_FOUND")
    assert model.asked == []


def test_shell_proposes_and_accepts(model, skill):
    items = api("POST", "skills/docs/reader/phrases/propose")[1]["items"]
    assert {item["state"] for item in items} == {"proposed"}
    assert api("POST", f"skills/docs/reader/phrases/{items[0]['id']}", {"accept": True})[0] == 0
    assert SkillPhrase.objects.get(uid=items[0]["id"]).state == "accepted"


@pytest.mark.parametrize(("text", "language"), [("weekly report", "en"), ("周报 weekly", "zh"), ("", "en")])
def test_a_text_is_chinese_where_there_is_any(text, language):
    assert language_of(text) == language


def test_a_phrase_that_nobody_can_say_is_told_to_its_author(team, alice, actor_of):
    said = ("帮我把这份财务报告翻译成英文版本再发给客户看", "!!!", "one word " * 20, "weekly report")
    package = make_package(version="1.0.0", triggers=Triggers(phrases=said))
    done = publish(package, team=team, actor=actor_of(alice))
    told = [each.params["phrase"] for each in done.problems if each.code == "PHRASE_UNUSABLE"]
    assert told == ["!!!", ("one word " * 20)[:80]]
    (first,) = matching.match(matching.MatchQuery(said[0]), actor_of(alice)).rows
    assert (first.tier, first.score) == (ranking.MatchTier.EXPLICIT, 1)


def test_publishing_hints_where_a_language_of_the_team_has_no_phrase(team, alice, actor_of, settings):
    settings.SKILLQUAY_LANGUAGES = ["en"]
    package = make_package(version="1.0.0", triggers=Triggers(phrases=("总结报告",)))

    def hinted(problems):
        return [each.params["language"] for each in problems if each.code == "PHRASE_LANGUAGE_MISSING"]

    assert hinted(preview_publication(package, team=team, actor=actor_of(alice)).problems) == ["en"]
    team.languages = ["zh"]
    team.save()
    assert hinted(publish(package, team=team, actor=actor_of(alice)).problems) == []
    team.languages = []
    settings.SKILLQUAY_LANGUAGES = []
    assert (
        hinted(preview_publication(make_package(version="1.1.0"), team=team, actor=actor_of(alice)).problems)
        == []
    )
