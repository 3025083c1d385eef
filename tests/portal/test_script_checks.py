"""A script that no interpreter can read is named by page, API and command, before and after publication."""

import io
import json

import pytest
from django.core.management import call_command

from tests.factories.archives import zip_of
from tests.pages import codes

pytestmark = [pytest.mark.django_db, pytest.mark.row("P3")]
FRONT = "name: broken\ndescription: For tests.\n"


def test_check_by_command_and_api_and_publication_name_the_same_script(team, alice, browse, tmp_path):
    files: dict[str, bytes | str] = {
        "SKILL.md": f"---\n{FRONT}---\n# Text\n",
        "scripts/a.py": "x = 1\ndef f(:\n",
    }
    archive = zip_of(files)
    (tmp_path / "broken.zip").write_bytes(archive)
    output = io.StringIO()
    call_command("check_package", str(tmp_path / "broken.zip"), "--json", stdout=output)
    answers = [json.loads(output.getvalue())["packages"][0]]
    for query in ("&dry_run=1", ""):
        url = f"/api/v1/packages?team=docs{query}"
        answers.append(browse(alice).post(url, archive, content_type="application/zip").json())
    for answer in answers:
        found = [
            (one["code"], one["path"], one["line"])
            for one in answer["problems"]
            if one["severity"] == "warning"
        ]
        assert found == [("SCRIPT_SYNTAX", "scripts/a.py", 2)]
    page = browse(alice).get("/skills/docs/broken/0.1.0/")
    assert "SCRIPT_SYNTAX" in codes(page)
