"""What becomes of each candidate, before anything is published: read, known already, won over or clashing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from registry.imports.found import Found, Passed
from registry.imports.report import Known, Row
from registry.limits import package_limits
from registry.models import ImportOutcome, Team
from registry.packages.layout import lay_out
from registry.packages.naming import Origin
from registry.packages.package import Package
from registry.packages.paths import shown
from registry.packages.problems import Refused, problem
from registry.packages.reading import package_of
from registry.packages.repack import digest_of, repack

_KEPT_BYTES = 64 * 2**20  # of packages that stay in memory until they are published; more are read again


@dataclass(frozen=True)
class Plan:
    """A candidate with its row, or with None where it is still to be published."""

    found: Found | Passed
    row: Row | None
    label: str = ""  # team/slug
    digest: str = ""
    kept: Package | None = None

    @property
    def candidate(self) -> Found:
        assert isinstance(self.found, Found)  # what was passed by has its row
        return self.found

    def package(self) -> Package:
        return self.kept or read_package(self.candidate)


def read_package(found: Found) -> Package:
    layout = lay_out(found.read(), package_limits(), repacked=True)  # a SKILL.md further down is a plain file
    return package_of(layout, Origin(found.name), limits=package_limits())


def plan(found: Sequence[Found | Passed], known: Mapping[str, Known], team: Team) -> list[Plan]:
    """A plan for each, in the same order."""
    left = _KEPT_BYTES
    plans = []
    for each in found:
        one = _identified(each, known, team) if isinstance(each, Found) else _passed(each)
        if one.kept:
            left -= sum(len(file.data) for file in one.kept.files)
            one = one if left > 0 else replace(one, kept=None)
        plans.append(one)
    return _decided(plans)


def _passed(each: Passed) -> Plan:
    return Plan(each, Row(each.path, ImportOutcome.SKIPPED, problems=(each.reason,)))


def _identified(found: Found, known: Mapping[str, Known], team: Team) -> Plan:
    """Which skill this is: as it was last time where its bytes are the same, else by reading it."""
    try:
        layout = lay_out(found.read(), package_limits(), repacked=True)
        digest = digest_of(repack(layout.files))
        before = known.get(found.path)
        if before and before.digest == digest:
            return Plan(found, before.row(found.path), before.label, digest)
        package = package_of(layout, Origin(found.name), limits=package_limits())
    except Refused as refused:
        return Plan(found, Row(found.path, ImportOutcome.REFUSED, problems=refused.problems))
    label = f"{team.slug}/{package.manifest.slug}" if package.manifest.slug else ""
    if not package.ok:
        refusal = Row(found.path, ImportOutcome.REFUSED, label, digest=digest, problems=package.problems)
        return Plan(found, refusal, label, digest)
    return Plan(found, None, label, digest, package)


def _decided(plans: Sequence[Plan]) -> list[Plan]:
    """Of several with one slug the deepest is published; deepest ones that differ are all refused."""
    rivals: dict[tuple[str, str], list[Plan]] = defaultdict(list)
    for each in plans:
        if each.label and isinstance(each.found, Found):
            rivals[each.label, each.found.version].append(each)
    against = {id(each): row for group in rivals.values() for each, row in _lost(group)}
    return [replace(each, row=against.get(id(each), each.row)) for each in plans]


def _lost(group: Sequence[Plan]) -> Iterator[tuple[Plan, Row]]:
    """Those that do not win, and what is said of them; one that is refused already keeps its reasons."""
    deepest = max(_depth(each) for each in group)
    top = [each for each in group if _depth(each) == deepest]
    for each in group:
        if each.row and each.row.outcome == ImportOutcome.REFUSED:
            continue
        other = next((one for one in top if one.digest != each.digest), top[0])
        if each in top and other.digest != each.digest:
            yield each, _row(each, ImportOutcome.REFUSED, "IMPORT_CLASH", other)
        elif each is not top[0] and each.digest == top[0].digest:
            yield each, _row(each, ImportOutcome.SKIPPED, "IMPORT_SAME_CONTENT", top[0])
        elif each not in top:
            yield each, _row(each, ImportOutcome.SKIPPED, "IMPORT_SHADOWED", top[0])


def _depth(each: Plan) -> int:
    return each.found.depth if isinstance(each.found, Found) else 0


def _row(each: Plan, outcome: ImportOutcome, code: str, other: Plan) -> Row:
    path = each.found.path
    said = problem(code, path=shown(path), other=shown(other.found.path), skill=each.label)
    return Row(path, outcome, each.label, digest=each.digest, problems=(said,))
