"""Migrates folders on disk. Replaces each folder with a changed copy, atomically if possible."""

import ctypes
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from registry.packages.archive.paths import printable
from registry.packages.errors import FILE_UNREADABLE, MIGRATION_FAILED, MIGRATION_INTERRUPTED
from registry.packages.manifest.frontmatter import SKILL_MD
from registry.packages.migrate.migration import FOLDERS, Migration
from registry.packages.package import PackageFile

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def skill_folders(folder: Path) -> Iterator[Path]:
    """Yields the folder itself if it contains SKILL.md, otherwise its subfolders that are not hidden, sorted.

    Raises FILE_UNREADABLE if the folder cannot be listed.
    """
    try:
        names = [item.name for item in os.scandir(folder)]
        if any(name.lower() == "skill.md" for name in names):
            yield folder
            return
        paths = (folder / name for name in sorted(names) if not name.startswith("."))
        yield from (path for path in paths if path.is_dir())
    except OSError as error:
        raise FILE_UNREADABLE.refusal(reason=error.strerror or "").at(printable(folder.name)) from None


def replace_folder(folder: Path, migration: Migration) -> Path:
    """Replaces the folder with the migrated package, and returns the path of the backup next to the folder.

    Raises MIGRATION_FAILED, or MIGRATION_INTERRUPTED if the original folder could not be moved back.
    """
    folder = folder.resolve()
    try:
        original = folder.stat()
        work = Path(tempfile.mkdtemp(prefix=f".{folder.name}.migrating-", dir=folder.parent))
    except OSError as error:
        raise _migration_failed(folder, error) from None
    try:
        copy = work / folder.name
        shutil.copytree(folder, copy, symlinks=True)
        _change(copy, migration)
        return _swap(copy, folder)
    except (OSError, shutil.Error) as error:
        raise _migration_failed(folder, error, _find(original, work)) from None
    finally:
        if not _find(original, work):
            shutil.rmtree(work, ignore_errors=True)


def _find(original: os.stat_result, work: Path) -> Path | None:
    """The path of the original folder if a failed swap moved it to the work folder. The work folder must then
    be kept.
    """
    return next((path for path in work.iterdir() if os.path.samestat(path.stat(), original)), None)


def _migration_failed(folder: Path, error: Exception, left_at: Path | None = None) -> Exception:
    reason = getattr(error, "strerror", None) or str(error)
    if left_at:
        return MIGRATION_INTERRUPTED.refusal(reason=printable(reason), path=printable(str(left_at))).at(
            printable(folder.name)
        )
    return MIGRATION_FAILED.refusal(reason=printable(reason)).at(printable(folder.name))


def _change(copy: Path, migration: Migration) -> None:
    """Applies the migration to the copy: writes, renames and deletes files, and creates FOLDERS.

    Does not change files outside the package, such as .git.
    """
    before = {file.path: file for file in migration.before}
    after = {file.path: file for file in migration.after}
    for path in before.keys() - after.keys():
        (copy / path).unlink(missing_ok=True)
    for item in list(copy.iterdir()):
        if item.name.lower() == "skill.md" and item.name != SKILL_MD:
            item.rename(copy / SKILL_MD)
    for name in FOLDERS:
        (copy / name).mkdir(exist_ok=True)
    for path, file in after.items():
        if before.get(path) != file:
            _put(copy / path, file)


def _put(path: Path, file: PackageFile) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as target:
        target.write(file.data)
        target.flush()
        os.fsync(target.fileno())
    if file.executable:
        path.chmod(path.stat().st_mode | 0o111)


def _swap(copy: Path, folder: Path) -> Path:
    backup = _free_backup_path(folder)
    _exchange(copy, folder)
    try:
        copy.rename(backup)
    except OSError:
        _exchange(copy, folder)
        raise
    return backup


def _free_backup_path(folder: Path) -> Path:
    """An unused path for the backup. It is hidden, so that searches for skills skip it."""
    stem = f".{folder.name}.backup-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    number, path = 1, folder.with_name(stem)
    while path.exists():
        number += 1
        path = folder.with_name(f"{stem}-{number}")
    return path


def _exchange(one: Path, other: Path) -> None:
    """Swaps two paths atomically, or with three renames if the system does not support that."""
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "renameat2"):
        if not libc.renameat2(_AT_FDCWD, bytes(one), _AT_FDCWD, bytes(other), _RENAME_EXCHANGE):
            return
        code = ctypes.get_errno()
        if code not in (errno.EINVAL, errno.ENOSYS):
            raise OSError(code, os.strerror(code))
    aside = one.with_name(one.name + ".aside")
    other.rename(aside)
    try:
        one.rename(other)
    except OSError:
        aside.rename(other)
        raise
    try:
        aside.rename(one)
    except OSError:
        other.rename(one)
        aside.rename(other)
        raise
