"""New skills and downloads from the shell and by API: no file is overwritten, no stranger gets a version."""

from __future__ import annotations

import hashlib
import json
import zipfile

import pytest
import skills_ref
from django.core.management import CommandError, call_command

from registry.packages.authoring.new_skill import TEMPLATES
from registry.packages.read_package import read_folder, read_upload
from tests.api.conftest import assert_error, session_api
from tests.checks import not_none
from tests.factories.skills import publish_files, tidy_files
from tests.shell import api, refusal

pytestmark = [pytest.mark.django_db, pytest.mark.row("C1", "P3", "P7")]
ARCHIVE = "skills/docs/weekly-report/versions/1.2.0/archive"


def _told(capsys, *words):
    try:
        call_command(*[str(word) for word in words], "--json")
        status: str | int | None = 0
    except SystemExit as ended:
        status = ended.code
    return status, json.loads(capsys.readouterr().out)


def _code(document):
    return [problem["code"] for problem in document["problems"]]


@pytest.fixture
def version(team, alice):
    return publish_files(tidy_files(), team=team, user=alice)


def test_the_command_starts_a_skill_and_never_overwrites(capsys, tmp_path):
    folder = tmp_path / "new" / "my-skill"
    said = ("--title", "统计", "--description", "统计文本。", "--language", "zh")
    status, told = _told(capsys, "init_skill", "bash", folder, *said)
    assert (status, told["ok"], told["files"]) == (0, True, ["SKILL.md", "scripts/measure.sh"])
    package = read_folder(folder)
    assert (package.problems, package.manifest.display_name) == ((), "统计")
    assert not_none(package.file("scripts/measure.sh")).executable
    before = (folder / "SKILL.md").read_bytes()
    status, told = _told(capsys, "init_skill", "prompt", folder)
    assert (status, _code(told), told["files"]) == (1, ["TARGET_EXISTS"], [])
    assert (folder / "SKILL.md").read_bytes() == before


def test_the_command_lists_the_kinds_and_says_what_is_wrong(capsys, tmp_path):
    status, told = _told(capsys, "init_skill", "--list")
    assert (status, [row["template"] for row in told["templates"]]) == (0, [kind.name for kind in TEMPLATES])
    assert _code(_told(capsys, "init_skill", "poem", tmp_path / "x")[1]) == ["KIND_UNKNOWN"]
    assert _code(_told(capsys, "init_skill", "prompt", tmp_path / "My Skill")[1]) == ["SKILL_NAME_INVALID"]
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(CommandError):
        call_command("init_skill", "prompt")


def test_shell_downloads_a_version_in_both_forms(tmp_path, version):
    target = tmp_path / "x.zip"
    assert api("GET", ARCHIVE, None, "--out", str(target)) == (0, None)
    assert version.digest == "sha256:" + hashlib.sha256(target.read_bytes()).hexdigest()
    assert api("GET", f"{ARCHIVE}?format=portable", None, "--out", str(target)) == (0, None)
    zipfile.ZipFile(target).extractall(tmp_path)
    assert skills_ref.validate(tmp_path / "weekly-report") == []
    assert read_folder(tmp_path / "weekly-report").manifest.allowed_tools == ("Read", "Bash(git log:*)")
    package = read_upload(target.read_bytes())
    assert (package.manifest.slug, package.manifest.version) == ("weekly-report", "1.2.0")
    assert package.manifest.input_schema == version.manifest["input_schema"]
    assert refusal("GET", ARCHIVE.replace("weekly-report", "absent")) == "NOT_FOUND"


@pytest.mark.row("P2")
def test_the_portable_archive_is_the_same_bytes_each_time_and_for_its_readers_alone(version, bob, charlie):
    api = session_api(bob)
    answer = api.get(f"{ARCHIVE}?format=portable")
    assert answer["X-Digest"] == "sha256:" + hashlib.sha256(answer.content).hexdigest() != version.digest
    assert answer["ETag"] == f'"{answer["X-Digest"]}"'
    assert answer["Content-Disposition"] == 'attachment; filename="weekly-report-1.2.0-portable.zip"'
    again = api.get(f"{ARCHIVE}?format=portable", headers={"If-None-Match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert read_upload(answer.content).manifest.display_name == "Weekly report"
    assert version.skill.__class__.objects.get().usage_count == 1
    assert_error(api.get(f"{ARCHIVE}?format=pdf"), 400, "QUERY_INVALID")
    assert_error(session_api(charlie).get(f"{ARCHIVE}?format=portable"), 404, "NOT_FOUND")


def test_the_api_lists_the_kinds_and_starts_each_of_them():
    api = session_api(None)
    kinds = api.get("templates").json()["items"]
    assert [row["template"] for row in kinds] == [kind.name for kind in TEMPLATES]
    for row in kinds:
        answer = api.get(f"templates/archive?template={row['template']}&name=my-skill&language=zh")
        package = read_upload(answer.content)
        assert (package.problems, list(package.paths)) == ((), sorted(row["files"]))
        assert (
            answer.content
            == api.get(f"templates/archive?template={row['template']}&name=my-skill&language=zh").content
        )
    assert_error(api.get("templates/archive?template=poem&name=x"), 422, "KIND_UNKNOWN")
    assert_error(api.get("templates/archive?template=prompt&name=Not+This"), 422, "SKILL_NAME_INVALID")
