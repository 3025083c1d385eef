"""Input files: uploads, or artifacts of an earlier run."""

import os
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from registry.identity.actors import Actor
from registry.identity.errors import SIGN_IN_REQUIRED
from registry.packages.problems import Refusal
from registry.storage import blobs
from registry.storage.errors import BLOB_TOO_LARGE
from worker.core.cancellation import CheckCancelled, run_cancellable
from worker.files.errors import INPUT_NAME_INVALID, INPUT_NOT_FOUND, INPUT_TOO_LARGE
from worker.models import Artifact, InputFile, Run
from worker.sandbox.policy import CheckStop

INPUT_DIR = "/job/input"  # where the sandbox mounts the run's input folder
_FILE_SUFFIXES = ("_path", "_file")


@dataclass(frozen=True)
class InputUse:
    """An input file of a run: its JSON pointer, its reference, its path in the sandbox and its content."""

    pointer: str
    named: Mapping[str, str]  # {"input": uid} or {"artifact": "run uid/path"}
    path: str
    digest: str
    size: int  # bytes

    def document(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class ResolvedInputs:
    """Inputs for the script, with sandbox paths in place of file references."""

    inputs: Mapping[str, Any]
    files: tuple[InputUse, ...]


def store_input(chunks: Iterable[bytes], name: str, actor: Actor) -> InputFile:
    """Stores a stream as an input file of the actor; it is removed when it expires."""
    if actor.user is None:
        raise SIGN_IN_REQUIRED.refusal()
    name = _file_name(name)
    try:
        stored = blobs.store_stream(chunks, limit=settings.SKILLQUAY_MAX_INPUT_BYTES)
    except Refusal as error:
        if error.code != BLOB_TOO_LARGE.name:
            raise
        raise INPUT_TOO_LARGE.refusal(limit=settings.SKILLQUAY_MAX_INPUT_BYTES).at("file") from None
    until = timezone.now() + timedelta(hours=settings.SKILLQUAY_INPUT_HOURS)
    return InputFile.objects.create(
        owner=actor.user, name=name, size=stored.size, digest=stored.digest, expires_at=until
    )


def _file_name(name: str) -> str:
    """The last part of the client's file name; raises INPUT_NAME_INVALID."""
    name = unicodedata.normalize("NFC", name.replace("\\", "/").rsplit("/", 1)[-1]).strip()
    if name in {"", ".", ".."} or len(name.encode("utf-8", "replace")) > 255 or not name.isprintable():
        raise INPUT_NAME_INVALID.refusal(name=ascii(name[:80])).at("file")
    return name


def is_file_property(key: str, schema: Mapping[str, Any] | None) -> bool:
    """Whether a property is a file: by its schema, or by its key unless the schema rules that out."""
    declared = schema or {}
    if declared.get("format") == "binary" or "contentMediaType" in declared:
        return True
    return (
        key.endswith(_FILE_SUFFIXES)
        and declared.get("type", "string") == "string"
        and declared.get("x-file") is not False
    )


def resolve(
    inputs: Mapping[str, Any], schema: Mapping[str, Any] | None, *, actor: Actor, rerun_of: Run | None = None
) -> ResolvedInputs:
    """Replaces file references by paths; raises INPUT_NOT_FOUND for files that the actor can't read."""
    properties = schema.get("properties") if schema else None
    properties_schema = properties if isinstance(properties, Mapping) else {}
    found: list[InputUse] = []
    used_paths: set[str] = set()

    def resolve_value(key: str, pointer: str, value: Any, schema: Any) -> Any:
        schema = schema if isinstance(schema, Mapping) else {}
        if isinstance(value, list):
            items = schema.get("items")
            return [resolve_value(key, f"{pointer}/{i}", item, items) for i, item in enumerate(value)]
        if not _names_file(value) or not is_file_property(key, schema):
            return value
        use = _with_unique_path(_find(value, pointer, actor, rerun_of), used_paths)
        found.append(use)
        return use.path

    changed = {
        key: resolve_value(key, f"/{_escape(key)}", value, properties_schema.get(key))
        for key, value in inputs.items()
    }
    return ResolvedInputs(changed, tuple(found))


def _names_file(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and len(value) == 1
        and all(key in {"input", "artifact"} and isinstance(name, str) for key, name in value.items())
    )


def _find(reference: Mapping[str, str], pointer: str, actor: Actor, rerun_of: Run | None) -> InputUse:
    row: InputFile | Artifact | None
    ((kind, name),) = reference.items()
    if kind == "input":
        now = timezone.now()
        row = InputFile.objects.filter(uid=name, owner=actor.user, expires_at__gt=now).first()
        called = row.name if row else ""
    else:
        uid, _, path = name.partition("/")
        readable = Run.objects.readable_by(actor).filter(uid=uid)
        row = Artifact.objects.filter(run__in=readable, path=path).first()
        called = path.rsplit("/", 1)[-1]
    if row is not None:
        return InputUse(pointer, dict(reference), f"{INPUT_DIR}/{called}", row.digest, row.size)
    if use := _find_in_earlier_run(reference, rerun_of, actor):
        return replace(use, pointer=pointer)
    raise INPUT_NOT_FOUND.refusal(name=name[:120]).at(pointer)


def _find_in_earlier_run(reference: Mapping[str, str], rerun_of: Run | None, actor: Actor) -> InputUse | None:
    """The file in ``rerun_of``, which keeps files of expired uploads; None if not found or not readable."""
    if rerun_of is None or not Run.objects.readable_by(actor).filter(pk=rerun_of.pk).exists():
        return None
    return next((use for use in uses_of(rerun_of.files) if use.named == reference), None)


def _with_unique_path(use: InputUse, used_paths: set[str]) -> InputUse:
    """The file with a unique path: a second file of the same name gets a folder of its own."""
    name, number, path = use.path.rsplit("/", 1)[-1], 1, use.path
    path = f"{INPUT_DIR}/{name}"
    while path in used_paths:
        number += 1
        path = f"{INPUT_DIR}/{number}/{name}"
    used_paths.add(path)
    return replace(use, path=path)


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def uses_of(documents: Iterable[Mapping[str, Any]]) -> list[InputUse]:
    return [InputUse(**document) for document in documents]


def copy_inputs(files: Iterable[Mapping[str, Any]], folder: Path, *, check_stop: CheckStop) -> None:
    """Copies the files of a run to its input folder, read-only for the sandbox's user.

    Raises CANCELLED if ``check_stop`` reports a reason.
    """
    if uses := uses_of(files):
        run_cancellable(lambda check_cancelled: _copy(uses, folder, check_cancelled), check_stop)


def _copy(uses: Iterable[InputUse], folder: Path, check_cancelled: CheckCancelled) -> None:
    for use in uses:
        target = folder / use.path.removeprefix(f"{INPUT_DIR}/")
        with blobs.open_blob(use.digest) as source:
            check_cancelled()
            target.parent.mkdir(mode=0o755, exist_ok=True)
            with open(target, "xb") as copy:
                while block := source.read(1 << 20):
                    check_cancelled()
                    copy.write(block)
                os.fchmod(copy.fileno(), 0o444)


def sweep() -> int:
    """Removes expired uploads; returns how many. The storage's sweep removes content that no run uses."""
    return InputFile.objects.filter(expires_at__lte=timezone.now()).delete()[0]


def references() -> Iterator[str]:
    """Digests of all uploads and of all input files of runs."""
    yield from InputFile.objects.values_list("digest", flat=True).iterator()
    for files in Run.objects.exclude(files=[]).values_list("files", flat=True).iterator():
        yield from (file["digest"] for file in files)
