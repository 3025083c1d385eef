"""What scans found in a version: kept when it is published, and told to whoever publishes it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Max
from django.utils import timezone

from registry import audit
from registry.actors import Actor
from registry.models import Finding, Report, ReportReason, ReportState, Skill, Suppression, Version
from registry.packages.package import Package
from registry.packages.problems import Problem, Said, problem
from registry.packages.problems import gettext_noop as _
from registry.packages.scan.checks import FLAGGED
from registry.packages.scan.checks import Finding as Found
from registry.packages.scan.scanning import RULES

_ELSEWHERE = _("Another scanner of this site reports it.")
_READ_IT = _("Read the place it names; mend it, or let a maintainer suppress the finding with a reason.")


class Judgements:
    """The findings of a skill that its maintainers have judged, beside the files of one version.

    A certain one is judged for the very file that was read: what holds a version holds the next one as well
    when that file has changed.
    """

    def __init__(self, skill: Skill | None, digests: Callable[[], Mapping[str, str]]) -> None:
        self._skill, self._asked = skill, digests

    @cached_property
    def _digests(self) -> Mapping[str, str]:
        return self._asked()

    @cached_property
    def _rows(self) -> dict[tuple[str, str, str], Suppression]:
        rows = self._skill.suppressions.select_related("by") if self._skill else Suppression.objects.none()
        return {(row.rule, row.path, row.quote): row for row in rows}

    def of(self, finding: Found | Finding) -> Suppression | None:
        row = self._rows.get((finding.rule, finding.path, finding.quote))
        if row and finding.certain and row.digest != self._digests.get(finding.path):
            return None
        return row

    def holding(self, findings: Iterable[Found]) -> tuple[Found, ...]:
        return tuple(one for one in findings if one.certain and not self.of(one))


@dataclass(frozen=True)
class Shown:
    """A finding for people, with the judgement that was passed on it."""

    row: Finding
    suppression: Suppression | None

    @property
    def is_flagged(self) -> bool:
        return self.suppression is None and self.row.severity in FLAGGED

    def why(self, translate: Callable[[str], str]) -> str:
        return _texts(self.row.rule, str(self.row.params.get("why", ""))).why(translate)

    def remedy(self, translate: Callable[[str], str]) -> str:
        return _texts(self.row.rule, "").remedy(translate)


def record(version: Version, found: Sequence[Found], actor: Actor) -> None:
    """Keeps the findings of a new version in its own transaction, and holds it where a certain one stands."""
    _keep(version, found)
    if holding := judgements_of(version).holding(found):
        hold(version, holding, actor)
    elif is_distrusted(version.skill):
        version.held_at = timezone.now()
        audit.record(actor, "version.hold", str(version), team=version.skill.team, rules="report")
    if version.is_held:
        version.save(update_fields=["held_at", "released_at"])


def is_distrusted(skill: Skill) -> bool:
    """Whether a version of it was found to do harm, and nobody has released one since."""
    harm = Report.objects.filter(state=ReportState.UPHELD, reason=ReportReason.MALICIOUS)
    last = harm.filter(version__skill=skill).aggregate(at=Max("decided_at"))["at"]
    return last is not None and not skill.versions.filter(released_at__gt=last).exists()


def keep(version: Version, found: Sequence[Found]) -> None:
    version.findings.all().delete()
    _keep(version, found)


def _keep(version: Version, found: Sequence[Found]) -> None:
    rows = (
        Finding(
            version=version,
            rule=one.rule,
            severity=one.severity,
            certain=one.certain,
            path=one.path[:500],
            line=one.line,
            quote=one.quote,
            params=dict(one.params),
        )
        for one in found
    )
    Finding.objects.bulk_create(rows, batch_size=500)


def hold(version: Version, holding: Iterable[Found], actor: Actor) -> None:
    """Marks the version; its caller saves it, and shows what is the latest then."""
    version.held_at, version.released_at = timezone.now(), None
    rules = ", ".join(dict.fromkeys(one.rule for one in holding))
    audit.record(actor, "version.hold", str(version), team=version.skill.team, rules=rules)


def judgements_before(skill: Skill | None, package: Package) -> Judgements:
    """Those that a package would meet if it were published."""
    return Judgements(
        skill,
        lambda: {file.path: f"sha256:{hashlib.sha256(file.data).hexdigest()}" for file in package.files},
    )


def judgements_of(version: Version) -> Judgements:
    return Judgements(version.skill, lambda: dict(version.files.values_list("path", "digest")))


def findings_of(version: Version) -> list[Shown]:
    """The worst first; each with who judged it, if anybody did."""
    judged = judgements_of(version)
    return [Shown(row, judged.of(row)) for row in version.findings.order_by("pk")]


def problems_of_scan(found: Iterable[Found | Finding], judged: Judgements) -> tuple[Problem, ...]:
    """What a publisher is told: a warning for each finding that holds the version, a notice for others."""
    told = (one for one in found if one.severity in FLAGGED and not judged.of(one))
    return tuple(_problem(one) for one in told)


def _problem(one: Found | Finding) -> Problem:
    code = "SCAN_HOLDS" if one.certain else "SCAN_FINDS"
    texts = _texts(one.rule, str(one.params.get("why", "")))
    said = {"rule": one.rule, "why": Said(texts.message), "clear": Said(texts.clear), "quote": one.quote}
    return problem(code, path=one.path, line=one.line, **said)


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
    """A rule's own texts; those of other scanners come with their findings, in the words of that scanner."""
    check = RULES.get(rule)
    if check:
        return _Texts(check.why, check.remedy)
    return _Texts(why, _READ_IT, is_translated=False) if why else _Texts(_ELSEWHERE, _READ_IT)
