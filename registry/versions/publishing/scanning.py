"""Stores the scan findings of versions, holds versions for them, and applies suppressions."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Max
from django.utils import timezone

from registry.core.hooks import version_held
from registry.identity import audit
from registry.identity.actors import Actor
from registry.models import Finding, Report, ReportReason, ReportState, Skill, Suppression, Version
from registry.packages.package import Package
from registry.packages.problems import LazyMessage, Problem
from registry.packages.problems import gettext_noop as _
from registry.packages.scan.findings import FLAGGED
from registry.packages.scan.findings import ScanFinding as ScanFinding
from registry.packages.scan.scan import RULES
from registry.versions.errors import SCAN_FINDS, SCAN_HOLDS

_OTHER_SCANNER_MESSAGE = _("An additional scanner that this site uses reported this problem.")
_DEFAULT_REMEDY = _(
    "Check the reported place and fix the problem, or ask a maintainer to suppress the finding with a reason."
)


class SuppressionLookup:
    """Finds the suppressions of a skill that apply to findings in one version.

    A suppression of a high-confidence finding applies only while the file has the digest that was reviewed.
    After a change of the file, the finding holds the next version again.
    """

    def __init__(self, skill: Skill | None, digests: Callable[[], Mapping[str, str]]) -> None:
        self._skill, self._load_digests = skill, digests

    @cached_property
    def _digests(self) -> Mapping[str, str]:
        return self._load_digests()

    @cached_property
    def _rows(self) -> dict[tuple[str, str, str], Suppression]:
        rows = self._skill.suppressions.select_related("by") if self._skill else Suppression.objects.none()
        return {(row.rule, row.path, row.quote): row for row in rows}

    def find(self, finding: ScanFinding | Finding) -> Suppression | None:
        row = self._rows.get((finding.rule, finding.path, finding.quote))
        if row and finding.certain and row.digest != self._digests.get(finding.path):
            return None
        return row

    def holding(self, findings: Iterable[ScanFinding]) -> tuple[ScanFinding, ...]:
        """The findings that hold the version: those with high confidence and without a suppression."""
        return tuple(each for each in findings if each.certain and not self.find(each))


@dataclass(frozen=True)
class ReviewedFinding:
    """A stored finding with the suppression that applies to it, or None."""

    row: Finding
    suppression: Suppression | None

    @property
    def is_flagged(self) -> bool:
        return self.suppression is None and self.row.severity in FLAGGED

    def why(self, translate: Callable[[str], str]) -> str:
        return _texts(self.row.rule, str(self.row.params.get("why", ""))).why(translate)

    def remedy(self, translate: Callable[[str], str]) -> str:
        return _texts(self.row.rule, "").remedy(translate)


def record_findings(version: Version, findings: Sequence[ScanFinding], actor: Actor) -> None:
    """Stores the findings of a new version. Holds and saves the version if an unsuppressed finding has high
    confidence, or if ``is_distrusted`` applies to its skill.
    """
    _insert_findings(version, findings)
    if holding_findings := suppressions_for_version(version).holding(findings):
        hold_version(version, holding_findings, actor)
    elif is_distrusted(version.skill):
        version.held_at = timezone.now()
        audit.record(actor, "version.hold", str(version), team=version.skill.team, rules="report")
        version_held.send(version)
    if version.is_held:
        version.save(update_fields=["held_at", "released_at"])


def is_distrusted(skill: Skill) -> bool:
    """Whether a report of malicious content in a version of the skill was upheld, and no version was released
    since.
    """
    harm = Report.objects.filter(state=ReportState.UPHELD, reason=ReportReason.MALICIOUS)
    last = harm.filter(version__skill=skill).aggregate(at=Max("decided_at"))["at"]
    return last is not None and not skill.versions.filter(released_at__gt=last).exists()


def replace_findings(version: Version, findings: Sequence[ScanFinding]) -> None:
    version.findings.all().delete()
    _insert_findings(version, findings)


def _insert_findings(version: Version, findings: Sequence[ScanFinding]) -> None:
    rows = (
        Finding(
            version=version,
            rule=each.rule,
            severity=each.severity,
            certain=each.certain,
            path=each.path[:500],
            line=each.line,
            quote=each.quote,
            params=dict(each.params),
        )
        for each in findings
    )
    Finding.objects.bulk_create(rows, batch_size=500)


def hold_version(version: Version, holding_findings: Iterable[ScanFinding], actor: Actor) -> None:
    """Marks the version as held and records this in the audit trail. The caller must save the version and
    update the latest version.
    """
    version.held_at, version.released_at = timezone.now(), None
    rules = ", ".join(dict.fromkeys(each.rule for each in holding_findings))
    audit.record(actor, "version.hold", str(version), team=version.skill.team, rules=rules)
    version_held.send(version)


def suppressions_for_package(skill: Skill | None, package: Package) -> SuppressionLookup:
    """The suppressions that would apply to the package as a version of the skill; none without a skill."""
    return SuppressionLookup(
        skill,
        lambda: {file.path: f"sha256:{hashlib.sha256(file.data).hexdigest()}" for file in package.files},
    )


def suppressions_for_version(version: Version) -> SuppressionLookup:
    return SuppressionLookup(version.skill, lambda: dict(version.files.values_list("path", "digest")))


def list_findings(version: Version) -> list[ReviewedFinding]:
    """The findings of the version with their suppressions, in the order in which they were stored."""
    suppressions = suppressions_for_version(version)
    return [ReviewedFinding(row, suppressions.find(row)) for row in version.findings.order_by("pk")]


def scan_problems(
    findings: Iterable[ScanFinding | Finding], suppressions: SuppressionLookup
) -> tuple[Problem, ...]:
    """Problems for the flagged findings that are not suppressed: SCAN_HOLDS warnings for high confidence,
    otherwise SCAN_FINDS notices.
    """
    flagged = (each for each in findings if each.severity in FLAGGED and not suppressions.find(each))
    return tuple(_problem(each) for each in flagged)


def _problem(finding: ScanFinding | Finding) -> Problem:
    code = SCAN_HOLDS if finding.certain else SCAN_FINDS
    texts = _texts(finding.rule, str(finding.params.get("why", "")))
    problem = code.problem(rule=finding.rule, why=LazyMessage(texts.message), clear=LazyMessage(texts.clear))
    return problem.at(finding.path, finding.line)


@dataclass(frozen=True)
class _Texts:
    message: str
    clear: str
    is_translated: bool = True

    def why(self, translate: Callable[[str], str]) -> str:
        return translate(self.message) if self.is_translated else self.message

    def remedy(self, translate: Callable[[str], str]) -> str:
        return translate(self.clear)


def _texts(rule: str, why: str) -> _Texts:
    """The texts of a built-in rule. For other scanners, ``why`` is the untranslated text of the finding;
    without it, a general text is used.
    """
    check = RULES.get(rule)
    if check:
        return _Texts(check.why, check.remedy)
    return (
        _Texts(why, _DEFAULT_REMEDY, is_translated=False)
        if why
        else _Texts(_OTHER_SCANNER_MESSAGE, _DEFAULT_REMEDY)
    )
