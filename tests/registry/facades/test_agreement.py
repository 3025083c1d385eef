"""One publication is an update for each protocol: version, digest and bytes agree."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import zipfile

import pytest

from registry.collections import edit
from registry.collections.edit import ChosenSkill
from registry.identity.actors import Actor
from tests.checks import not_none
from tests.factories.skills import publish_files, tidy_files
from tests.registry.facades.conftest import get, show
from tests.registry.facades.test_git import cloned, files, refs
from tests.worker.facades.test_mcp import ask

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7"), pytest.mark.row("D10")]
SKILL = "docs/weekly-report"


def unzipped(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def from_api():
    detail = get(f"/api/v1/skills/{SKILL}").json()
    data = get(f"/api/v1/skills/{SKILL}/versions/latest/archive").getvalue()
    assert detail["digest"] == "sha256:" + hashlib.sha256(data).hexdigest()
    return detail["version"], unzipped(data)


def from_index(scope):
    entry = get(f"/{scope}/.well-known/agent-skills/index.json").json()["skills"][0]
    data = get(entry["url"]).getvalue()
    assert entry["digest"] == "sha256:" + hashlib.sha256(data).hexdigest()
    return entry["version"], unzipped(data)


def from_git():
    found = refs()
    main, pack = cloned()
    tags = [name for name, sha in found.items() if sha == main and name.startswith("refs/tags/")]
    return tags[0].removeprefix("refs/tags/v"), files(pack, pack[main].tree)


def from_marketplace(address):
    main, pack = cloned(address)
    found = files(pack, pack[main].tree)
    plugin = json.loads(found[".claude-plugin/marketplace.json"])["plugins"][0]
    start = f"plugins/{plugin['name']}/skills/{plugin['name']}/"
    return plugin["version"], {
        path.removeprefix(start): data for path, data in found.items() if start in path
    }


def from_npm():
    document = get(f"/npm/@{SKILL}").json()
    number = document["dist-tags"]["latest"]
    dist = document["versions"][number]["dist"]
    data = get(dist["tarball"]).getvalue()
    assert dist["integrity"] == "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        found = {member.name: not_none(archive.extractfile(member)).read() for member in archive.getmembers()}
    del found["package/package.json"]
    return number, {name.removeprefix("package/"): content for name, content in found.items()}


def from_clawhub():
    address = "/clawhub/api/v1/skills/weekly-report"
    number = get(address).json()["latestVersion"]["version"]
    return number, unzipped(get(f"/clawhub/api/v1/download?slug=weekly-report&version={number}").getvalue())


def from_mcp():
    start = f"skill://{SKILL}/"
    skill = ask("skills/get", uri=f"{start}SKILL.md")["skill"]
    found = {}
    for row in skill["resources"]:
        content = ask("resources/read", uri=row["uri"])["contents"][0]
        data = content["text"].encode() if "text" in content else base64.b64decode(content["blob"])
        assert row["digest"] == "sha256:" + hashlib.sha256(data).hexdigest()
        found[row["uri"].removeprefix(start)] = data
    loaded = ask("tools/call", name="skills_load", arguments={"name": SKILL})
    return loaded["structuredContent"]["version"], found


def test_each_protocol_has_the_new_version_with_the_same_bytes(report, team, alice, settings):
    settings.SKILLQUAY_PUBLIC_URL = "http://127.0.0.1:8000"
    edit.create(team, "start", Actor(user=alice), visibility="public", chosen=[ChosenSkill(SKILL)])
    for number in ("1.2.0", "1.3.0"):
        if number != "1.2.0":
            show(publish_files(tidy_files(number), team=team, user=alice))
        expected = (number, tidy_files(number))
        assert from_api() == expected
        assert from_index(SKILL) == expected
        assert from_index("docs") == expected
        assert from_index("collections/docs/start") == expected
        assert from_git() == expected
        assert from_marketplace("/docs/all.git") == expected
        assert from_marketplace("/collections/docs/start.git") == expected
        assert from_npm() == expected
        assert from_clawhub() == expected
        assert from_mcp() == expected
