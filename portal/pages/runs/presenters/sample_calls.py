"""Sample calls of a version, from its schema's examples and its package's tests, to fill in the run form."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from portal.presenters.cache import BoundedCache
from portal.presenters.skill.runnable_version import RunnableVersion
from registry.models import Version
from registry.packages.checks.cases import CASES_YAML, MAX_NAME, STATUSES, parse_cases
from registry.packages.limits import Limits
from registry.packages.manifest.yaml_reader import YamlReader
from registry.packages.problems import Refusal
from registry.storage import blobs
from worker.core.display_budget import MAX_PREFILL

TRIES_YAML = "tests/tries.yaml"
_MAX_BYTES = 32 * 1024
_MAX_CALLS = 12
_REQUEST = ("script", "action", "tool", "stdin", "arguments", "inputs", "debug")


@dataclass(frozen=True)
class SampleCall:
    """A call that should succeed; ``request`` has the fields of a run request."""

    name: Any
    request: Mapping[str, Any]


_PACKAGED: BoundedCache[tuple[SampleCall, ...]] = BoundedCache(512)


def sample_calls(runnable: RunnableVersion) -> tuple[SampleCall, ...]:
    """At most 12 sample calls that are short enough for the form. Those of the package are cached."""
    version = runnable.version
    packaged = _PACKAGED.get(version.digest, lambda: tuple(_short(_packaged(version))))
    return (*_short(_examples(runnable.schema)), *packaged)[:_MAX_CALLS]


def _examples(schema: Mapping[str, Any] | None) -> Iterator[SampleCall]:
    rows = (schema or {}).get("examples")
    for number, inputs in enumerate(rows if isinstance(rows, list) else [], start=1):
        if isinstance(inputs, Mapping):
            yield SampleCall(_("Example %(number)d") % {"number": number}, {"inputs": inputs})


def _packaged(version: Version) -> Iterator[SampleCall]:
    rows = version.files.filter(path__in=[CASES_YAML, TRIES_YAML], size__lte=_MAX_BYTES)
    paths = sorted(rows.values_list("path", flat=True))
    if not paths:
        return
    with blobs.open_blob(version.digest) as blob, zipfile.ZipFile(blob) as archive:
        for path in paths:
            yield from (_cases if path == CASES_YAML else _tries)(archive.read(path))


def _cases(data: bytes) -> Iterator[SampleCall]:
    for case in parse_cases(data).cases:
        if case.expect.status in ("", STATUSES[0]) and not case.expect.code:
            fields = {name: getattr(case, name) for name in _REQUEST if hasattr(case, name)}
            yield SampleCall(case.name, fields | {"arguments": list(case.arguments)})


def _tries(data: bytes) -> Iterator[SampleCall]:
    try:
        rows = YamlReader(Limits(), TRIES_YAML).read(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, Refusal):
        return
    for row in rows if isinstance(rows, list) else []:
        expect = row.get("expect") if isinstance(row, Mapping) else None
        if not isinstance(expect, Mapping) or expect.get("refused") or expect.get("code"):
            continue
        if isinstance(name := row.get("name"), str) and isinstance(row.get("inputs", {}), Mapping):
            request = {each: row[each] for each in _REQUEST if each in row}
            yield SampleCall(name[:MAX_NAME], request | {"inputs": row.get("inputs", {})})


def _short(calls: Iterator[SampleCall]) -> Iterator[SampleCall]:
    for _number, call in zip(range(_MAX_CALLS), calls, strict=False):
        if len(json.dumps(call.request)) <= MAX_PREFILL:
            yield call
