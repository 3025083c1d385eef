"""Plans an import: decides which candidates to publish, and which are unchanged, skipped or refused."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from registry.core.limits import package_limits
from registry.imports.candidates import ReadProgress, SkillCandidate, SkippedPath
from registry.imports.errors import IMPORT_CLASH, IMPORT_SAME_CONTENT, IMPORT_SHADOWED
from registry.imports.report import ImportedSkill, ReportRow
from registry.models import ImportOutcome, Team
from registry.packages.archive.layout import lay_out
from registry.packages.archive.paths import printable
from registry.packages.archive.repack import digest_of, repack
from registry.packages.manifest.naming import Origin
from registry.packages.package import Package
from registry.packages.problems import Problem, Refusal
from registry.packages.read_package import build_package

# total size of packages kept in memory until publication; others are read again
_MAX_MEMORY_BYTES = 64 * 2**20


@dataclass(frozen=True)
class ImportPlan:
    """The plan for a candidate or skipped path. ``row`` is its line in the report, or None if the
    candidate is to be published.
    """

    item: SkillCandidate | SkippedPath
    row: ReportRow | None
    label: str = ""  # team/slug
    digest: str = ""
    cached_package: Package | None = None

    @property
    def candidate(self) -> SkillCandidate:
        assert isinstance(self.item, SkillCandidate)  # skipped paths already have a row
        return self.item

    def package(self) -> Package:
        return self.cached_package or read_package(self.candidate)


def read_package(candidate: SkillCandidate) -> Package:
    layout = lay_out(candidate.read(), package_limits(), repacked=True)  # allows nested SKILL.md files
    return build_package(layout, Origin(candidate.name), limits=package_limits())


def plan_imports(
    items: Sequence[SkillCandidate | SkippedPath],
    known: Mapping[str, ImportedSkill],
    team: Team,
    progress: ReadProgress,
) -> list[ImportPlan]:
    """A plan for each item, in the same order. Keeps built packages up to ``_MAX_MEMORY_BYTES`` in total; the
    others are built again when they are published.
    """
    bytes_left = _MAX_MEMORY_BYTES
    plans = []
    for each in items:
        planned = (
            _plan_candidate(each, known, team) if isinstance(each, SkillCandidate) else _plan_skipped(each)
        )
        if planned.cached_package:
            bytes_left -= sum(len(file.data) for file in planned.cached_package.files)
            planned = planned if bytes_left > 0 else replace(planned, cached_package=None)
        plans.append(planned)
        progress.add_checked()
    return _resolve_conflicts(plans)


def _plan_skipped(each: SkippedPath) -> ImportPlan:
    return ImportPlan(each, ReportRow(each.path, ImportOutcome.SKIPPED, problems=(each.reason,)))


def _plan_candidate(candidate: SkillCandidate, known: Mapping[str, ImportedSkill], team: Team) -> ImportPlan:
    """The plan for a candidate: unchanged if the same content was imported from this path before, refused
    if the candidate can't be read or has errors, otherwise to be published.
    """
    try:
        layout = lay_out(candidate.read(), package_limits(), repacked=True)
        digest = digest_of(repack(layout.files))
        previous = known.get(candidate.path)
        if previous and previous.digest == digest:
            return ImportPlan(candidate, previous.row(candidate.path), previous.label, digest)
        package = build_package(layout, Origin(candidate.name), limits=package_limits())
    except Refusal as refused:
        return ImportPlan(
            candidate, ReportRow(candidate.path, ImportOutcome.REFUSED, problems=refused.problems)
        )
    label = f"{team.slug}/{package.manifest.slug}" if package.manifest.slug else ""
    if not package.ok:
        refusal = ReportRow(
            candidate.path, ImportOutcome.REFUSED, label, digest=digest, problems=package.problems
        )
        return ImportPlan(candidate, refusal, label, digest)
    return ImportPlan(candidate, None, label, digest, package)


def _resolve_conflicts(plans: Sequence[ImportPlan]) -> list[ImportPlan]:
    """Of the candidates with the same slug and tag version, keeps the most deeply nested one. If several
    are equally deep, refuses all of them if their contents differ, otherwise keeps the first.
    """
    rivals: dict[tuple[str, str], list[ImportPlan]] = defaultdict(list)
    for each in plans:
        if each.label and isinstance(each.item, SkillCandidate):
            rivals[each.label, each.item.version].append(each)
    rows = {id(each): row for group in rivals.values() for each, row in _losers(group)}
    return [replace(each, row=rows.get(id(each), each.row)) for each in plans]


def _losers(group: Sequence[ImportPlan]) -> Iterator[tuple[ImportPlan, ReportRow]]:
    """Yields the candidates that lose to another one in the group, with their report rows. Omits those that
    are already refused.
    """
    deepest = max(_depth(each) for each in group)
    top = [each for each in group if _depth(each) == deepest]
    for each in group:
        if each.row and each.row.outcome == ImportOutcome.REFUSED:
            continue
        other = next((one for one in top if one.digest != each.digest), top[0])
        if each in top and other.digest != each.digest:
            yield (
                each,
                _row(each, ImportOutcome.REFUSED, IMPORT_CLASH.problem(other=_path(other), skill=each.label)),
            )
        elif each is not top[0] and each.digest == top[0].digest:
            yield each, _row(each, ImportOutcome.SKIPPED, IMPORT_SAME_CONTENT.problem(other=_path(top[0])))
        elif each not in top:
            yield (
                each,
                _row(
                    each,
                    ImportOutcome.SKIPPED,
                    IMPORT_SHADOWED.problem(other=_path(top[0]), skill=each.label),
                ),
            )


def _depth(each: ImportPlan) -> int:
    return each.item.depth if isinstance(each.item, SkillCandidate) else 0


def _path(each: ImportPlan) -> str:
    return printable(each.item.path)


def _row(each: ImportPlan, outcome: ImportOutcome, problem: Problem) -> ReportRow:
    problems = (problem.at(_path(each)),)
    return ReportRow(each.item.path, outcome, each.label, digest=each.digest, problems=problems)
