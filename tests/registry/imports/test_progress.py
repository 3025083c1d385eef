"""The progress of an import while it reads and checks its source, and cancelling it then."""

from __future__ import annotations

import pytest

from registry.imports import queue, report, run_import, sources
from registry.imports.report import ReportProgress, phase_of
from registry.models import Import, Skill
from tests.factories.repositories import GitRepository, git_http_backend
from tests.factories.trees import skill_md, zip_tree

pytestmark = [pytest.mark.row("D2"), pytest.mark.django_db]
FILES = {f"skills/{name}/SKILL.md": skill_md(name) for name in ("a", "b")}


@pytest.fixture(params=["archive", "url", "git"])
def source(request, server, team, root, tmp_path, monkeypatch):
    """A source of two skills. Its progress is written after each change."""
    monkeypatch.setattr(report, "_INTERVAL_S", 0)
    content = None
    if request.param == "git":
        server.default_responder = git_http_backend(tmp_path / "served")
        GitRepository(tmp_path / "served").commit({**FILES})
        location = f"{server.url}/skills.git/.git"
    else:
        content = zip_tree(FILES) if request.param == "archive" else None
        server.responders["/a.zip"] = lambda handler: handler.send(body=zip_tree(FILES))
        location = f"{server.url}/a.zip"
    made = sources.prepare_source(root, team=team, kind=request.param, location=location, content=content)
    return sources.save_source(made, root)


@pytest.fixture
def seen(monkeypatch):
    """The rows of the import after each change, and a function that is called then."""
    rows, calls = [], []
    changed = ReportProgress.changed

    def record(progress):
        changed(progress)
        rows.append(Import.objects.get())
        for call in calls:
            call(rows[-1])

    monkeypatch.setattr(ReportProgress, "changed", record)
    return rows, calls


def test_reading_and_checking_are_counted(source, seen, root):
    done = run_import.import_now(source, root)
    rows, _calls = seen
    phases = [phase_of(row) for row in rows]
    assert [*dict.fromkeys(phases)] == ["reading", "checking", "publishing"]
    received = [row.read_bytes for row, phase in zip(rows, phases, strict=True) if phase == "reading"]
    assert received == sorted(received)
    assert received[0] > 0
    assert [row.checked for row in rows if row.total] == [1, 2]
    assert (done.read_bytes, done.checked, done.processed) == (received[-1], 2, 2)
    assert phase_of(done) == "ended"


@pytest.mark.parametrize("phase", ["reading", "checking"])
def test_cancelled_import_stops_while_it_reads_or_checks(source, seen, root, phase):
    rows, calls = seen
    calls.append(lambda row: phase_of(row) == phase and queue.cancel_import(row, root))
    done = run_import.import_now(source, root)
    assert (done.status, done.problems[0]["code"]) == ("failed", "IMPORT_CANCELLED")
    assert phase_of(rows[-1]) == phase
    assert not Skill.objects.exists()


def test_next_attempt_counts_from_zero(source, root):
    lease = queue.start_import(source, root)
    Import.objects.update(total=9, processed=5, read_bytes=70, checked=9)
    ReportProgress(lease)
    row = Import.objects.get()
    assert (phase_of(row), row.read_bytes, row.processed) == ("reading", 0, 0)
