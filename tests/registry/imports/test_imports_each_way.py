"""Agent scripts and mirrors that are imported from pages, by the API and from the command line."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.factories.trees import write_tree, zip_tree
from tests.pages import actions, codes, part, parts
from tests.shell import api
from tests.ways import WAYS, caller
from worker.service.import_jobs import import_waiting

pytestmark = [pytest.mark.django_db, pytest.mark.parametrize("way", WAYS)]
SCRIPTS = "agents/analyst/.claude/skills"
TREE = {
    f"{SCRIPTS}/short.py": '"""Finds slow builds"""\nprint(1)\n',
    f"{SCRIPTS}/long.py": '"""Builds\nFinds slow builds.\n"""\nprint(1)\n',
}


@pytest.mark.row("B5")
def test_title_of_an_agent_script_is_its_description(way, alice, administrator, client, tmp_path):
    client.force_login(alice)
    if way == "page":
        content = SimpleUploadedFile("agents.zip", zip_tree(TREE))
        client.post("/imports/new/", {"team": "docs", "kind": "archive", "content": content})
    elif way == "api":
        client.post("/api/v1/imports?team=docs", zip_tree(TREE), "application/zip")
    else:
        folder = str(write_tree(tmp_path, TREE))
        request = {"team": "docs", "kind": "folder", "location": folder}
        assert api("POST", "imports", request, by="root")[0] == 0
    assert import_waiting() == 1
    for slug, text in (("short", "Finds slow builds"), ("long", "Finds slow builds.")):
        if way == "page":
            shown = part(client.get(f"/skills/docs/{slug}/"), "field", value="description")
            assert [each.text for each in shown.tags("dd")] == [text]
        else:
            assert caller(way, client)("GET", f"skills/docs/{slug}")["description"] == text


@pytest.mark.row("D10")
def test_mirror_with_another_name_says_so_and_is_corrected(way, server, team, administrator, client):
    file = b"---\nname: report\ndescription: Writes a report.\n---\n# Report\n"
    server.responders["/report/SKILL.md"] = lambda handler: handler.send(200, file)
    sent = {"team": "docs", "location": f"{server.url}/report/SKILL.md", "reason": "Theirs."}
    client.force_login(administrator)
    call = caller(way, client, by="root")

    def mirror(slug):
        if way == "page":
            client.post("/canonical/new/mirror/", {**sent, "slug": slug, "interval_s": "3600"})
        else:
            call("PUT", f"canonical/{slug}/mirror", sent)
        assert import_waiting() == 1
        if way == "page":
            page = client.get(f"/canonical/{slug}/")
            return codes(page), "accept" in actions(page)
        document = call("GET", f"canonical/{slug}")
        return [each["code"] for each in document["mirror_problems"]], bool(document["pending"])

    assert mirror("summary") == (["CANONICAL_MIRROR_NAME"], False)
    if way == "page":
        client.post("/canonical/summary/unset/", {"reason": "Wrong name."})
        assert "summary" not in [each["value"] for each in parts(client.get("/canonical/"), "canonical")]
    else:
        call("DELETE", "canonical/summary", {"reason": "Wrong name."})
        assert call("GET", "canonical/summary")["code"] == "NOT_FOUND"
    assert mirror("report") == ([], True)
