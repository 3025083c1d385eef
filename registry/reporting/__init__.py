"""People say what is wrong with a version; its team's reviewers decide.

A version that was reported as doing harm is kept out of searches, matches and listings of others than its own
team until then: at once where a reviewer says it, else where as many people do as the site has set.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from registry import audit, texts
from registry.actors import Actor
from registry.models import Report, ReportReason, ReportState, Skill, Team, Version
from registry.packages.problems import refuse
from registry.permissions import Action, may, require
from registry.publishing.latest import show_latest
from registry.publishing.locking import locked_version
from registry.reporting import codes as codes  # declares what is refused here

LONGEST = 1000  # characters
_REASON = 500
_DAY = timedelta(days=1)


@transaction.atomic
def report(version: Version, actor: Actor, *, reason: str, text: str = "") -> Report:
    """Takes what somebody says of a version that they may see; once a person until it is decided."""
    version = locked_version(version, actor, Action.REPORT)
    text = texts.plain(text, field="text", most=LONGEST, may_be_empty=reason != ReportReason.OTHER)
    _check_new(version, reason, actor)
    row = Report.objects.create(
        version=version,
        reason=ReportReason(reason),
        text=text,
        by=actor.user,
        by_reviewer=may(actor, Action.REVIEW, skill=version.skill),
    )
    audit.record(
        actor, "version.report", str(version), team=version.skill.team, reason=reason, report=row.uid
    )
    _settle(version)
    return row


@transaction.atomic
def dismiss(row: Report, actor: Actor, *, reason: str) -> Report:
    """Nothing is wrong: what was kept out because of it alone is offered again."""
    return _decide(row, ReportState.DISMISSED, actor, reason)


@transaction.atomic
def uphold(row: Report, actor: Actor, *, reason: str) -> Report:
    """It is as was said: the version is held, as a scan would hold it, until somebody releases it.

    Where it does harm, those that are published later are held too, until one is released.
    """
    return _decide(row, ReportState.UPHELD, actor, reason)


def may_decide(version: Version, actor: Actor) -> bool:
    """Reviewers do, but not of what they published themselves, unless they are the site's administrator."""
    if not may(actor, Action.REVIEW, skill=version.skill):
        return False
    is_own = actor.user is not None and actor.user.pk == version.published_by_id
    return actor.is_administrator or not is_own


def of_version(version: Version, actor: Actor) -> QuerySet[Report]:
    """For its reviewers: those that are open first, then the latest."""
    require(actor, Action.REVIEW, skill=version.skill)
    return version.reports.select_related("by", "decided_by").order_by("decided_at", "-pk")


def open_reports(actor: Actor) -> QuerySet[Report]:
    """Those that wait for a decision, of the teams for which the actor reviews; the oldest first."""
    teams = [team.pk for team in Team.objects.visible_to(actor) if may(actor, Action.REVIEW, team=team)]
    rows = Report.objects.filter(
        state=ReportState.OPEN,
        version__skill__team__in=teams,
        version__skill__in=Skill.objects.visible_to(actor),
    )
    return rows.select_related("version__skill__team", "version__published_by", "by").order_by("pk")


def find_report(version: Version, uid: str, actor: Actor) -> Report:
    found = of_version(version, actor).filter(uid=uid).first()
    if found is None:
        raise refuse("NOT_FOUND", what="report", name=uid[:80])
    return found


def _check_new(version: Version, reason: str, actor: Actor) -> None:
    if actor.user is None:
        return
    own = Report.objects.filter(by=actor.user)
    if own.filter(version=version, state=ReportState.OPEN).exists():
        raise refuse("REPORT_OPEN", version=str(version))
    if before := own.filter(version=version, reason=reason).exclude(state=ReportState.OPEN).first():
        raise refuse("REPORT_DECIDED", state=before.state, reason=before.decision)
    if own.filter(at__gt=timezone.now() - _DAY).count() >= settings.SKILLQUAY_REPORTS_A_DAY:
        raise refuse("REPORTS_TOO_MANY", limit=settings.SKILLQUAY_REPORTS_A_DAY)


def _decide(row: Report, state: ReportState, actor: Actor, reason: str) -> Report:
    reason = texts.plain(reason, field="reason", most=_REASON)
    version = locked_version(row.version, actor, Action.REVIEW)
    if not may_decide(version, actor):
        raise refuse("REPORT_OWN", version=str(version))
    row = version.reports.get(pk=row.pk)
    if row.state != ReportState.OPEN:
        raise refuse("REPORT_DECIDED", state=row.state, reason=row.decision)
    row.state, row.decision = state, reason
    row.decided_by, row.decided_at = actor.user, timezone.now()
    row.save(update_fields=["state", "decision", "decided_by", "decided_at"])
    audit.record(
        actor, f"report.{state}", str(version), team=version.skill.team, report=row.uid, reason=reason
    )
    if state == ReportState.UPHELD and not version.is_held:
        version.held_at, version.released_at = timezone.now(), None
        version.save(update_fields=["held_at", "released_at"])
        audit.record(actor, "version.hold", str(version), team=version.skill.team, rules="report")
    _settle(version)
    row.version = version
    return row


def _settle(version: Version) -> None:
    """Keeps the version out or offers it again, in search too, as its open reports have it."""
    said = version.reports.filter(state=ReportState.OPEN, reason=ReportReason.MALICIOUS)
    enough = settings.SKILLQUAY_REPORTS_HIDE
    people = said.order_by().values("by").distinct().count()
    is_out = said.filter(by_reviewer=True).exists() or 0 < enough <= people
    if is_out != (version.reported_at is not None):
        version.reported_at = timezone.now() if is_out else None
        version.save(update_fields=["reported_at"])
    show_latest(version.skill)
