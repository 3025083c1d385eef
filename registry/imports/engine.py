"""A source is read, its candidates become versions, and each of them a row of the report."""

from __future__ import annotations

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

from registry.actors import Actor
from registry.imports import queue
from registry.imports.found import Found, Passed, Reading
from registry.imports.planning import Plan, plan
from registry.imports.queue import Hold, Lost
from registry.imports.report import Row, Writing, known_before
from registry.leases import kept
from registry.models import Import, ImportOutcome, ImportStatus, Skill, Source
from registry.packages.problems import Refused, problem, refuse
from registry.permissions import Action, require
from registry.publishing import check, publish

log = logging.getLogger(__name__)
_BATCH = 10  # skills a transaction: each holds SQLite's one writer for some tens of milliseconds
_LET_OTHERS_WRITE_S = 0.06  # who waits for SQLite's writer looks every 0.1 s, and would starve
_ROWS = 500  # rows a transaction
_LONGEST_PATH = 1000
_FOLDER = "imports"


def run(hold: Hold, actor: Actor) -> None:
    """Imports what is held, to its end: done, or failed with its problems.

    Again it changes nothing; after a kill it goes on where the last row was written.
    """
    report = Import.objects.select_related("source__team").get(pk=hold.report)
    try:
        with kept(hold.renew, every_s=queue.RENEW_S), _scratch(report) as scratch:
            _import(report, hold, actor, scratch)
    except Refused as refused:
        hold.finish(*refused.problems)
    except Lost:
        log.warning("Import %s was taken over: nothing more is written", report.uid)
        return
    except Exception as error:
        log.exception("Import %s failed in the portal", report.uid)
        hold.finish(problem("IMPORT_ERROR", reason=type(error).__name__))
    else:
        hold.finish()
    queue.forget_old(report.source)


def run_here(source: Source, actor: Actor) -> Import:
    """Imports in this process, and answers the report."""
    hold = queue.start(source, actor)
    run(hold, actor)
    return Import.objects.get(pk=hold.report)


def preview(source: Source, actor: Actor) -> list[Row]:
    """The dry run: the rows that an import would write, nothing written."""
    require(actor, Action.PUBLISH, team=source.team)
    with tempfile.TemporaryDirectory(prefix="skillquay-import-") as scratch:
        found = _found(_read(source, actor, Path(scratch)), source)
        plans = plan(found, known_before(source) if source.pk else {}, source.team)
        return [each.row or _previewed(each, source, actor) for each in plans]


def _import(report: Import, hold: Hold, actor: Actor, scratch: Path) -> None:
    source = report.source
    require(actor, Action.PUBLISH, team=source.team)
    reading = _read(source, actor, scratch)
    if not reading.is_unchanged:
        writing = Writing(report, hold)
        found = _found(reading, source)
        writing.expect(len(found))
        plans = plan(found, known_before(source), source.team)
        _publish_all(plans, source, actor, writing)
    Source.objects.filter(pk=source.pk).update(seen=reading.seen[:100])


def _read(source: Source, actor: Actor, scratch: Path) -> Reading:
    reading: Reading = import_module(f"registry.imports.{source.kind}").read(source, actor, scratch)
    return reading


def _found(reading: Reading, source: Source) -> list[Found | Passed]:
    """Everything that the source holds, a path once; a source that holds nothing was named wrongly."""
    found = {each.path[:_LONGEST_PATH]: each for each in reading.found}
    if not found:
        raise refuse("IMPORT_EMPTY", location=source.location)
    return [replace(each, path=path) for path, each in found.items()]


def _publish_all(plans: Sequence[Plan], source: Source, actor: Actor, writing: Writing) -> None:
    """In batches: their rows, their versions and the progress are one transaction each."""
    there = frozenset(Skill.objects.filter(team=source.team).values_list("slug", flat=True))
    batch: list[Plan] = []
    for each in plans:
        batch.append(each)
        if len(batch) >= _ROWS or sum(one.row is None for one in batch) >= _BATCH:
            _publish_batch(batch, source, actor, writing, there)
            batch = []
    _publish_batch(batch, source, actor, writing, there)


def _publish_batch(
    batch: list[Plan], source: Source, actor: Actor, writing: Writing, there: frozenset[str]
) -> None:
    with transaction.atomic():
        writing.hold.check()
        rows = [each.row or _published(each, source, actor, there) for each in batch]
        writing.write(rows)
    if connection.vendor == "sqlite":
        time.sleep(_LET_OTHERS_WRITE_S)


def _published(each: Plan, source: Source, actor: Actor, there: frozenset[str]) -> Row:
    package, found = each.package(), each.candidate
    try:
        done = publish(
            package,
            team=source.team,
            actor=actor,
            version=None if package.manifest.version else found.version,
            visibility=None if package.manifest.slug in there else source.visibility or None,
            source=found.source,
            provenance={**found.provenance, "path": found.path},
            origin=source,
            origin_path=found.path,
        )
    except Refused as refused:
        return Row(found.path, ImportOutcome.REFUSED, each.label, problems=refused.problems)
    outcome = ImportOutcome.PUBLISHED if done.created else ImportOutcome.UNCHANGED
    version = done.version
    return Row(found.path, outcome, each.label, version.number, version.digest, done.problems)


def _previewed(each: Plan, source: Source, actor: Actor) -> Row:
    package, found = each.package(), each.candidate
    number = None if package.manifest.version else found.version
    seen = check(package, team=source.team, actor=actor, version=number)
    outcome = ImportOutcome.PUBLISHED if seen.created else ImportOutcome.UNCHANGED
    if not seen.ok:
        outcome = ImportOutcome.REFUSED
    return Row(found.path, outcome, seen.skill, seen.number, seen.digest, seen.problems)


def sweep() -> int:
    """Removes the folders that killed imports left."""
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
    """A folder of this attempt's own, empty, that is gone afterwards; the sweep takes a killed one's."""
    folder = Path(tempfile.mkdtemp(prefix=f"{report.uid}-", dir=_root()))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
