"""Feedback of agents about skills, counted as uses and stored for the skill's team.

A wrong match becomes a proposed trigger test, which the team's maintainers accept or decline.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from registry.core import text
from registry.core.errors import NOT_FOUND
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.matching.errors import FEEDBACK_DECIDED, FEEDBACK_FULL, FEEDBACK_UTTERANCE_MISSING
from registry.models import (
    Feedback,
    FeedbackOutcome,
    ProposalState,
    ProposedTriggerTest,
    Skill,
    TriggerTest,
    TriggerTestOrigin,
    UseKind,
    Version,
)
from registry.usage import recording

MAX_UTTERANCE_CHARACTERS = 500
MAX_NOTE_CHARACTERS = 500
MAX_PROPOSED = 200  # undecided tests per skill
MAX_PROPOSED_PER_USER = 20  # undecided tests per skill and user


@dataclass(frozen=True)
class FeedbackReport:
    outcome: str
    utterance: str = ""
    note: str = ""


def submit_feedback(version: Version, report: FeedbackReport, actor: Actor) -> bool:
    """Stores the report and returns whether it counted as a use.

    At most one outcome per skill and caller is stored within ``recording.DEDUPE_WINDOW``. A wrong match
    proposes a trigger test, unless one was proposed for the utterance before. It always returns True, so
    that the caller learns nothing about earlier reports.

    Raises the refusals of ``require`` and TEXT_INVALID. A wrong match also raises
    FEEDBACK_UTTERANCE_MISSING if the utterance is blank, and FEEDBACK_FULL if too many proposals are
    undecided.
    """
    skill = version.skill
    require(actor, Action.SEE, skill=skill)
    note = text.validated(report.note, field="note", max_length=MAX_NOTE_CHARACTERS, allow_blank=True)
    with transaction.atomic():
        if report.outcome == FeedbackOutcome.WRONG_SKILL:
            _propose(version, report.utterance, note, actor)
        else:
            # stores an outcome even if a load within the last minute already counted as a use
            if not _reported_recently(skill, actor):
                _create_feedback(version, report.outcome, note, actor)
            return recording.record_use(skill, actor.caller, UseKind.RUN, version=version.number)
    return True


def proposals(skill: Skill, actor: Actor) -> QuerySet[ProposedTriggerTest]:
    """The proposed trigger tests that await a decision, newest first. Raises the refusals of ``require``."""
    require(actor, Action.SETTINGS, skill=skill)
    waiting = skill.proposed_tests.filter(state=ProposalState.PROPOSED)
    return waiting.select_related("by").order_by("-pk")


def find_proposal(skill: Skill, uid: str, actor: Actor) -> ProposedTriggerTest:
    require(actor, Action.SETTINGS, skill=skill)
    found = skill.proposed_tests.filter(uid=uid).first()
    if found is None:
        raise NOT_FOUND.refusal(what="proposed trigger test", name=uid[:80])
    return found


def accept(proposal: ProposedTriggerTest, actor: Actor) -> TriggerTest:
    """Saves the proposal as a trigger test of the skill, replacing a test of the same utterance. Raises the
    refusals of ``require``, and FEEDBACK_DECIDED if the proposal was decided before.
    """
    with transaction.atomic():
        row = _decide(proposal, ProposalState.ACCEPTED, actor)
        return _save_test(row.skill, row.utterance, row.must_match, TriggerTestOrigin.FEEDBACK, actor)


def decline(proposal: ProposedTriggerTest, actor: Actor) -> None:
    """Declines the proposal. The same utterance is not proposed again. Raises the refusals of ``require``,
    and FEEDBACK_DECIDED if the proposal was decided before.
    """
    with transaction.atomic():
        _decide(proposal, ProposalState.DECLINED, actor)


def add_test(skill: Skill, utterance: str, *, must_match: bool, actor: Actor) -> TriggerTest:
    """Adds a trigger test that a maintainer wrote, replacing a test of the same utterance. Raises the
    refusals of ``require``, and TEXT_INVALID.
    """
    require(actor, Action.SETTINGS, skill=skill)
    utterance = text.validated(utterance, field="utterance", max_length=MAX_UTTERANCE_CHARACTERS)
    with transaction.atomic():
        return _save_test(skill, utterance, must_match, TriggerTestOrigin.PAGE, actor)


def remove_test(skill: Skill, uid: str, actor: Actor) -> None:
    require(actor, Action.SETTINGS, skill=skill)
    with transaction.atomic():
        deleted, _ = skill.trigger_tests.filter(uid=uid).delete()
        if not deleted:
            raise NOT_FOUND.refusal(what="trigger test", name=uid[:80])
        audit.record(actor, "trigger_test.remove", str(skill), team=skill.team)


def counts(skill: Skill) -> Mapping[str, int]:
    """The number of stored reports by outcome, with 0 for outcomes without reports."""
    rows = skill.feedback.order_by().values_list("outcome").annotate(Count("pk"))
    return dict.fromkeys(FeedbackOutcome.values, 0) | dict(rows)


def notes(skill: Skill, *, limit: int = 20) -> list[Feedback]:
    """The latest reports that have a note, newest first; at most ``limit``."""
    return list(skill.feedback.exclude(note="").select_related("by").order_by("-pk")[:limit])


def delete_expired_feedback() -> int:
    """Deletes feedback older than the retention time; returns the count. Proposed tests stay."""
    until = timezone.now() - timedelta(days=settings.SKILLQUAY_EVENT_DAYS)
    return Feedback.objects.filter(created_at__lt=until).delete()[0]


def _propose(version: Version, utterance: str, note: str, actor: Actor) -> None:
    if not utterance.strip():
        raise FEEDBACK_UTTERANCE_MISSING.refusal().at("utterance")
    utterance = text.validated(utterance, field="utterance", max_length=MAX_UTTERANCE_CHARACTERS)
    skill = version.skill
    if skill.proposed_tests.filter(utterance=utterance).exists():
        return
    waiting = skill.proposed_tests.filter(state=ProposalState.PROPOSED)
    if waiting.count() >= MAX_PROPOSED or waiting.filter(by=actor.user).count() >= MAX_PROPOSED_PER_USER:
        raise FEEDBACK_FULL.refusal(skill=str(skill))
    _, is_new = ProposedTriggerTest.objects.get_or_create(
        skill=skill, utterance=utterance, defaults={"must_match": False, "by": actor.user}
    )
    if is_new:
        _create_feedback(version, FeedbackOutcome.WRONG_SKILL, note, actor)


def _reported_recently(skill: Skill, actor: Actor) -> bool:
    report = skill.feedback.filter(
        caller=actor.caller, created_at__gt=timezone.now() - recording.DEDUPE_WINDOW
    )
    return report.exclude(outcome=FeedbackOutcome.WRONG_SKILL).exists()


def _create_feedback(version: Version, outcome: str, note: str, actor: Actor) -> None:
    Feedback.objects.create(
        skill=version.skill,
        version_number=version.number,
        outcome=outcome,
        note=note,
        caller=actor.caller,
        by=actor.user,
    )


def _decide(proposal: ProposedTriggerTest, state: ProposalState, actor: Actor) -> ProposedTriggerTest:
    rows = ProposedTriggerTest.objects.select_for_update(of=("self",)).select_related("skill__team")
    row = rows.get(pk=proposal.pk)
    require(actor, Action.SETTINGS, skill=row.skill)
    if row.state != ProposalState.PROPOSED:
        raise FEEDBACK_DECIDED.refusal(state=text.choice_label(ProposalState(row.state)))
    row.state, row.decided_by, row.decided_at = state, actor.user, timezone.now()
    row.save()
    audit.record(actor, f"trigger_test.{state}", str(row.skill), team=row.skill.team)
    return row


def _save_test(
    skill: Skill, utterance: str, must_match: bool, origin: TriggerTestOrigin, actor: Actor
) -> TriggerTest:
    test, _ = TriggerTest.objects.update_or_create(
        skill=skill,
        utterance=utterance,
        defaults={"must_match": must_match, "origin": origin, "accepted_by": actor.user},
    )
    return test
