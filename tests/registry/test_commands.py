from __future__ import annotations

import io
import json
import os
import zipfile

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from registry.models import AuditEntry, Version
from registry.packages.problems import code_named

pytestmark = [pytest.mark.django_db, pytest.mark.row("P3")]

SKILL_MD = "---\nname: report\ndescription: Writes the weekly report, 周报.\nversion: 1.0.0\n---\n# Report\n"


def run(capsys, *args):
    """The exit status and what stands on stdout."""
    try:
        call_command(*[str(arg) for arg in args])
    except SystemExit as ended:
        return ended.code, capsys.readouterr().out
    return 0, capsys.readouterr().out


def document(capsys, *args):
    status, out = run(capsys, *args, "--json")
    return status, json.loads(out)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "report"
    path.mkdir()
    (path / "SKILL.md").write_text(SKILL_MD)
    return path


def test_a_folder_an_archive_and_a_lone_file_are_the_same_package(capsys, team, folder, tmp_path):
    archive = tmp_path / "report.zip"
    with zipfile.ZipFile(archive, "w") as target:
        target.writestr("report/SKILL.md", SKILL_MD)
    status, found = document(
        capsys, "publish_package", folder, archive, folder / "SKILL.md", "--team", "docs"
    )
    assert (status, found["ok"]) == (0, True)
    digest = Version.objects.get().digest
    assert found["published"] == [{"skill": "docs/report", "version": "1.0.0", "digest": digest}] * 3
    assert [problem for problem in found["problems"] if problem["severity"] == "error"] == []


def test_a_lone_file_without_a_name_is_called_what_its_folder_is(capsys, team, folder):
    (folder / "SKILL.md").write_text("---\ndescription: Writes reports.\n---\n# Report\n")
    status, found = document(capsys, "publish_package", folder / "SKILL.md", "--team", "docs")
    assert (status, found["published"][0]["skill"]) == (0, "docs/report")


def test_a_database_that_is_not_set_up_is_named_as_such(capsys, team, folder, monkeypatch):
    def gone(name=""):
        raise OperationalError("no such table: registry_user")

    monkeypatch.setattr("registry.management.cli.shell_actor", gone)
    with pytest.raises(CommandError, match="set_up"):
        call_command("search", "report", "--json")


def test_the_same_version_with_other_bytes_is_refused(capsys, team, folder):
    document(capsys, "publish_package", folder, "--team", "docs")
    (folder / "SKILL.md").write_text(SKILL_MD + "more\n")
    status, found = document(capsys, "publish_package", folder, "--team", "docs")
    assert (status, found["ok"], found["published"]) == (1, False, [])
    assert [problem["code"] for problem in found["problems"]] == ["VERSION_EXISTS"]
    assert {"code", "severity", "message", "path", "line", "remedy"} <= set(found["problems"][0])


def test_one_bad_package_does_not_stop_the_others(capsys, team, folder, tmp_path):
    bad = tmp_path / "bad.zip"
    bad.write_bytes(b"PK nonsense")
    status, found = document(capsys, "publish_package", bad, tmp_path / "absent", folder, "--team", "docs")
    assert (status, found["ok"]) == (1, False)
    assert [row["skill"] for row in found["published"]] == ["docs/report"]
    errors = {problem["package"] for problem in found["problems"] if problem["severity"] == "error"}
    assert errors == {str(bad), str(tmp_path / "absent")}


@pytest.mark.row("P2")
def test_the_shell_is_the_administrator_and_as_narrows(capsys, team, folder, alice, charlie):
    for user, ok in (("charlie", False), ("alice", True)):
        status, found = document(capsys, "publish_package", folder, "--team", "docs", "--as", user)
        assert found["ok"] is ok
        assert status == (0 if ok else 1)
    assert Version.objects.get().published_by == alice
    entry = AuditEntry.objects.get(action="version.publish")
    assert (entry.user, entry.as_user) == (None, alice)


def test_an_unknown_team_is_refused_and_an_unknown_person_is_a_wrong_call(capsys, team, folder):
    status, found = document(capsys, "publish_package", folder, "--team", "absent")
    assert (status, found["problems"][0]["code"]) == (1, "NOT_FOUND")
    with pytest.raises(CommandError) as wrong:
        call_command("publish_package", str(folder), "--team", "docs", "--as", "nobody")
    assert wrong.value.returncode == 2


def test_people_get_lines_with_what_to_do(capsys, team, folder):
    run(capsys, "publish_package", folder, "--team", "docs")
    (folder / "SKILL.md").write_text(SKILL_MD + "more\n")
    status, out = run(capsys, "publish_package", folder, "--team", "docs")
    assert status == 1
    assert "VERSION_EXISTS" in out
    assert code_named("VERSION_EXISTS").remedy in out


@pytest.mark.row("P4")
def test_search_prints_one_document(capsys, team, folder, charlie):
    document(capsys, "publish_package", folder, "--team", "docs")
    status, found = document(capsys, "search", "周报")
    assert status == 0
    assert [(row["skill"], row["version"]) for row in found["results"]] == [("docs/report", "1.0.0")]
    status, found = document(capsys, "search", "周报", "--as", "charlie")
    assert (status, found) == (0, {"query": "周报", "none": True, "results": []})


@pytest.mark.row("P4")
def test_search_prints_lines_for_people(capsys, team, folder):
    run(capsys, "publish_package", folder, "--team", "docs")
    assert run(capsys, "search", "weekly")[1].startswith("docs/report@1.0.0")
    assert run(capsys, "search", "zebra") == (0, "Nothing found.\n")


@pytest.mark.row("P4")
def test_search_narrows_and_counts_as_page_and_api_do(capsys, team, folder, charlie):
    (folder / "SKILL.md").write_text(SKILL_MD.replace("version:", "category: office\nversion:"))
    document(capsys, "publish_package", folder, "--team", "docs")
    asked = ("search", "weekly", "--category", "office", "--facets")
    found = document(capsys, *asked)[1]
    assert [each["skill"] for each in found["results"]] == ["docs/report"]
    assert found["facets"]["team"] == [{"value": "docs", "count": 1}]
    assert "category: office 1" in run(capsys, *asked)[1].splitlines()
    assert document(capsys, "search", "weekly", "--category", "home")[1]["none"]
    assert not any(document(capsys, *asked, "--as", "charlie")[1]["facets"].values())


def test_nothing_but_the_document_is_on_stdout(capsys, team, folder):
    stream = io.StringIO()
    call_command("publish_package", str(folder), "--team", "docs", "--json", stdout=stream)
    assert len(stream.getvalue().splitlines()) == 1
    assert capsys.readouterr().out == ""


@pytest.mark.row("E1", "P4")
def test_bytes_that_are_no_text_are_a_wrong_call_or_said_as_such(capsys, team, folder):
    document(capsys, "publish_package", folder, "--team", "docs")
    given = os.fsdecode(b"\xed\xa0\x80 \xff weekly")
    for command in ("search", "match"):
        status, found = document(capsys, command, given)
        assert (status, found["query"]) == (0, "??? ? weekly"), command
        assert [each["skill"] for each in found["results"]] == ["docs/report"], command
    for words in (
        ("build_dependencies", given),
        ("api", "GET", f"/{given}"),
        ("api", "POST", "/", f'"{given}"'),
    ):
        with pytest.raises(CommandError) as wrong:
            call_command(*words)
        assert wrong.value.returncode == 2


def test_no_text_of_a_publisher_colours_moves_or_turns_a_terminal(publish_skill, capsys):
    publish_skill("zap", description="Zap \x1b[31mred\x9b1m\nmore", tags=("\u202etag\x07",))
    _, out = run(capsys, "search", "zap", "--facets")
    assert out.splitlines()[0].endswith("Zap [31mred1m more")
    assert "tag: \\u202etag\\x07 1" in out
    assert not set(out) & set("\x1b\x9b\x07\u202e")
