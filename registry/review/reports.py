"""Reports of problems with versions. Reviewers of the version's team decide on them.

A version reported as malicious is excluded from search, match and listings outside its team until
the decision. This happens immediately if a reviewer reports it, otherwise once
SKILLQUAY_REPORTS_TO_HIDE users have reported it. With 0, only reviewers' reports have this effect.
"""

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from registry.core import text as texts
from registry.core.errors import NOT_FOUND
from registry.core.hooks import report_filed, version_held
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, active_teams_where, may, require
from registry.models import Report, ReportReason, ReportState, Skill, Version
from registry.review.errors import REPORT_DECIDED, REPORT_OPEN, REPORT_OWN, REPORTS_TOO_MANY
from registry.versions.publishing.latest import update_latest
from registry.versions.publishing.locks import lock_version

MAX_TEXT_CHARS = 1000
_MAX_REASON_CHARS = 500
_DAY = timedelta(days=1)


@transaction.atomic
def report_version(version: Version, actor: Actor, *, reason: str, text: str = "") -> Report:
    """Creates a report on a version. Excludes the version for other teams if its open reports of
    malicious content require it.

    Raises the refusals of ``lock_version``, TEXT_INVALID, and ValueError for an unknown reason. Raises
    REPORT_OPEN if the user has an open report on the version, and REPORT_DECIDED if an earlier one with this
    reason was decided. Raises REPORTS_TOO_MANY at the user's limit for the last 24 hours.
    """
    version = lock_version(version, actor, Action.REPORT)
    text = texts.validated(
        text, field="text", max_length=MAX_TEXT_CHARS, allow_blank=reason != ReportReason.OTHER
    )
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
    report_filed.send(row)
    _update_exclusion(version)
    return row


@transaction.atomic
def dismiss_report(row: Report, actor: Actor, *, reason: str) -> Report:
    """Dismisses the report. This ends the exclusion of the version unless other open reports require it.

    Raises TEXT_INVALID for the reason, the refusals of ``lock_version``, REPORT_OWN for the version's
    publisher unless they are an administrator, and REPORT_DECIDED if the report is not open.
    """
    return _decide(row, ReportState.DISMISSED, actor, reason)


@transaction.atomic
def uphold_report(row: Report, actor: Actor, *, reason: str) -> Report:
    """Upholds the report and holds the version until it is released. If the report is about malicious
    content, later versions are held too, until a version of the skill is released.

    Raises the same refusals as ``dismiss_report``.
    """
    return _decide(row, ReportState.UPHELD, actor, reason)


def may_decide(version: Version, actor: Actor) -> bool:
    """Whether the actor is an administrator, or a reviewer other than the version's publisher."""
    if not may(actor, Action.REVIEW, skill=version.skill):
        return False
    is_own = actor.user is not None and actor.user.pk == version.published_by_id
    return actor.is_administrator or not is_own


def list_reports(version: Version, actor: Actor) -> QuerySet[Report]:
    """Reports on the version: open ones first, then decided ones, latest decision first. Raises Refusal
    unless the actor may review the version.
    """
    require(actor, Action.REVIEW, skill=version.skill)
    order = F("decided_at").desc(nulls_first=True), "-pk"
    return version.reports.select_related("by", "decided_by").order_by(*order)


def list_open_reports(actor: Actor) -> QuerySet[Report]:
    """Open reports in the teams that the actor reviews for, oldest first."""
    teams = active_teams_where(actor, Action.REVIEW)
    rows = Report.objects.filter(
        Exists(Skill.objects.visible_to(actor).filter(pk=OuterRef("version__skill"))),
        Exists(teams.filter(pk=OuterRef("version__skill__team"))),
        state=ReportState.OPEN,
    )
    return rows.select_related("version__skill__team", "version__published_by", "by").order_by("pk")


def find_report(version: Version, uid: str, actor: Actor) -> Report:
    found = list_reports(version, actor).filter(uid=uid).first()
    if found is None:
        raise NOT_FOUND.refusal(what="report", name=uid[:80])
    return found


def _check_new(version: Version, reason: str, actor: Actor) -> None:
    if actor.user is None:
        return
    own = Report.objects.filter(by=actor.user)
    if own.filter(version=version, state=ReportState.OPEN).exists():
        raise REPORT_OPEN.refusal(version=str(version))
    if before := own.filter(version=version, reason=reason).exclude(state=ReportState.OPEN).first():
        raise REPORT_DECIDED.refusal(
            state=texts.choice_label(ReportState(before.state)), reason=before.decision
        )
    if own.filter(at__gt=timezone.now() - _DAY).count() >= settings.SKILLQUAY_REPORTS_PER_DAY:
        raise REPORTS_TOO_MANY.refusal(limit=settings.SKILLQUAY_REPORTS_PER_DAY)


def _decide(row: Report, state: ReportState, actor: Actor, reason: str) -> Report:
    reason = texts.validated(reason, field="reason", max_length=_MAX_REASON_CHARS)
    version = lock_version(row.version, actor, Action.REVIEW)
    if not may_decide(version, actor):
        raise REPORT_OWN.refusal(version=str(version))
    row = version.reports.get(pk=row.pk)
    if row.state != ReportState.OPEN:
        raise REPORT_DECIDED.refusal(state=texts.choice_label(ReportState(row.state)), reason=row.decision)
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
        version_held.send(version)
    _update_exclusion(version)
    row.version = version
    return row


def _update_exclusion(version: Version) -> None:
    """Starts or ends the version's exclusion for other teams, as its open reports of malicious content
    require. Updates the skill's latest version and index.
    """
    reports = version.reports.filter(state=ReportState.OPEN, reason=ReportReason.MALICIOUS)
    threshold = settings.SKILLQUAY_REPORTS_TO_HIDE
    reporters = reports.order_by().values("by").distinct().count()
    is_excluded = reports.filter(by_reviewer=True).exists() or 0 < threshold <= reporters
    if is_excluded != version.is_excluded:
        version.reported_at = timezone.now() if is_excluded else None
        version.save(update_fields=["reported_at"])
    update_latest(version.skill)
