"""``migrate_package``: in place, with a backup, whole at every moment; a row each for a folder of many."""

from __future__ import annotations

import errno
import io
import itertools
import json
import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest
from django.core.management import call_command

from registry.packages.migrate import folders
from registry.packages.migrate.folders import replace_folder
from registry.packages.migrate.migration import migrate
from registry.packages.problems import Refusal
from registry.packages.read_package import read_folder
from tests.checks import not_none
from tests.factories.old_packages import MAIN, METADATA, OLD

pytestmark = pytest.mark.row("C14")
PLAIN = "---\nname: plain\ndescription: A prompt.\n---\nText.\n"


def tree(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    skills = tmp_path / "skills"
    for name, text in {"old-one": OLD, "plain": PLAIN}.items():
        (skills / name).mkdir(parents=True)
        (skills / name / "SKILL.md").write_text(text)
    (skills / "old-one" / "METADATA.yml").write_text(METADATA)
    (skills / "old-one" / "scripts").mkdir()
    (skills / "old-one" / "scripts" / "main.ts").write_text(MAIN)
    (skills / "old-one" / ".git").mkdir()
    (skills / "old-one" / ".git" / "HEAD").write_text("ref")
    (skills / "empty").mkdir()
    return skills


def call(*arguments: str | Path) -> tuple[int, str]:
    output, status = io.StringIO(), 0
    try:
        call_command("migrate_package", *map(str, arguments), stdout=output)
    except SystemExit as ended:
        status = int(ended.code or 0)
    return status, output.getvalue()


def rows(*arguments: str | Path) -> tuple[int, dict]:
    status, output = call(*arguments, "--json")
    return status, json.loads(output)


def test_a_package_is_migrated_in_place_and_kept_as_it_was(skills: Path) -> None:
    before = tree(skills / "old-one")
    status, document = rows(skills / "old-one")
    (row,) = document["packages"]
    assert (status, document["ok"], row["status"], row["slug"]) == (0, True, "migrated", "old-one")
    assert tree(Path(row["backup"])) == before
    assert Path(row["backup"]).parent == skills
    after = tree(skills / "old-one")
    assert {"scripts", "references", "assets", "METADATA.yml.legacy", "scripts/execute.ts"} <= set(after)
    assert after[".git/HEAD"] == b"ref"
    assert "METADATA.yml" not in after
    assert read_folder(skills / "old-one").ok
    assert rows(skills / "old-one")[1]["packages"][0]["status"] == "unchanged"
    assert tree(skills / "old-one") == after


def test_a_dry_run_prints_the_diff_and_writes_nothing(skills: Path) -> None:
    before = tree(skills)
    status, document = rows(skills / "old-one", "--dry-run")
    (row,) = document["packages"]
    assert (status, document["dry_run"], row["status"], row["backup"]) == (0, True, "would_migrate", None)
    assert "+++ b/scripts/execute.ts" in row["diff"]
    assert (
        row["diff"].splitlines()[2:]
        == call(skills / "old-one", "--dry-run")[1].splitlines()[-len(row["diff"].splitlines()) + 2 :]
    )
    assert tree(skills) == before


def test_a_folder_of_many_has_a_row_each(skills: Path) -> None:
    status, document = rows(skills)
    assert status == 1
    assert [(Path(row["path"]).name, row["status"]) for row in document["packages"]] == [
        ("empty", "refused"),
        ("old-one", "migrated"),
        ("plain", "unchanged"),
    ]
    assert document["packages"][0]["problems"][0]["code"] == "SKILL_MISSING"
    assert len(rows(skills)[1]["packages"]) == 3, "backups are not taken for skills"


def test_validation_says_what_check_package_says_and_changes_nothing(skills: Path) -> None:
    before = tree(skills)
    status, document = rows(skills, "--validate")
    output = io.StringIO()
    with pytest.raises(SystemExit):
        call_command("check_package", *(row["path"] for row in document["packages"]), "--json", stdout=output)
    assert (status, document) == (1, json.loads(output.getvalue()))
    assert tree(skills) == before
    assert "FIELD_MISSING" in call(skills / "plain", "--validate", "--profile", "apexbridge")[1]


def test_what_would_not_conform_is_not_written(skills: Path) -> None:
    (skills / "old-one" / "tool.py").write_text("print(1)\n")
    before = tree(skills)
    status, document = rows(skills / "old-one")
    assert (status, document["packages"][0]["status"]) == (1, "refused")
    assert "CODE_OUTSIDE_SCRIPTS" in {one["code"] for one in document["packages"][0]["problems"]}
    assert tree(skills) == before


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    status, document = rows(tmp_path / "absent")
    assert (status, document["packages"][0]["problems"][0]["code"]) == (1, "FILE_UNREADABLE")


def test_a_lower_case_skill_md_gets_its_name(skills: Path) -> None:
    (skills / "old-one" / "SKILL.md").rename(skills / "old-one" / "skill.md")
    assert rows(skills / "old-one")[0] == 0
    assert [path for path in tree(skills / "old-one") if path.lower() == "skill.md"] == ["SKILL.md"]


@pytest.fixture
def no_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system without atomic exchange."""

    class Libc:
        def renameat2(self, *_arguments: object) -> int:
            return -1

    monkeypatch.setattr(folders.ctypes, "CDLL", lambda *_arguments, **_options: Libc())
    monkeypatch.setattr(folders.ctypes, "get_errno", lambda: errno.EINVAL)


def failing_renames(monkeypatch: pytest.MonkeyPatch, *numbers: int) -> None:
    """Makes the renames with these numbers fail, counted from 1."""
    real, count = Path.rename, itertools.count(1)

    def rename(self: Path, target: Path) -> Path:
        if next(count) in numbers:
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)


def refusal_of(folder: Path) -> Refusal:
    with pytest.raises(Refusal) as refused:
        replace_folder(folder, migrate(read_folder(folder)))
    return refused.value


@pytest.mark.usefixtures("no_exchange")
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_failed_rename_without_atomic_exchange_is_undone(
    skills: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    before = tree(skills)
    failing_renames(monkeypatch, number)
    assert refusal_of(skills / "old-one").code == "MIGRATION_FAILED"
    assert tree(skills) == before


@pytest.mark.usefixtures("no_exchange")
@pytest.mark.parametrize("numbers", [(2, 3), (3, 4), (3, 5), (4, 5), (4, 7)])
def test_the_original_stays_on_the_disk_if_the_undo_fails_too(
    skills: Path, monkeypatch: pytest.MonkeyPatch, numbers: tuple[int, ...]
) -> None:
    before = tree(skills / "old-one")
    failing_renames(monkeypatch, *numbers)
    refused = refusal_of(skills / "old-one")
    assert refused.code == "MIGRATION_INTERRUPTED"
    assert tree(Path(str(refused.problems[0].params["path"]))) == before


def test_what_cannot_be_written_stays_as_it_is(skills: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tree(skills)
    migration = migrate(read_folder(skills / "old-one"))
    real = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if "backup" in str(target):
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(Refusal) as refused:
        replace_folder(skills / "old-one", migration)
    assert refused.value.code == "MIGRATION_FAILED"
    assert tree(skills) == before


def _migrate_for_ever(folder: Path) -> None:
    migration = migrate(read_folder(folder))
    back = type(migration)(migration.after, migration.before, (), migration.package)
    while True:
        replace_folder(folder, migration)
        replace_folder(folder, back)


def test_a_killed_migration_leaves_the_old_or_the_new_whole(skills: Path) -> None:
    folder = skills / "old-one"
    migration = migrate(read_folder(folder))
    whole = [migration.before, migration.after]
    for number in range(12):
        process = multiprocessing.get_context("fork").Process(target=_migrate_for_ever, args=(folder,))
        process.start()
        time.sleep(0.02 + number * 0.0037)
        os.kill(not_none(process.pid), signal.SIGKILL)
        process.join()
        assert read_folder(folder).files in whole
        if read_folder(folder).files == migration.after:
            replace_folder(folder, type(migration)(migration.after, migration.before, (), migration.package))
