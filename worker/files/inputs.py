"""Input files: uploads, or artifacts of an earlier run."""

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings
from django.utils import timezone

from registry.core.sql import Reads, reader, reads_of
from registry.erasure.hooks import discard_on_commit
from registry.identity.actors import Actor
from registry.identity.errors import SIGN_IN_REQUIRED
from registry.packages.problems import Refusal
from registry.storage import blobs
from registry.storage.errors import BLOB_TOO_LARGE
from worker.core.cancellation import CheckCancelled, run_cancellable
from worker.files.errors import INPUT_NAME_INVALID, INPUT_NOT_FOUND, INPUT_TOO_LARGE
from worker.models import Artifact, InputFile, Run, RunStatus
from worker.sandbox.layout import WORK
from worker.sandbox.policy import CheckStop

WORK_DIR = f"/job/{WORK}"  # the folder in the sandbox in which scripts start
_FILE_SUFFIXES = ("_path", "_file")
_UID = "[0-9a-hjkmnp-tv-z]{26}"
_Reference = tuple[str, str]  # its kind, "input" or "artifact", and its name
_REFERENCES = {"input": re.compile(_UID), "artifact": re.compile(f"{_UID}/.+", re.DOTALL)}


@dataclass(frozen=True)
class InputUse:
    """An input file of a run: its place in the request (a JSON pointer), reference, sandbox path and stored
    content.
    """

    pointer: str  # a JSON pointer into the inputs, or the position of an argument, such as "arguments/0"
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
    """Stores a stream as an input file of the actor; a sweep removes the file after it has expired.

    Raises SIGN_IN_REQUIRED if the actor is no user, INPUT_NAME_INVALID for an invalid file name, and
    INPUT_TOO_LARGE above SKILLQUAY_MAX_INPUT_BYTES. Raises another Refusal if the storage fails.
    """
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
    """The last part of the client's file name; raises INPUT_NAME_INVALID if it can't be a file name."""
    name = unicodedata.normalize("NFC", name.replace("\\", "/").rsplit("/", 1)[-1]).strip()
    if name in {"", ".", ".."} or len(name.encode("utf-8", "replace")) > 255 or not name.isprintable():
        raise INPUT_NAME_INVALID.refusal(name=ascii(name[:80])).at("file")
    return name


def is_file_property(key: str, schema: Mapping[str, Any] | None) -> bool:
    """Whether a property is a file, according to its schema's format or media type, or to its key.

    A key means a file if it ends in ``_path`` or ``_file``, unless the schema has another type or ``x-file:
    false``.
    """
    declared = schema or {}
    if declared.get("format") == "binary" or "contentMediaType" in declared:
        return True
    return (
        key.endswith(_FILE_SUFFIXES)
        and declared.get("type", "string") == "string"
        and declared.get("x-file") is not False
    )


@reader
def resolve(
    inputs: Mapping[str, Any],
    arguments: Sequence[Any] = (),
    *,
    actor: Actor,
    rerun_of: Run | None = None,
    kept: Sequence[InputUse] = (),
) -> Reads[ResolvedInputs]:
    """Replaces file references by sandbox paths, at any depth; other values stay unchanged.

    A reference is exactly ``{"input": uid}`` or ``{"artifact": "run uid/path"}``. Files of ``rerun_of`` can
    be used even if their upload has expired, and those in ``kept`` by every actor. Raises INPUT_NOT_FOUND,
    with the place, for files that do not exist or that the actor can't read.
    """
    references = [*_references_in([inputs, arguments])]
    known = yield from _readable_files(references, actor, rerun_of) if references else reads_of()
    finder = _FileFinder((known or {}) | {_only_item(use.named): use for use in kept})
    changed = {key: finder.replace(value, f"/{_escape(key)}") for key, value in inputs.items()}
    for number, argument in enumerate(arguments):
        finder.replace(argument, f"arguments/{number}")
    return ResolvedInputs(changed, tuple(finder.found))


def is_reference(value: Any) -> bool:
    """Whether the value has the form of a file reference; the file may not exist."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    ((kind, name),) = value.items()
    return kind in _REFERENCES and isinstance(name, str) and bool(_REFERENCES[kind].fullmatch(name))


def _references_in(value: Any) -> Iterator[_Reference]:
    """Kind and name of the references at any depth."""
    if is_reference(value):
        yield from value.items()
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _references_in(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _references_in(item)


def _readable_files(
    references: Sequence[_Reference], actor: Actor, rerun_of: Run | None
) -> Reads[dict[_Reference, InputUse]]:
    """The files that the actor can use, by reference. Files of ``rerun_of``, which keeps expired uploads, are
    included if the actor can read that run.
    """
    uploads = {name for kind, name in references if kind == "input"}
    places = [name.split("/", 1) for kind, name in references if kind == "artifact"]
    readable = Run.objects.readable_by(actor)
    stored = InputFile.objects.filter(uid__in=uploads, owner=actor.user, expires_at__gt=timezone.now())
    outputs = Artifact.objects.filter(path__in={path for _uid, path in places}).select_related("run")
    outputs = outputs.filter(run__in=readable.filter(uid__in={uid for uid, _path in places}))
    outputs = outputs.defer("run__request", "run__result", "run__files")
    earlier = readable.filter(pk__in=[rerun_of.pk] if rerun_of else []).values_list("pk")
    yield stored, outputs, earlier
    used = uses_of(rerun_of.files) if rerun_of and len(earlier) else []
    found = {_only_item(use.named): use for use in used}
    found |= {("input", row.uid): _use_of(row, "input", row.uid, row.name) for row in stored}
    for row in outputs:
        name = f"{row.run.uid}/{row.path}"
        found["artifact", name] = _use_of(row, "artifact", name, row.path.rsplit("/", 1)[-1])
    return found


def _use_of(row: InputFile | Artifact, kind: str, name: str, called: str) -> InputUse:
    return InputUse("", {kind: name}, f"{WORK_DIR}/{called}", row.digest, row.size)


def _only_item(reference: Mapping[str, str]) -> _Reference:
    ((kind, name),) = reference.items()
    return kind, name


class _FileFinder:
    """Places the files of one request, of those in ``known``; ``found`` lists their uses. Files with equal
    names get numbered folders.
    """

    def __init__(self, known: Mapping[_Reference, InputUse]) -> None:
        self.known = known
        self.found: list[InputUse] = []
        self._used_paths: set[str] = set()

    def replace(self, value: Any, pointer: str) -> Any:
        if is_reference(value):
            return self._use(value, pointer).path
        if isinstance(value, list | tuple):
            return [self.replace(item, f"{pointer}/{i}") for i, item in enumerate(value)]
        if isinstance(value, Mapping):
            return {key: self.replace(item, f"{pointer}/{_escape(key)}") for key, item in value.items()}
        return value

    def _use(self, reference: Mapping[str, str], pointer: str) -> InputUse:
        """The use of the file. A file that the request uses twice gets the same path."""
        if earlier := next((use for use in self.found if use.named == reference), None):
            use = replace(earlier, pointer=pointer)
        else:
            use = self._with_unique_path(self._find(reference, pointer))
        self.found.append(use)
        return use

    def _find(self, reference: Mapping[str, str], pointer: str) -> InputUse:
        kind, name = _only_item(reference)
        if (use := self.known.get((kind, name))) is None:
            raise INPUT_NOT_FOUND.refusal(name=name[:120]).at(pointer)
        return replace(use, pointer=pointer)

    def _with_unique_path(self, use: InputUse) -> InputUse:
        name, number = use.path.rsplit("/", 1)[-1], 1
        path = f"{WORK_DIR}/{name}"
        while path in self._used_paths:
            number += 1
            path = f"{WORK_DIR}/{number}/{name}"
        self._used_paths.add(path)
        return replace(use, path=path)


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def uses_of(documents: Iterable[Mapping[str, Any]]) -> list[InputUse]:
    return [InputUse(**document) for document in documents]


def relative_path(use: InputUse) -> str:
    """The path of the file in the working folder; raises ValueError for a path elsewhere."""
    return str(PurePosixPath(use.path).relative_to(WORK_DIR))


def copy_inputs(files: Iterable[Mapping[str, Any]], folder: Path, *, check_stop: CheckStop) -> None:
    """Copies the files of a run to its working folder.

    Raises CANCELLED if ``check_stop`` reports a reason, or Refusal if the storage fails.
    """
    if uses := uses_of(files):
        run_cancellable(lambda check_cancelled: _copy(uses, folder, check_cancelled), check_stop)


def _copy(uses: Iterable[InputUse], folder: Path, check_cancelled: CheckCancelled) -> None:
    for use in {use.path: use for use in uses}.values():
        target = folder / relative_path(use)
        with blobs.open_blob(use.digest) as source:
            check_cancelled()
            target.parent.mkdir(mode=0o755, exist_ok=True)
            with open(target, "xb") as copy:
                while block := source.read(1 << 20):
                    check_cancelled()
                    copy.write(block)
                os.fchmod(copy.fileno(), 0o644)


def delete_input(file: InputFile) -> None:
    """Deletes the upload, and its content unless a run or another row references it."""
    file.delete()
    discard_on_commit([file.digest])


def sweep() -> int:
    """Deletes the rows of expired uploads; returns how many.

    The storage's sweep removes their content unless a run uses it.
    """
    return InputFile.objects.filter(expires_at__lte=timezone.now()).delete()[0]


def erasable(digests: set[str]) -> set[str]:
    """The digests of an erasure's files, but none while any run is running, because that run may have stored
    the same content and records this only at its end. The storage's sweep then removes unused content later.
    """
    return set() if Run.objects.filter(status=RunStatus.RUNNING).exists() else digests


def references() -> Iterator[str]:
    """Digests of all uploads and of all input files of runs; a digest can occur several times."""
    yield from InputFile.objects.values_list("digest", flat=True).iterator()
    for files in Run.objects.exclude(files=[]).values_list("files", flat=True).iterator():
        yield from (file["digest"] for file in files)
