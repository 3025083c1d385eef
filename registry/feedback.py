"""How skills did where agents used them: counted as uses, kept for their team.

What a skill should not have matched becomes a trigger test that its team's maintainers accept or decline.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from registry import audit, texts, usage
from registry.actors import Actor
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
from registry.packages.problems import refuse
from registry.permissions import Action, require

LONGEST_UTTERANCE = 500
LONGEST_NOTE = 500
MOST_PROPOSED = 200  # of one skill, that nobody has decided
MOST_BY_ONE = 20  # of these, by one person


@dataclass(frozen=True)
class Told:
    """What an agent says of a skill that it used, or should not have been given."""

    outcome: str
    utterance: str = ""
    note: str = ""


def report(version: Version, told: Told, actor: Actor) -> bool:
    """Takes what a caller says of a version, once a minute; whether it counted as a use.

    Who says that it is the wrong skill learns nothing of what others said before.
    """
    skill = version.skill
    require(actor, Action.SEE, skill=skill)
    note = texts.plain(told.note, field="note", most=LONGEST_NOTE, may_be_empty=True)
    with transaction.atomic():
        if told.outcome == FeedbackOutcome.WRONG_SKILL:
            _propose(version, told.utterance, note, actor)
        else:
            if not _told_just_now(skill, actor):  # else what follows a load within the minute would be lost
                _keep(version, told.outcome, note, actor)
            return usage.record_use(skill, actor.caller, UseKind.RUN, version=version.number)
    return True


def proposals(skill: Skill, actor: Actor) -> QuerySet[ProposedTriggerTest]:
    """What waits for a maintainer, the newest first."""
    require(actor, Action.SETTINGS, skill=skill)
    waiting = skill.proposed_tests.filter(state=ProposalState.PROPOSED)
    return waiting.select_related("by").order_by("-pk")


def find_proposal(skill: Skill, uid: str, actor: Actor) -> ProposedTriggerTest:
    require(actor, Action.SETTINGS, skill=skill)
    found = skill.proposed_tests.filter(uid=uid).first()
    if found is None:
        raise refuse("NOT_FOUND", what="proposed trigger test", name=uid[:80])
    return found


def accept(proposal: ProposedTriggerTest, actor: Actor) -> TriggerTest:
    """Makes it a trigger test of the skill; one that says otherwise of the same utterance is replaced."""
    with transaction.atomic():
        row = _decide(proposal, ProposalState.ACCEPTED, actor)
        return _write(row.skill, row.utterance, row.must_match, TriggerTestOrigin.FEEDBACK, actor)


def decline(proposal: ProposedTriggerTest, actor: Actor) -> None:
    """The same utterance is not proposed again."""
    with transaction.atomic():
        _decide(proposal, ProposalState.DECLINED, actor)


def add_test(skill: Skill, utterance: str, *, must_match: bool, actor: Actor) -> TriggerTest:
    """A trigger test that a maintainer writes."""
    require(actor, Action.SETTINGS, skill=skill)
    utterance = texts.plain(utterance, field="utterance", most=LONGEST_UTTERANCE)
    with transaction.atomic():
        return _write(skill, utterance, must_match, TriggerTestOrigin.PAGE, actor)


def remove_test(skill: Skill, uid: str, actor: Actor) -> None:
    require(actor, Action.SETTINGS, skill=skill)
    with transaction.atomic():
        gone, _ = skill.trigger_tests.filter(uid=uid).delete()
        if not gone:
            raise refuse("NOT_FOUND", what="trigger test", name=uid[:80])
        audit.record(actor, "trigger_test.remove", str(skill), team=skill.team)


def counts(skill: Skill) -> Mapping[str, int]:
    """How often each outcome was told, of what is kept."""
    rows = skill.feedback.order_by().values_list("outcome").annotate(Count("pk"))
    return dict.fromkeys(FeedbackOutcome.values, 0) | dict(rows)


def notes(skill: Skill, *, most: int = 20) -> list[Feedback]:
    """The latest words that came along."""
    return list(skill.feedback.exclude(note="").select_related("by").order_by("-pk")[:most])


def sweep() -> int:
    """Forgets feedback that is older than the site keeps it; what it proposed stays until it is decided."""
    until = timezone.now() - timedelta(days=settings.SKILLQUAY_EVENT_DAYS)
    return Feedback.objects.filter(created_at__lt=until).delete()[0]


def _propose(version: Version, utterance: str, note: str, actor: Actor) -> None:
    if not utterance.strip():
        raise refuse("FEEDBACK_UTTERANCE_MISSING", path="utterance")
    utterance = texts.plain(utterance, field="utterance", most=LONGEST_UTTERANCE)
    skill = version.skill
    if skill.proposed_tests.filter(utterance=utterance).exists():
        return
    waiting = skill.proposed_tests.filter(state=ProposalState.PROPOSED)
    if waiting.count() >= MOST_PROPOSED or waiting.filter(by=actor.user).count() >= MOST_BY_ONE:
        raise refuse("FEEDBACK_FULL", skill=str(skill))
    _, is_new = ProposedTriggerTest.objects.get_or_create(
        skill=skill, utterance=utterance, defaults={"must_match": False, "by": actor.user}
    )
    if is_new:
        _keep(version, FeedbackOutcome.WRONG_SKILL, note, actor)


def _told_just_now(skill: Skill, actor: Actor) -> bool:
    told = skill.feedback.filter(caller=actor.caller, created_at__gt=timezone.now() - usage.HOLD)
    return told.exclude(outcome=FeedbackOutcome.WRONG_SKILL).exists()


def _keep(version: Version, outcome: str, note: str, actor: Actor) -> None:
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
        raise refuse("FEEDBACK_DECIDED", state=row.state)
    row.state, row.decided_by, row.decided_at = state, actor.user, timezone.now()
    row.save()
    audit.record(actor, f"trigger_test.{state}", str(row.skill), team=row.skill.team)
    return row


def _write(
    skill: Skill, utterance: str, must_match: bool, origin: TriggerTestOrigin, actor: Actor
) -> TriggerTest:
    kept, _ = TriggerTest.objects.update_or_create(
        skill=skill,
        utterance=utterance,
        defaults={"must_match": must_match, "origin": origin, "accepted_by": actor.user},
    )
    return kept
