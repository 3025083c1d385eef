"""Two runs held against each other: what was asked, what ran, how long, what was said and left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from registry.actors import Actor
from registry.addresses import absolute
from registry.packages.comparison_lines import MOST_BYTES, TextComparison, common, compare_texts
from registry.packages.problems import refuse
from worker.documents import duration_ms, steps_of
from worker.models import LogChunk, Run
from worker.value_changes import ValueChanges, compare_values

_MOST_STEPS = 2_000
_ASKED = ("script", "action", "tool", "stdin", "debug")


@dataclass(frozen=True)
class Fact:
    """One thing that can be said of a run in a word; "" where nothing can."""

    name: str
    before: str
    after: str

    @property
    def same(self) -> bool:
        return self.before == self.after


@dataclass(frozen=True)
class Side:
    """A step in one of the runs."""

    status: str
    duration_ms: float | None


@dataclass(frozen=True)
class StepPair:
    """A step of both runs, or of one of them alone."""

    name: str
    kind: str
    before: Side | None
    after: Side | None


@dataclass(frozen=True)
class File:
    size: int
    digest: str


@dataclass(frozen=True)
class FilePair:
    """A file that the runs left, by its path."""

    path: str
    before: File | None
    after: File | None

    @property
    def kind(self) -> str:
        if self.before is None:
            return "added"
        if self.after is None:
            return "removed"
        return "same" if self.before == self.after else "changed"


@dataclass(frozen=True)
class RunComparison:
    facts: tuple[Fact, ...]
    inputs: ValueChanges
    output: ValueChanges
    steps: tuple[StepPair, ...]
    files: tuple[FilePair, ...]
    log: TextComparison


def readable_pair(before: str, after: str, actor: Actor) -> tuple[Run, Run]:
    """Both runs, where the actor may read what they hold; what may not be read is as what is not there."""
    rows = Run.objects.readable_by(actor).filter(uid__in=(before, after))
    found = {run.uid: run for run in rows.select_related("team", "caller", "skill__team")}
    missing = next((uid for uid in (before, after) if uid not in found), None)
    if missing is not None:
        raise refuse("NOT_FOUND", what="run", name=missing[:80])
    return found[before], found[after]


def compare_runs(before: Run, after: Run) -> RunComparison:
    """Everything that differs; whoever asks has seen to it that both may be read."""
    return RunComparison(
        facts=tuple(_facts(before, after)),
        inputs=compare_values(before.request.get("inputs") or {}, after.request.get("inputs") or {}),
        output=compare_values(_output(before), _output(after)),
        steps=tuple(_steps(before, after)),
        files=tuple(_files(before, after)),
        log=compare_texts(_log(before), _log(after)),
    )


def _facts(before: Run, after: Run) -> Iterator[Fact]:
    old, new = _said(before), _said(after)
    for name in dict.fromkeys((*old, *new)):
        yield Fact(name, old.get(name, ""), new.get(name, ""))


def _said(run: Run) -> dict[str, str]:
    asked: Mapping[str, Any] = run.request
    took = duration_ms(run)
    return {
        "skill": run.skill_label,
        "version": run.version_number,
        "digest": run.digest,
        **{name: str(asked[name]) for name in _ASKED if asked.get(name)},
        "protocol": run.protocol,
        "entry": run.entry,
        "status": run.status,
        "failure_code": run.failure_code,
        "message": run.message,
        "exit_code": "" if run.exit_code is None else str(run.exit_code),
        "duration_ms": "" if took is None else f"{took:g}",
        "team": run.team.slug if run.team else "",
        "caller": run.caller.username if run.caller else "",
        "sandbox": str(run.sandbox.get("tier", "")),
        **{f"sandbox.{what}": str(how) for what, how in _enforcement(run).items()},
    }


def _enforcement(run: Run) -> Mapping[str, Any]:
    held = run.sandbox.get("enforcement")
    return held if isinstance(held, Mapping) else {}


def _output(run: Run) -> Any:
    result: Mapping[str, Any] = run.result or {}
    return result.get("outputs") if run.protocol == "script" else result.get("output")


def _steps(before: Run, after: Run) -> Iterator[StepPair]:
    old, new = steps_of(before)[:_MOST_STEPS], steps_of(after)[:_MOST_STEPS]
    names = [[f"{step['kind']}\0{step['name']}" for step in steps] for steps in (old, new)]
    i = j = 0
    pairs = common(names[0], names[1], most=_MOST_STEPS) or []
    for next_i, next_j in [*pairs, (len(old), len(new))]:
        yield from (_pair(step, None) for step in old[i:next_i])
        yield from (_pair(None, step) for step in new[j:next_j])
        if next_i < len(old) and next_j < len(new):
            yield _pair(old[next_i], new[next_j])
        i, j = next_i + 1, next_j + 1


def _pair(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> StepPair:
    named = before or after or {}
    return StepPair(named["name"], named["kind"], _side(before), _side(after))


def _side(step: Mapping[str, Any] | None) -> Side | None:
    return Side(step["status"], step["duration_ms"]) if step else None


def _files(before: Run, after: Run) -> Iterator[FilePair]:
    old, new = _left(before), _left(after)
    for path in sorted(old.keys() | new.keys()):
        yield FilePair(path, old.get(path), new.get(path))


def _left(run: Run) -> dict[str, File]:
    rows = run.artifacts.values_list("path", "size", "digest")
    return {path: File(size, digest) for path, size, digest in rows}


def _log(run: Run) -> bytes:
    """The last attempt's, until it is too long to be compared anyway."""
    if run.log_bytes > MOST_BYTES:
        return b" " * (MOST_BYTES + 1)
    chunks = LogChunk.objects.filter(run=run, attempt=run.attempt).order_by("seq")
    return b"".join(bytes(data) for data in chunks.values_list("data", flat=True))


def comparison_document(before: Run, after: Run, found: RunComparison) -> dict[str, Any]:
    """The JSON object of API and command."""
    return {
        "before": before.uid,
        "after": after.uid,
        "facts": [{**asdict(fact), "same": fact.same} for fact in found.facts],
        "inputs": asdict(found.inputs),
        "output": asdict(found.output),
        "steps": [asdict(pair) for pair in found.steps],
        "artifacts": [{**asdict(pair), "kind": pair.kind} for pair in found.files],
        "log": _log_document(found.log),
        "url": absolute(f"/runs/{before.uid}/compare/{after.uid}/"),
    }


def _log_document(log: TextComparison) -> dict[str, Any]:
    lines = (line for stretch in log.stretches for line in stretch.lines if line.kind != "same")
    told = [
        {
            "kind": line.kind,
            "before_line": line.before_number,
            "after_line": line.after_number,
            "before": "".join(piece.text for piece in line.before),
            "after": "".join(piece.text for piece in line.after),
        }
        for line in lines
    ]
    return {"too_large": log.too_large, "removed": log.removed, "added": log.added, "lines": told[:2_000]}
