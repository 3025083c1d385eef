"""Feedback: what counts as a use, what becomes a trigger test, and who reads what was said."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.erasure import people
from registry.erasure.export import export_person
from registry.events.receive import IncomingEvent, receive
from registry.identity.actors import Actor
from registry.matching import feedback
from registry.matching.feedback import FeedbackReport
from registry.models import Event, Feedback, ProposedTriggerTest, TriggerTest, UseDay, UseKind
from registry.packages.problems import Refusal
from registry.usage import recording

pytestmark = [pytest.mark.django_db, pytest.mark.row("D9", "C4")]

WRONG = FeedbackReport("wrong_skill", "translate this letter", "It summed it up.")


def code_of(act):
    with pytest.raises(Refusal) as refused:
        act()
    return refused.value.code


@pytest.fixture
def version(publish_skill):
    return publish_skill("report", visibility="site")


def test_what_worked_or_failed_counts_as_a_run_once_a_minute(version, bob, charlie):
    assert feedback.submit_feedback(version, FeedbackReport("worked", note="fine"), Actor(user=bob))
    assert not feedback.submit_feedback(version, FeedbackReport("failed"), Actor(user=bob))
    assert feedback.submit_feedback(version, FeedbackReport("failed"), Actor(user=charlie))
    version.skill.refresh_from_db()
    assert version.skill.usage_count == 2
    assert list(UseDay.objects.values_list("kind", "count")) == [("run", 2)]
    assert feedback.counts(version.skill) == {"worked": 1, "failed": 1, "wrong_skill": 0}
    assert [row.note for row in feedback.notes(version.skill)] == ["fine"]


def test_what_failed_within_the_minute_of_a_load_is_kept_and_is_no_second_use(version, bob):
    recording.record_use(version.skill, Actor(user=bob).caller, UseKind.LOAD)
    assert not feedback.submit_feedback(version, FeedbackReport("failed", note="no PDF"), Actor(user=bob))
    assert feedback.counts(version.skill) == {"worked": 0, "failed": 1, "wrong_skill": 0}
    assert [row.note for row in feedback.notes(version.skill)] == ["no PDF"]
    version.skill.refresh_from_db()
    assert version.skill.usage_count == 1


def test_the_wrong_skill_proposes_a_test_once_and_is_no_use(version, bob, charlie):
    for user in (bob, charlie, bob):
        assert feedback.submit_feedback(version, WRONG, Actor(user=user))
    proposal = ProposedTriggerTest.objects.get()
    assert (proposal.utterance, proposal.must_match, proposal.by) == ("translate this letter", False, bob)
    assert Feedback.objects.count() == 1
    version.skill.refresh_from_db()
    assert version.skill.usage_count == 0


def test_an_accepted_proposal_is_a_test_of_the_skill(version, alice, charlie):
    feedback.submit_feedback(version, WRONG, Actor(user=charlie))
    proposal = feedback.proposals(version.skill, Actor(user=alice)).get()
    made = feedback.accept(proposal, Actor(user=alice))
    assert (made.utterance, made.must_match, made.origin, made.accepted_by) == (
        "translate this letter",
        False,
        "feedback",
        alice,
    )
    assert code_of(lambda: feedback.decline(proposal, Actor(user=alice))) == "FEEDBACK_DECIDED"
    assert not feedback.proposals(version.skill, Actor(user=alice)).exists()


def test_a_declined_proposal_is_not_made_again(version, alice, charlie):
    feedback.submit_feedback(version, WRONG, Actor(user=charlie))
    feedback.decline(ProposedTriggerTest.objects.get(), Actor(user=alice))
    feedback.submit_feedback(version, WRONG, Actor(user=charlie))
    assert not feedback.proposals(version.skill, Actor(user=alice)).exists()
    assert not TriggerTest.objects.exists()


def test_maintainers_write_tests_of_their_own(version, alice):
    for must_match in (False, True):
        made = feedback.add_test(
            version.skill, " sum this up ", must_match=must_match, actor=Actor(user=alice)
        )
    assert (made.utterance, made.must_match, made.origin) == ("sum this up", True, "page")
    assert TriggerTest.objects.count() == 1
    feedback.remove_test(version.skill, made.uid, Actor(user=alice))
    assert code_of(lambda: feedback.remove_test(version.skill, made.uid, Actor(user=alice))) == "NOT_FOUND"


@pytest.mark.row("P2")
def test_what_was_said_is_for_the_teams_maintainers(version, alice, bob, charlie):
    feedback.submit_feedback(version, WRONG, Actor(user=charlie))
    proposal, skill = ProposedTriggerTest.objects.get(), version.skill
    for user in (bob, charlie):
        actor = Actor(user=user)
        for act in (
            lambda actor=actor: feedback.proposals(skill, actor),
            lambda actor=actor: feedback.find_proposal(skill, proposal.uid, actor),
            lambda actor=actor: feedback.accept(proposal, actor),
            lambda actor=actor: feedback.decline(proposal, actor),
            lambda actor=actor: feedback.add_test(skill, "x", must_match=True, actor=actor),
            lambda actor=actor: feedback.remove_test(skill, "x", actor),
        ):
            assert code_of(act) == "FORBIDDEN"


@pytest.mark.row("P2")
def test_who_cannot_see_the_skill_tells_nothing_of_it(publish_skill, charlie):
    private = publish_skill("secret")
    assert code_of(lambda: feedback.submit_feedback(private, WRONG, Actor(user=charlie))) == "NOT_FOUND"
    assert not Feedback.objects.exists()


@pytest.mark.parametrize(
    ("told", "code"),
    [
        (FeedbackReport("wrong_skill", "  "), "FEEDBACK_UTTERANCE_MISSING"),
        (FeedbackReport("wrong_skill", "x" * 501), "TEXT_INVALID"),
        (FeedbackReport("wrong_skill", "a\0b"), "TEXT_INVALID"),
        (FeedbackReport("worked", note="x" * 501), "TEXT_INVALID"),
    ],
)
def test_what_cannot_be_kept_is_refused(version, bob, told, code):
    assert code_of(lambda: feedback.submit_feedback(version, told, Actor(user=bob))) == code
    assert not Feedback.objects.exists()


def test_nobody_fills_the_page_of_another_team(version, charlie, bob, monkeypatch):
    monkeypatch.setattr(feedback, "MAX_PROPOSED_PER_USER", 2)

    def say(n, user):
        return feedback.submit_feedback(version, FeedbackReport("wrong_skill", f"say {n}"), Actor(user=user))

    for n in range(2):
        say(n, charlie)
    assert code_of(lambda: say(2, charlie)) == "FEEDBACK_FULL"
    say(3, bob)
    monkeypatch.setattr(feedback, "MAX_PROPOSED", 3)
    assert code_of(lambda: say(4, bob)) == "FEEDBACK_FULL"


def test_old_feedback_is_forgotten_and_proposals_stay(version, bob):
    feedback.submit_feedback(version, WRONG, Actor(user=bob))
    Feedback.objects.update(created_at=timezone.now() - timedelta(days=31))
    feedback.delete_expired_feedback()
    assert (Feedback.objects.count(), ProposedTriggerTest.objects.count()) == (0, 1)


@pytest.mark.row("P12")
def test_a_person_takes_what_they_told_along_and_it_goes_with_them(version, team, alice, bob):
    feedback.submit_feedback(version, WRONG, Actor(user=bob))
    receive(IncomingEvent("report.filed", {"title": "Week 47"}), Actor(user=bob), team=team)
    feedback.submit_feedback(version, FeedbackReport("wrong_skill", "say hello"), Actor(user=bob))
    kept = feedback.accept(ProposedTriggerTest.objects.get(utterance="say hello"), Actor(user=alice))
    told = export_person(bob, Actor(user=bob))
    assert [each["payload"] for each in told["events"]] == [{"title": "Week 47"}]
    assert [each["note"] for each in told["feedback"]] == ["It summed it up.", ""]
    assert [each["utterance"] for each in told["proposed_tests"]] == ["translate this letter", "say hello"]
    people.erase_person(bob, Actor(user=bob))
    assert [Event.objects.count(), Feedback.objects.count(), ProposedTriggerTest.objects.count()] == [0, 0, 0]
    assert TriggerTest.objects.get() == kept
