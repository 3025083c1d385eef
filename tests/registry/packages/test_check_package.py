"""``check_package``: one row a path, whatever the path, and an exit status to rely on."""

from __future__ import annotations

import io
import json
import os
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.factories.archives import SKILL, tar_gz, zip_of

pytestmark = [pytest.mark.row("P3"), pytest.mark.row("C2")]
FIELDS = [
    "path",
    "ok",
    "slug",
    "name",
    "version",
    "profile",
    "digest",
    "files",
    "bytes",
    "problems",
    "findings",
    "dependencies",
]
BROKEN = b"---\nname: a\ndescription: b\ntype: direct\n---\n"


def run(*arguments: str) -> tuple[int, str]:
    output = io.StringIO()
    status = 0
    with redirect_stdout(io.StringIO()) as elsewhere:
        try:
            call_command("check_package", *arguments, stdout=output)
        except SystemExit as ended:
            status = int(ended.code or 0)
    assert elsewhere.getvalue() == ""
    return status, output.getvalue()


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / "SKILL.md").write_bytes(SKILL)
    (tmp_path / "good.zip").write_bytes(zip_of({"SKILL.md": SKILL}))
    (tmp_path / "good.tar.gz").write_bytes(tar_gz(("x/SKILL.md", SKILL)))
    (tmp_path / "bad.zip").write_bytes(b"PK\3\4 no")
    (tmp_path / "broken.zip").write_bytes(zip_of({"SKILL.md": BROKEN}))
    os.mkfifo(tmp_path / "fifo")
    places = {path.name: str(path) for path in tmp_path.iterdir()}
    return {**places, "SKILL.md": str(tmp_path / "good" / "SKILL.md"), "absent": str(tmp_path / "absent")}


@pytest.mark.parametrize("kind", ["good", "good.zip", "good.tar.gz", "SKILL.md"])
def test_every_form_of_one_package_is_the_same_package(places: dict[str, str], kind: str) -> None:
    status, output = run(places[kind], "--json")
    document = json.loads(output)
    (row,) = document["packages"]
    assert (status, document["ok"]) == (0, True)
    assert list(row) == FIELDS
    assert row["digest"] == json.loads(run(places["good.zip"], "--json")[1])["packages"][0]["digest"]
    assert {**row, "digest": "", "path": ""} == {
        "path": "",
        "ok": True,
        "slug": "hello",
        "name": "hello",
        "version": None,
        "profile": "agentskills",
        "digest": "",
        "files": 1,
        "bytes": len(SKILL),
        "problems": [],
        "findings": [],
        "dependencies": [],
    }


def test_each_path_has_its_row_the_unreadable_ones_too(places: dict[str, str]) -> None:
    asked = [places[name] for name in ("good", "bad.zip", "absent", "fifo", "broken.zip")]
    status, output = run(*asked, "--json")
    document = json.loads(output)
    assert status == 1
    assert document["ok"] is False
    assert [row["path"] for row in document["packages"]] == asked
    assert [row["ok"] for row in document["packages"]] == [True, False, False, False, False]
    for row in document["packages"]:
        assert list(row) == FIELDS
        assert row["ok"] is not any(one["severity"] == "error" for one in row["problems"])
        for one in row["problems"]:
            assert list(one) == ["code", "severity", "message", "path", "line", "remedy"]
            assert one["message"]
            assert one["remedy"]


def test_a_profile_can_be_asked_for(places: dict[str, str]) -> None:
    status, output = run(places["good"], "--profile", "apexbridge", "--json")
    assert status == 1
    assert json.loads(output)["packages"][0]["profile"] == "apexbridge"


def test_people_read_lines_with_places(places: dict[str, str]) -> None:
    status, output = run(places["good"], places["broken.zip"])
    assert status == 1
    assert f"{places['good']}: ok" in output
    missing = [line for line in output.splitlines() if "error FIELD_MISSING SKILL.md:1 " in line]
    assert len([line for line in missing if "version" in line]) == 1


def test_text_output_lists_dependencies(tmp_path: Path) -> None:
    path = tmp_path / "needy.zip"
    scripts = {"scripts/a.py": b"import six\n", "requirements.txt": b"six==1.17.0\n"}
    path.write_bytes(zip_of({"SKILL.md": SKILL, **scripts}))
    status, output = run(str(path))
    assert status == 0
    assert "  needs python six==1.17.0\n" in output


def test_a_wrong_call_is_told_apart(places: dict[str, str]) -> None:
    with pytest.raises(CommandError):
        run(places["good"], "--profile", "none")
    with pytest.raises(CommandError):
        run()


def test_a_hostile_name_does_not_reach_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[31m\n.zip"
    path.write_bytes(zip_of({"SKILL.md": SKILL, "\x1b[2Jx": b""}))
    output = run(str(path))[1]
    assert "\x1b" not in output
