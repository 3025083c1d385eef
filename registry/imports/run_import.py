"""Runs imports: reads a source, publishes its candidates as versions, and writes a report row for each."""

import logging
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction

from registry.core.leases import LeaseLost, keep_alive
from registry.erasure import hooks as erasure
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.imports import queue
from registry.imports.candidates import ReadProgress, SkillCandidate, SkippedPath, SourceContent
from registry.imports.errors import IMPORT_EMPTY, IMPORT_ERROR
from registry.imports.plan import ImportPlan, plan_imports
from registry.imports.queue import ImportLease
from registry.imports.report import ReportProgress, ReportRow, ReportWriter, previously_imported
from registry.models import Import, ImportOutcome, ImportStatus, Skill, Source, SourceKind
from registry.packages.problems import Refusal
from registry.storage import blobs
from registry.versions.errors import SKILL_PURGED, VERSION_PURGED
from registry.versions.publishing.publish import preview_publication, publish

log = logging.getLogger(__name__)
_BATCH = 10  # skills per transaction; publishing one blocks other SQLite writers for tens of milliseconds
_SQLITE_PAUSE_S = 0.06  # after each batch; without it, other SQLite writers, which retry every 0.1 s, starve
_ROWS = 500  # rows per transaction
_MAX_PATH_CHARS = 1000
_FOLDER = "imports"


def run_import(lease: ImportLease, actor: Actor) -> None:
    """Runs the leased import and marks it as done, or as failed with problems. Then deletes old reports of
    the source.

    After a crash, the next attempt publishes only the remaining skills. If the import is cancelled or
    taken over by another worker, this attempt stops. If the storage can't be reached, raises the refusal and
    keeps the lease; the caller must end or requeue the import.
    """
    report = Import.objects.select_related("source__team").get(pk=lease.job.pk)
    try:
        with keep_alive(lease), _scratch(report) as scratch:
            _import(report, lease, actor, scratch)
    except Refusal as refused:
        if blobs.is_lost(refused):
            raise
        lease.end(*refused.problems)
    except LeaseLost:
        log.warning("Import %s was cancelled or taken over by another worker; stopping", report.uid)
        return
    except Exception as error:
        log.exception("Import %s failed unexpectedly", report.uid)
        lease.end(IMPORT_ERROR.problem(reason=type(error).__name__))
    else:
        lease.end()
    queue.delete_old_reports(report.source)


def import_now(source: Source, actor: Actor) -> Import:
    """Imports the source in this process and returns the report. Raises the errors of ``request_import``."""
    lease = queue.start_import(source, actor)
    try:
        run_import(lease, actor)
    except Refusal as refused:
        lease.end(*refused.problems)
    return Import.objects.get(pk=lease.job.pk)


def preview_import(source: Source, actor: Actor) -> list[ReportRow]:
    """The rows that an import would write. Reads the source and stores nothing; for an archive, discards
    the blob that ``prepare_source`` stored. Raises Refusal if the actor may not publish, or if the source
    can't be read or is empty.
    """
    require(actor, Action.PUBLISH, team=source.team)
    with tempfile.TemporaryDirectory(prefix="skillquay-import-") as scratch:
        try:
            progress = ReadProgress()
            items = _unique_candidates(_read(source, actor, Path(scratch), progress), source)
            known = previously_imported(source) if source.pk else {}
            plans = plan_imports(items, known, source.team, progress)
            return [each.row or _preview_candidate(each, source, actor) for each in plans]
        finally:
            if source.kind == SourceKind.ARCHIVE:  # stored by ``prepare_source``
                erasure.discard([source.last_revision])


def _import(report: Import, lease: ImportLease, actor: Actor, scratch: Path) -> None:
    source = report.source
    require(actor, Action.PUBLISH, team=source.team)
    progress = ReportProgress(lease)
    content = _read(source, actor, scratch, progress)
    if not content.is_unchanged:
        writer = ReportWriter(report, lease)
        items = _unique_candidates(content, source)
        progress.write(total=len(items))
        plans = plan_imports(items, previously_imported(source), source.team, progress)
        progress.write()
        _publish_all(plans, source, actor, writer)
    rows = Source.objects.filter(pk=source.pk)
    if source.kind == SourceKind.ARCHIVE and _refused_purged(report):
        rows.update(last_revision="")
        erasure.discard([content.state])
    else:
        rows.update(last_revision=content.state[:100])


def _refused_purged(report: Import) -> bool:
    """Whether the import refused a candidate because its content or skill was purged."""
    refused = report.rows.filter(outcome=ImportOutcome.REFUSED).values_list("problems", flat=True)
    codes = {str(problem["code"]) for problems in refused.iterator() for problem in problems}
    return not codes.isdisjoint((VERSION_PURGED.name, SKILL_PURGED.name))


def _read(source: Source, actor: Actor, scratch: Path, progress: ReadProgress) -> SourceContent:
    reader = import_module(f"registry.imports.readers.{source.kind}")
    content: SourceContent = reader.read(source, actor, scratch, progress)
    return content


def _unique_candidates(content: SourceContent, source: Source) -> list[SkillCandidate | SkippedPath]:
    """The source's candidates and skipped paths; of several with the same path, the last. Raises IMPORT_EMPTY
    if there are none.
    """
    items = {each.path[:_MAX_PATH_CHARS]: each for each in content.items}
    if not items:
        raise IMPORT_EMPTY.refusal(location=source.location)
    return [replace(each, path=path) for path, each in items.items()]


def _publish_all(plans: Sequence[ImportPlan], source: Source, actor: Actor, writer: ReportWriter) -> None:
    """Publishes the planned candidates in batches. Each batch saves its versions, rows and
    progress in one transaction.
    """
    existing_slugs = frozenset(Skill.objects.filter(team=source.team).values_list("slug", flat=True))
    batch: list[ImportPlan] = []
    for each in plans:
        batch.append(each)
        if len(batch) >= _ROWS or sum(item.row is None for item in batch) >= _BATCH:
            _publish_batch(batch, source, actor, writer, existing_slugs)
            batch = []
    _publish_batch(batch, source, actor, writer, existing_slugs)


def _publish_batch(
    batch: list[ImportPlan],
    source: Source,
    actor: Actor,
    writer: ReportWriter,
    existing_slugs: frozenset[str],
) -> None:
    with transaction.atomic():
        writer.lease.lock()
        rows = [each.row or _publish_candidate(each, source, actor, existing_slugs) for each in batch]
        writer.write(rows)
    if connection.vendor == "sqlite":
        time.sleep(_SQLITE_PAUSE_S)


def _publish_candidate(
    plan: ImportPlan, source: Source, actor: Actor, existing_slugs: frozenset[str]
) -> ReportRow:
    package, candidate = plan.package(), plan.candidate
    try:
        publication = publish(
            package,
            team=source.team,
            actor=actor,
            version=None if package.manifest.version else candidate.version,
            visibility=None if package.manifest.slug in existing_slugs else source.visibility or None,
            source=candidate.source,
            provenance={**candidate.provenance, "path": candidate.path},
            origin=source,
            origin_path=candidate.path,
        )
    except Refusal as refused:
        if blobs.is_lost(refused):
            raise
        return ReportRow(candidate.path, ImportOutcome.REFUSED, plan.label, problems=refused.problems)
    outcome = ImportOutcome.PUBLISHED if publication.created else ImportOutcome.UNCHANGED
    version = publication.version
    return ReportRow(
        candidate.path, outcome, plan.label, version.number, version.digest, publication.problems
    )


def _preview_candidate(plan: ImportPlan, source: Source, actor: Actor) -> ReportRow:
    package, candidate = plan.package(), plan.candidate
    number = None if package.manifest.version else candidate.version
    preview = preview_publication(package, team=source.team, actor=actor, version=number)
    outcome = ImportOutcome.PUBLISHED if preview.created else ImportOutcome.UNCHANGED
    if not preview.ok:
        outcome = ImportOutcome.REFUSED
    return ReportRow(candidate.path, outcome, preview.skill, preview.number, preview.digest, preview.problems)


def sweep_scratch() -> int:
    """Removes the scratch folders of imports that are not running; returns the count."""
    alive = set(Import.objects.filter(status=ImportStatus.RUNNING).values_list("uid", flat=True))
    removed = 0
    for folder in _root().iterdir():
        if folder.name.partition("-")[0] not in alive:
            shutil.rmtree(folder, ignore_errors=True)
            removed += 1
    return removed


def _root() -> Path:
    root = Path(settings.SKILLQUAY_VAR) / _FOLDER
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    return root


@contextmanager
def _scratch(report: Import) -> Iterator[Path]:
    """Context manager that yields an empty folder for this attempt and removes it at the end. After a crash,
    ``sweep_scratch`` removes it.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"{report.uid}-", dir=_root()))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
