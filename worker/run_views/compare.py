"""Compares two runs: what was requested, what each run recorded, and what it returned."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast, Coalesce, Length

from registry.core.addresses import absolute_url
from registry.core.errors import NOT_FOUND
from registry.core.sql import read_together, reads_of
from registry.identity.actors import Actor
from registry.packages.compare.lines import TextComparison, common_pairs, compare_texts
from worker.core.display_budget import MAX_BYTES
from worker.models import LogChunk, Run
from worker.run_views.documents import steps_of
from worker.run_views.value_changes import ValueChanges, compare_values

_MAX_STEPS = 2_000
_CONTENT = ("request", "result")
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
    comparable = _load_contents(before, after)
    steps, files, logs = [], [], []
    for run in (before, after):
        steps.append(steps_of.reads(run, with_values=False))
        files.append(run.artifacts.values_list("path", "size", "digest"))
        logs.append(_log_chunks(run))
    old, new, _others = read_together(*steps, reads_of(*files, *logs))
    return RunComparison(
        facts=tuple(_facts(before, after, comparable)),
        inputs=_values(before, after, _inputs, "request" in comparable[before.pk] & comparable[after.pk]),
        output=_values(before, after, _output, "result" in comparable[before.pk] & comparable[after.pk]),
        steps=tuple(_steps(old[:_MAX_STEPS], new[:_MAX_STEPS])),
        files=tuple(_files(*files)),
        log=compare_texts(*(_log(run, chunks) for run, chunks in zip((before, after), logs, strict=True))),
    )


def _values(before: Run, after: Run, value: Callable[[Run], Any], is_comparable: bool) -> ValueChanges:
    return compare_values(value(before), value(after)) if is_comparable else ValueChanges(too_large=True)


def _load_contents(*runs: Run) -> dict[int, set[str]]:
    """Loads requests and results of at most ``MAX_BYTES`` into the runs. Returns the loaded columns by the
    runs' primary keys.
    """
    rows = Run.objects.filter(pk__in=[run.pk for run in runs])
    sizes = (Coalesce(Length(Cast(name, TextField())), 0) for name in _CONTENT)
    sized = rows.annotate(**dict(zip(("request_size", "result_size"), sizes, strict=True)))
    loaded, values = dict[int, set[str]](), dict[int, dict[str, Any]]()
    columns = sized.small_contents("request_size", "result_size", max_characters=MAX_BYTES)
    for key, request, result, *lengths in columns:
        loaded[key] = {name for name, size in zip(_CONTENT, lengths, strict=True) if size <= MAX_BYTES}
        values[key] = {"request": request, "result": result}
    for run in runs:
        for name in loaded[run.pk]:
            setattr(run, name, values[run.pk][name])
    return loaded


def _facts(before: Run, after: Run, comparable: Mapping[int, set[str]]) -> Iterator[RunFact]:
    old, new = (_fact_values(run, "request" in comparable[run.pk]) for run in (before, after))
    for name in dict.fromkeys((*old, *new)):
        yield RunFact(name, old.get(name, ""), new.get(name, ""))


def _fact_values(run: Run, has_request: bool) -> dict[str, str]:
    request: Mapping[str, Any] = run.request if has_request else {}
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


def _steps(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> Iterator[StepPair]:
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


def _files(*rows: Iterable[tuple[str, int, str]]) -> Iterator[ArtifactPair]:
    old, new = ({path: ArtifactSide(size, digest) for path, size, digest in each} for each in rows)
    for path in sorted(old.keys() | new.keys()):
        yield ArtifactPair(path, old.get(path), new.get(path))


def _log_chunks(run: Run) -> QuerySet[LogChunk, bytes | memoryview]:
    chunks = LogChunk.objects.filter(run=run, attempt=run.attempt).order_by("seq")
    return (chunks if run.log_bytes <= MAX_BYTES else chunks.none()).values_list("data", flat=True)


def _log(run: Run, chunks: Iterable[bytes | memoryview]) -> bytes:
    """The log of the last attempt.

    A log over ``MAX_BYTES`` is not read. The result is then a placeholder of blanks, which ``compare_texts``
    reports as too large.
    """
    if run.log_bytes > MAX_BYTES:
        return b" " * (MAX_BYTES + 1)
    return b"".join(bytes(data) for data in chunks)


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
