"""The SDKs of Anthropic and OpenAI against a running site. What one publishes, the other protocols serve."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import urllib.request
import zipfile

import anthropic
import openai
import pytest

from tests.clients.python_clients import install

pytestmark = [pytest.mark.row("P7"), pytest.mark.slow("runs SDKs")]
OLDER = "anthropic==0.84.0"
# What the older SDK does: create, list, retrieve, add a version, list versions, download, delete.
SCRIPT = """
import json, sys
import anthropic
team = {"anthropic-workspace-id": "docs"}
client = anthropic.Anthropic(base_url=sys.argv[1], auth_token=sys.argv[2], default_headers=team)
skills = client.beta.skills
def files(text):
    return [("older/SKILL.md", text, "text/markdown")]
head = b"---\\nname: older\\ndescription: For tests.\\n---\\n"
skill = skills.create(display_title="Older", files=files(head + b"one"))
version = skills.versions.create(skill.id, files=files(head + b"two"))
rows = [row.version for row in skills.versions.list(skill.id)]
listed = skill.id in [row.id for row in skills.list(limit=100)]
latest = skills.retrieve(skill.id).latest_version
skills.versions.delete(version.version, skill_id=skill.id)
skills.delete(skill.id)
print(json.dumps([rows, listed, latest]))
"""


def skill_files(name, text):
    head = f"---\nname: {name}\ndescription: For tests.\n---\n{text}\n"
    return [
        (f"{name}/SKILL.md", head.encode(), "text/markdown"),
        (f"{name}/scripts/a.py", b"print(1)\n", "text/plain"),
    ]


def zipped(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, data, _ in files:
            archive.writestr(path, data)
    return buffer.getvalue()


def digest(data):
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


@pytest.fixture
def claude(site):
    team = {"anthropic-workspace-id": "docs"}
    return anthropic.Anthropic(base_url=f"{site.url}/anthropic", api_key=site.token, default_headers=team)


@pytest.fixture
def gpt(site):
    return openai.OpenAI(base_url=f"{site.url}/openai/v1", api_key=site.token, project="docs")


@pytest.mark.client("anthropic 2.12.0", "create", "list", "retrieve", "download", "delete")
def test_anthropic_creates_lists_downloads_and_deletes(claude):
    skills = claude.beta.skills
    skill = skills.create(files=skill_files("claude-made", "one"), display_name="Made")
    version = skills.versions.create(
        skill.id, files=[("a.zip", zipped(skill_files("claude-made", "two")), "application/zip")]
    )
    assert [row.id for row in skills.versions.list(skill.id)] == [version.id, skill.latest_version_id]
    assert skill.id in [row.id for row in skills.list(limit=1)]  # follows the pages
    assert skills.retrieve(skill.id).latest_version_id == version.id
    assert skills.versions.retrieve(version.id, skill_id=skill.id).name == "claude-made"
    archive = zipfile.ZipFile(io.BytesIO(skills.versions.download(version.id, skill_id=skill.id).read()))
    assert archive.read("SKILL.md").endswith(b"two\n")
    assert skills.versions.delete(version.id, skill_id=skill.id).id == version.id
    assert skills.delete(skill.id).type == "skill_deleted"
    with pytest.raises(anthropic.NotFoundError):
        skills.retrieve(skill.id)


@pytest.mark.client("anthropic 0.84.0", "create", "list", "retrieve", "delete")
def test_older_anthropic_does_the_same(site):
    python = install(OLDER) / "python"
    argv = [python, "-c", SCRIPT, f"{site.url}/anthropic", site.token]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [["0.1.1", "0.1.0"], True, "0.1.1"]


@pytest.mark.client("openai 3.54.0", "create", "list", "retrieve", "download", "delete")
def test_openai_creates_lists_downloads_and_deletes(gpt):
    skill = gpt.skills.create(files=("a.zip", zipped(skill_files("gpt-made", "one")), "application/zip"))
    version = gpt.skills.versions.create(skill.id, files=skill_files("gpt-made", "two"))
    assert [row.version for row in gpt.skills.versions.list(skill.id, order="asc")] == ["0.1.0", "0.1.1"]
    assert skill.id in [row.id for row in gpt.skills.list(limit=1)]  # follows the pages
    assert gpt.skills.retrieve(skill.id).latest_version == version.version
    assert gpt.skills.versions.retrieve(version.version, skill_id=skill.id).id == version.id
    newest = gpt.skills.content.retrieve(skill.id).read()
    assert newest == gpt.skills.versions.content.retrieve("0.1.1", skill_id=skill.id).read()
    assert zipfile.ZipFile(io.BytesIO(newest)).read("SKILL.md").endswith(b"two\n")
    assert gpt.skills.versions.delete("0.1.1", skill_id=skill.id).deleted
    assert gpt.skills.delete(skill.id).deleted
    with pytest.raises(openai.NotFoundError):
        gpt.skills.retrieve(skill.id)


def test_publication_by_one_protocol_is_an_update_for_all_others(site, claude, gpt):
    skill = claude.beta.skills.create(files=skill_files("shared-skill", "one"))
    gpt.skills.versions.create(skill.id, files=skill_files("shared-skill", "two"))
    archive = gpt.skills.content.retrieve(skill.id).read()
    assert digest(claude.beta.skills.versions.download("latest", skill_id=skill.id).read()) == digest(archive)

    def read(path):
        headers = {"Authorization": f"Bearer {site.token}"}
        with urllib.request.urlopen(urllib.request.Request(site.url + path, headers=headers)) as answer:
            return answer.read()

    claw = "/clawhub/api/v1"
    assert json.loads(read(f"{claw}/skills/shared-skill"))["latestVersion"]["version"] == "0.1.1"
    assert read(f"{claw}/download?slug=shared-skill") == archive
    apm = "/apm/v1/packages/docs/shared-skill/versions"
    row = json.loads(read(apm))["versions"][0]
    assert (row["version"], row["digest"]) == ("0.1.1", digest(archive))
    assert read(f"{apm}/0.1.1/download") == archive
    assert json.loads(read("/npm/@docs/shared-skill"))["dist-tags"]["latest"] == "0.1.1"
    index = json.loads(read("/docs/shared-skill/.well-known/agent-skills/index.json"))["skills"][0]
    assert index["digest"] == digest(archive)
    listed = json.loads(read("/docs/marketplace.json"))["plugins"]
    assert "0.1.1" in [row["version"] for row in listed if row["name"] == "shared-skill"]


@pytest.mark.client("anthropic 2.12.0", "private skill stays hidden")
@pytest.mark.row("P2")
def test_stranger_learns_nothing_of_a_private_skill(site, claude, gpt):
    skill = claude.beta.skills.create(files=skill_files("hidden-skill", "one"))
    nobody = anthropic.Anthropic(base_url=f"{site.url}/anthropic", api_key="none", max_retries=0)
    with pytest.raises(anthropic.AuthenticationError):
        nobody.beta.skills.retrieve(skill.id)
    assert site.ask(f"/anthropic/v1/skills/{skill.id}", token=None)[0] == 404
    assert skill.id not in site.ask("/openai/v1/skills", token=None)[2].decode()
