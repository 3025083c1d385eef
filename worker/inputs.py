"""Files as inputs: uploaded for a run to come, or taken from an earlier run's artifacts."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from registry import storage
from registry.actors import Actor
from registry.packages.problems import Refused, refuse
from worker.hearing import GoOn, heard
from worker.models import Artifact, InputFile, Run
from worker.sandbox.policy import Tick

INSIDE = "/job/input"  # where the sandbox shows the run's input folder
_ENDINGS = ("_path", "_file")


@dataclass(frozen=True)
class InputUse:
    """One file of a run: where it is named in the inputs, how, where it lies inside, which bytes it is."""

    pointer: str
    named: Mapping[str, str]  # {"input": uid} or {"artifact": "run uid/path"}
    path: str
    digest: str
    size: int  # bytes

    def document(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Resolved:
    """Inputs as the script gets them, with paths where files were named."""

    inputs: Mapping[str, Any]
    files: tuple[InputUse, ...]


def store_input(chunks: Iterable[bytes], name: str, actor: Actor) -> InputFile:
    """Keeps a stream for its owner's runs; it is swept when it expires unused."""
    if actor.user is None:
        raise refuse("SIGN_IN_REQUIRED")
    name = _file_name(name)
    try:
        stored = storage.store_stream(chunks, limit=settings.SKILLQUAY_INPUT_BYTES)
    except Refused as no:
        if no.code != "BLOB_TOO_LARGE":
            raise
        raise refuse("INPUT_TOO_LARGE", path="file", limit=settings.SKILLQUAY_INPUT_BYTES) from None
    until = timezone.now() + timedelta(hours=settings.SKILLQUAY_INPUT_HOURS)
    return InputFile.objects.create(
        owner=actor.user, name=name, size=stored.size, digest=stored.digest, expires_at=until
    )


def _file_name(name: str) -> str:
    """The last part of what a browser or client calls the file."""
    name = unicodedata.normalize("NFC", name.replace("\\", "/").rsplit("/", 1)[-1]).strip()
    if name in {"", ".", ".."} or len(name.encode("utf-8", "replace")) > 255 or not name.isprintable():
        raise refuse("INPUT_NAME_INVALID", path="file", name=ascii(name[:80]))
    return name


def is_file_property(key: str, schema: Mapping[str, Any] | None) -> bool:
    """Whether a property is a file (row P10): its schema says so, or its key does and its schema agrees."""
    told = schema or {}
    if told.get("format") == "binary" or "contentMediaType" in told:
        return True
    return (
        key.endswith(_ENDINGS) and told.get("type", "string") == "string" and told.get("x-file") is not False
    )


def resolve(
    inputs: Mapping[str, Any], schema: Mapping[str, Any] | None, *, actor: Actor, again_of: Run | None = None
) -> Resolved:
    """Puts paths where files are named; INPUT_NOT_FOUND for what the actor may not read."""
    properties = schema.get("properties") if schema else None
    told = properties if isinstance(properties, Mapping) else {}
    found: list[InputUse] = []
    taken: set[str] = set()

    def placed(key: str, pointer: str, value: Any, told: Any) -> Any:
        told = told if isinstance(told, Mapping) else {}
        if isinstance(value, list):
            items = told.get("items")
            return [placed(key, f"{pointer}/{i}", item, items) for i, item in enumerate(value)]
        if not _names_file(value) or not is_file_property(key, told):
            return value
        use = _placed_apart(_find(value, pointer, actor, again_of), taken)
        found.append(use)
        return use.path

    changed = {key: placed(key, f"/{_escaped(key)}", value, told.get(key)) for key, value in inputs.items()}
    return Resolved(changed, tuple(found))


def _names_file(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and len(value) == 1
        and all(key in {"input", "artifact"} and isinstance(name, str) for key, name in value.items())
    )


def _find(named: Mapping[str, str], pointer: str, actor: Actor, again_of: Run | None) -> InputUse:
    row: InputFile | Artifact | None
    ((kind, name),) = named.items()
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
        return InputUse(pointer, dict(named), f"{INSIDE}/{called}", row.digest, row.size)
    if use := _used_before(named, again_of, actor):
        return replace(use, pointer=pointer)
    raise refuse("INPUT_NOT_FOUND", path=pointer, name=name[:120])


def _used_before(named: Mapping[str, str], again_of: Run | None, actor: Actor) -> InputUse | None:
    """A run that is run again still holds its files, though the upload has expired since."""
    if again_of is None or not Run.objects.readable_by(actor).filter(pk=again_of.pk).exists():
        return None
    return next((use for use in uses_of(again_of.files) if use.named == named), None)


def _placed_apart(use: InputUse, taken: set[str]) -> InputUse:
    """Two files of one name lie in two folders; both keep their name."""
    name, number, path = use.path.rsplit("/", 1)[-1], 1, use.path
    path = f"{INSIDE}/{name}"
    while path in taken:
        number += 1
        path = f"{INSIDE}/{number}/{name}"
    taken.add(path)
    return replace(use, path=path)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def uses_of(documents: Iterable[Mapping[str, Any]]) -> list[InputUse]:
    return [InputUse(**document) for document in documents]


def place(files: Iterable[Mapping[str, Any]], folder: Path, *, tick: Tick) -> None:
    """Copies the files of a run to its input folder: the sandbox runs as another user, who only may read.

    A run that is stopped meanwhile, as its ``tick`` says, is refused as CANCELLED.
    """
    if uses := uses_of(files):
        heard(lambda go_on: _copy(uses, folder, go_on), tick)


def _copy(uses: Iterable[InputUse], folder: Path, go_on: GoOn) -> None:
    for use in uses:
        target = folder / use.path.removeprefix(f"{INSIDE}/")
        with storage.open_blob(use.digest) as source:
            go_on()
            target.parent.mkdir(mode=0o755, exist_ok=True)
            with open(target, "xb") as copy:
                while block := source.read(1 << 20):
                    go_on()
                    copy.write(block)
                os.fchmod(copy.fileno(), 0o444)


def sweep() -> int:
    """Removes uploads that have expired; their bytes go with the storage's sweep when no run holds them."""
    return InputFile.objects.filter(expires_at__lte=timezone.now()).delete()[0]


def references() -> Iterator[str]:
    """Digests that are in use as inputs."""
    yield from InputFile.objects.values_list("digest", flat=True).iterator()
    for files in Run.objects.exclude(files=[]).values_list("files", flat=True).iterator():
        yield from (file["digest"] for file in files)
