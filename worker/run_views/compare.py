"""Compares two runs: what was requested, what each run recorded, and what it returned."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import TextField
from django.db.models.functions import Cast, Length

from registry.core.addresses import absolute_url
from registry.core.errors import NOT_FOUND
from registry.identity.actors import Actor
from registry.packages.compare.lines import TextComparison, common_pairs, compare_texts
from worker.core.display_budget import MAX_BYTES
from worker.models import LogChunk, Run
from worker.run_views.documents import steps_of
from worker.run_views.value_changes import ValueChanges, compare_values

_MAX_STEPS = 2_000
_REQUEST_FIELDS = ("script", "action", "tool", "arguments", "stdin", "debug")


@dataclass(frozen=True)
class RunFact:
    """A short value in both runs; "" for a run that has none."""

    name: str
    before: str
    after: str

    @property
    def same(self) -> bool:
        return self.before == self.after


@dataclass(frozen=True)
class StepSide:
    status: str
    duration_ms: float | None


@dataclass(frozen=True)
class StepPair:
    """A step of both runs, or of only one of them; the other side is then None."""

    name: str
    kind: str
    before: StepSide | None
    after: StepSide | None


@dataclass(frozen=True)
class ArtifactSide:
    size: int
    digest: str


@dataclass(frozen=True)
class ArtifactPair:
    """The artifacts of both runs at one path; None on the side that has none."""

    path: str
    before: ArtifactSide | None
    after: ArtifactSide | None

    @property
    def kind(self) -> str:
        if self.before is None:
            return "added"
        if self.after is None:
            return "removed"
        return "same" if self.before == self.after else "changed"


@dataclass(frozen=True)
class RunComparison:
    facts: tuple[RunFact, ...]
    inputs: ValueChanges
    output: ValueChanges
    steps: tuple[StepPair, ...]
    files: tuple[ArtifactPair, ...]
    log: TextComparison


def find_readable_pair(before: str, after: str, actor: Actor) -> tuple[Run, Run]:
    """The runs with these uids, in this order; raises NOT_FOUND unless the actor can read both."""
    rows = Run.objects.readable_by(actor).without_content().filter(uid__in=(before, after))
    found = {run.uid: run for run in rows.select_related("team", "caller", "skill__team")}
    missing = next((uid for uid in (before, after) if uid not in found), None)
    if missing is not None:
        raise NOT_FOUND.refusal(what="run", name=missing[:80])
    return found[before], found[after]


def compare_runs(before: Run, after: Run) -> RunComparison:
    """Compares two runs; the caller must check that the actor can read both. Compares at most ``_MAX_STEPS``
    steps of each run.
    """
    return RunComparison(
        facts=tuple(_facts(before, after)),
        inputs=_values(before, after, "request", _inputs),
        output=_values(before, after, "result", _output),
        steps=tuple(_steps(before, after)),
        files=tuple(_files(before, after)),
        log=compare_texts(_log(before), _log(after)),
    )


def _values(before: Run, after: Run, column: str, value: Callable[[Run], Any]) -> ValueChanges:
    if not (_is_comparable(before, column) and _is_comparable(after, column)):
        return ValueChanges(too_large=True)
    return compare_values(value(before), value(after))


def _is_comparable(run: Run, column: str) -> bool:
    length = Run.objects.filter(pk=run.pk).values_list(Length(Cast(column, TextField())), flat=True).get()
    return (length or 0) <= MAX_BYTES


def _facts(before: Run, after: Run) -> Iterator[RunFact]:
    old, new = _fact_values(before), _fact_values(after)
    for name in dict.fromkeys((*old, *new)):
        yield RunFact(name, old.get(name, ""), new.get(name, ""))


def _fact_values(run: Run) -> dict[str, str]:
    request: Mapping[str, Any] = run.request if _is_comparable(run, "request") else {}
    took = run.duration_ms
    return {
        "skill": run.skill_label,
        "version": run.version_number,
        "digest": run.digest,
        **{name: _fact_text(request[name]) for name in _REQUEST_FIELDS if request.get(name)},
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
        "interpreter": str(run.sandbox.get("interpreter", "")),
        "programs": str(run.sandbox.get("programs", "")),
        **{f"sandbox.{what}": str(how) for what, how in _enforcement(run).items()},
    }


def _fact_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value)


def _enforcement(run: Run) -> Mapping[str, Any]:
    enforcement = run.sandbox.get("enforcement")
    return enforcement if isinstance(enforcement, Mapping) else {}


def _inputs(run: Run) -> Any:
    return run.request.get("inputs") or {}


def _output(run: Run) -> Any:
    result: Mapping[str, Any] = run.result or {}
    return result.get("outputs") if run.protocol == "script" else result.get("output")


def _steps(before: Run, after: Run) -> Iterator[StepPair]:
    old, new = (steps_of(run, with_values=False)[:_MAX_STEPS] for run in (before, after))
    names = [[f"{step['kind']}\0{step['name']}" for step in steps] for steps in (old, new)]
    i = j = 0
    pairs = common_pairs(names[0], names[1], limit=_MAX_STEPS) or []
    for next_i, next_j in [*pairs, (len(old), len(new))]:
        yield from (_pair(step, None) for step in old[i:next_i])
        yield from (_pair(None, step) for step in new[j:next_j])
        if next_i < len(old) and next_j < len(new):
            yield _pair(old[next_i], new[next_j])
        i, j = next_i + 1, next_j + 1


def _pair(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> StepPair:
    step = before or after or {}
    return StepPair(step["name"], step["kind"], _side(before), _side(after))


def _side(step: Mapping[str, Any] | None) -> StepSide | None:
    return StepSide(step["status"], step["duration_ms"]) if step else None


def _files(before: Run, after: Run) -> Iterator[ArtifactPair]:
    old, new = _artifact_files(before), _artifact_files(after)
    for path in sorted(old.keys() | new.keys()):
        yield ArtifactPair(path, old.get(path), new.get(path))


def _artifact_files(run: Run) -> dict[str, ArtifactSide]:
    rows = run.artifacts.values_list("path", "size", "digest")
    return {path: ArtifactSide(size, digest) for path, size, digest in rows}


def _log(run: Run) -> bytes:
    """The log of the last attempt.

    A log over ``MAX_BYTES`` is not read. The result is then a placeholder of blanks, which ``compare_texts``
    reports as too large.
    """
    if run.log_bytes > MAX_BYTES:
        return b" " * (MAX_BYTES + 1)
    chunks = LogChunk.objects.filter(run=run, attempt=run.attempt).order_by("seq")
    return b"".join(bytes(data) for data in chunks.values_list("data", flat=True))


def comparison_document(before: Run, after: Run, found: RunComparison) -> dict[str, Any]:
    return {
        "before": before.uid,
        "after": after.uid,
        "facts": [{**asdict(fact), "same": fact.same} for fact in found.facts],
        "inputs": asdict(found.inputs),
        "output": asdict(found.output),
        "steps": [asdict(pair) for pair in found.steps],
        "artifacts": [{**asdict(pair), "kind": pair.kind} for pair in found.files],
        "log": _log_document(found.log),
        "url": absolute_url(f"/runs/{before.uid}/compare/{after.uid}/"),
    }


def _log_document(log: TextComparison) -> dict[str, Any]:
    lines = (line for stretch in log.sections for line in stretch.lines if line.kind != "same")
    changed = [
        {
            "kind": line.kind,
            "before_line": line.before_number,
            "after_line": line.after_number,
            "before": "".join(piece.text for piece in line.before),
            "after": "".join(piece.text for piece in line.after),
        }
        for line in lines
    ]
    return {"too_large": log.too_large, "removed": log.removed, "added": log.added, "lines": changed[:2_000]}
