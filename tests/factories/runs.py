"""Creates runs in any state, with the rows that a worker would write, for tests of pages."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from registry.models import Team, User, Version
from registry.storage import blobs
from worker.models import Artifact, Attempt, LogChunk, Run, Step
from worker.queue.sql import next_run_number

HOSTILE = "<script>alert('x')</script>\u202egnp.exe \x1b[31mred\x1b[0m javascript:alert(1)"


def make_run(version: Version, user: User, team: Team | None, **fields: Any) -> Run:
    """Creates a run that waited 0.4 s and succeeded after 2.1 s; ``fields`` override its values."""
    now = timezone.now() - timedelta(minutes=5)
    values: dict[str, Any] = {
        "skill": version.skill,
        "skill_label": str(version.skill),
        "version_number": version.number,
        "digest": version.digest,
        "team": team,
        "caller": user,
        "protocol": "script",
        "entry": "scripts/report.py",
        "request": {"inputs": {"city": "北京", "days": 7}, "script": "report", "stdin": None, "debug": False},
        "request_id": "request-1",
        "status": "succeeded",
        "attempt": 1,
        "progress": 100,
        "message": "Seven days read.",
        "exit_code": 0,
        "result": {
            "output": None,
            "outputs": {"rows": 7, "city": "北京"},
            "warnings": ["One day has no data."],
        },
        "sandbox": {"tier": "bwrap", "enforcement": {"memory": "watchdog"}},
        "run_after": now,
        "created_at": now,
        "started_at": now + timedelta(seconds=0.4),
        "finished_at": now + timedelta(seconds=2.5),
    } | fields
    if version.skill_id:
        values.setdefault("number", next_run_number(version.skill_id))
    run = Run.objects.create(**values)
    if run.started_at:
        Attempt.objects.create(
            run=run,
            number=1,
            worker="w",
            started_at=run.started_at,
            finished_at=run.finished_at,
            steps=_steps(run),
        )
    return run


def make_past_run(version: Version, user: User, team: Team | None, days: float, **fields: Any) -> Run:
    """Creates an ended run of this age that is counted per day."""
    at = timezone.now() - timedelta(days=days, minutes=5)
    times = {"created_at": at, "run_after": at, "started_at": at, "finished_at": at + timedelta(seconds=2)}
    return make_run(version, user, team, **(times | {"is_counted": True} | fields))


def _steps(run: Run) -> list[dict[str, Any]]:
    assert run.started_at is not None
    started = run.started_at.timestamp() * 1000
    rows = [("unpack", 12), ("sandbox", 40), ("execute", 2000), ("collect", 8), ("record", 3)]
    steps = []
    for name, duration in rows:
        steps.append(
            {
                "name": name,
                "status": "succeeded",
                "error": None,
                "started_at": started,
                "duration_ms": duration,
            }
        )
        started += duration
    return steps


def add_log(run: Run, *pieces: tuple[str, str]) -> None:
    """Adds log chunks from pairs of a stream and a text."""
    seq = run.log_chunks.count()
    offset = run.log_bytes
    for number, (stream, text) in enumerate(pieces, seq):
        data = text.encode()
        LogChunk.objects.create(run=run, attempt=1, seq=number, stream=stream, offset=offset, data=data)
        offset += len(data)
    Run.objects.filter(pk=run.pk).update(log_bytes=offset)
    run.log_bytes = offset


def add_artifact(run: Run, path: str, data: bytes) -> None:
    """Stores the data and adds it as an artifact."""
    stored: dict[str, Any] = {"size": len(data), "digest": blobs.store(data)}
    Artifact.objects.create(run=run, team_key=run.team_id, path=path, **stored)


def add_step(run: Run, seq: int, name: str, **fields: Any) -> None:
    """Adds a step of 500 ms; ``fields`` override its values."""
    Step.objects.create(
        run=run, attempt=1, seq=seq, step_id=f"s{seq}", name=name, **{"duration_ms": 500} | fields
    )


def make_hostile_run(version: Version, user: User, team: Team) -> Run:
    """A run with markup, bidi and terminal codes in each field that a script or caller writes."""
    run = make_run(
        version,
        user,
        team,
        status="failed",
        failure_code="<b>CODE</b>",
        message=HOSTILE,
        request={
            "inputs": {HOSTILE: [HOSTILE, {HOSTILE: HOSTILE}]},
            "script": HOSTILE,
            "stdin": HOSTILE,
            "debug": True,
        },
        result={
            "output": "# "
            + HOSTILE
            + "\n\n[x](javascript:alert(2)) ![y](https://evil.example/p.png) <svg onload=alert(3)>",
            "format": "markdown",
            "warnings": [HOSTILE],
            "error": {"code": HOSTILE, "message": HOSTILE, "details": {HOSTILE: HOSTILE}},
            "metadata": {HOSTILE: HOSTILE},
            "memory_writes": [
                {"type": HOSTILE, "content": HOSTILE, "ownerType": HOSTILE, "importance": HOSTILE}
            ],
        },
        sandbox={"tier": HOSTILE, "enforcement": {HOSTILE: HOSTILE}},
    )
    add_log(
        run, ("stdout", HOSTILE + "\n"), ("stderr", "\x1b]8;;javascript:alert(4)\x1b\\link\x1b]8;;\x1b\\\n")
    )
    add_step(
        run,
        0,
        HOSTILE,
        input={HOSTILE: HOSTILE},
        output=HOSTILE,
        error={"name": HOSTILE, "message": HOSTILE, "stack": HOSTILE},
    )
    add_artifact(run, "a/<img src=x onerror=alert(5)>\u202egnp.svg", b"<svg onload=alert(6)>")
    return run
