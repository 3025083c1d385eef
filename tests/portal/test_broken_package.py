"""A package with faults of every kind: all of them in one answer, by every door, and nothing kept."""

import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from registry.models import Skill, Version
from tests.factories.archives import zip_of
from tests.factories.broken_package import FAULTS, FILES
from tests.pages import is_chinese, parts
from worker.models import InputFile

pytestmark = [pytest.mark.django_db, pytest.mark.row("C2", "P3")]
MORE = {"a?.md": "x"}  # a name that the gate stops, before anything of the package is read


def _archive(more=None):
    return zip_of({**FILES, **(more or {})})


def _places(problems):
    return {(one["code"], one["path"], one["line"]) for one in problems}


def _nothing_is_kept(drafts=0):
    assert not Skill.objects.exists()
    assert not Version.objects.exists()
    assert InputFile.objects.count() == drafts


@pytest.mark.parametrize("more", [{}, MORE], ids=["checks", "gate and checks"])
def test_the_api_names_every_fault_with_file_and_line(browse, bob, more):
    client = browse(bob)
    client.raise_request_exception = False
    wanted = {*FAULTS, ("PATH_CHARACTERS", "a?.md", None)} if more else set(FAULTS)
    for query, status in (("", 422), ("&dry_run=1", 200)):
        answer = client.post(
            f"/api/v1/packages?team=docs{query}", _archive(more), content_type="application/zip"
        )
        assert answer.status_code == status
        assert wanted <= _places(answer.json()["problems"])
        assert all(one["remedy"] for one in answer.json()["problems"])
    _nothing_is_kept()


@pytest.mark.parametrize("more", [{}, MORE], ids=["checks", "gate and checks"])
def test_the_command_names_every_fault_with_file_and_line(tmp_path, more):
    (tmp_path / "broken.zip").write_bytes(_archive(more))
    output = io.StringIO()
    with pytest.raises(SystemExit):
        call_command("check_package", str(tmp_path / "broken.zip"), "--json", stdout=output)
    assert set(FAULTS) <= _places(json.loads(output.getvalue())["packages"][0]["problems"])


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("button", ["check", "publish"])
def test_the_page_shows_every_fault_in_the_readers_language(browse, bob, button, language):
    upload = SimpleUploadedFile("broken.zip", _archive())
    page = browse(bob).post(
        "/publish/",
        {"team": "docs", button: "1", "archive": upload},
        headers={"Accept-Language": language},
    )
    rows = parts(page, "problem")
    assert {(code, path, str(line or "")) for code, path, line in FAULTS} <= {
        (row["code"], row["path"], row["line"]) for row in rows
    }
    assert all(is_chinese(row.text) for row in rows) == (language == "zh-hans")
    _nothing_is_kept(drafts=1)  # for the user alone, to repair it on the page
