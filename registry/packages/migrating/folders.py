"""Migration on disk: a changed copy takes the folder's place in one step, so a kill leaves either whole."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from registry.packages.frontmatter import SKILL_MD
from registry.packages.migrating.migration import FOLDERS, Migration
from registry.packages.package import PackageFile
from registry.packages.paths import shown
from registry.packages.problems import refuse

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def skill_folders(folder: Path) -> Iterator[Path]:
    """The folder itself where it holds SKILL.md, else each folder in it that is not hidden."""
    try:
        names = [item.name for item in os.scandir(folder)]
        if any(name.lower() == "skill.md" for name in names):
            yield folder
            return
        paths = (folder / name for name in sorted(names) if not name.startswith("."))
        yield from (path for path in paths if path.is_dir())
    except OSError as error:
        raise refuse("FILE_UNREADABLE", path=shown(folder.name), reason=error.strerror or "") from None


def write(folder: Path, migration: Migration) -> Path:
    """Puts the migrated package into the folder's place; answers where the folder is kept as it was."""
    folder = folder.resolve()
    try:
        work = Path(tempfile.mkdtemp(prefix=f".{folder.name}.migrating-", dir=folder.parent))
    except OSError as error:
        raise _failed(folder, error) from None
    try:
        copy = work / folder.name
        shutil.copytree(folder, copy, symlinks=True)
        _change(copy, migration)
        return _swap(copy, folder)
    except (OSError, shutil.Error) as error:
        raise _failed(folder, error) from None
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _failed(folder: Path, error: Exception) -> Exception:
    reason = getattr(error, "strerror", None) or str(error)
    return refuse("MIGRATION_FAILED", path=shown(folder.name), reason=shown(reason))


def _change(copy: Path, migration: Migration) -> None:
    """Only what differs is touched: files that no package holds, such as .git, stay."""
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
    backup = _free(folder)
    _exchange(copy, folder)
    try:
        copy.rename(backup)
    except OSError:
        _exchange(copy, folder)
        raise
    return backup


def _free(folder: Path) -> Path:
    """Hidden, so that nobody who looks for skills takes the backup for one."""
    stem = f".{folder.name}.backup-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    number, path = 1, folder.with_name(stem)
    while path.exists():
        number += 1
        path = folder.with_name(f"{stem}-{number}")
    return path


def _exchange(one: Path, other: Path) -> None:
    """Both names change places at once; where the system cannot, one after the other."""
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
    aside.rename(one)
