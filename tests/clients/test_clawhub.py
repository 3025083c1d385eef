"""``clawhub``, in both generations that are in use, against a running site."""

from __future__ import annotations

import re

import pytest

from tests.clients.node_clients import NODE_22, install

pytestmark = [pytest.mark.row("P7"), pytest.mark.slow("runs clients from npm")]
GENERATIONS = {"0.20.0": "", "0.23.3": NODE_22}

# In a browser, as the administrator.
CONFIRM = """
from django.test import Client
from registry.models import User
User.objects.update(must_change_password=False)
client = Client(headers={{"host": "{site}".removeprefix("http://")}})
client.force_login(User.objects.get(username="admin"))
grant = {{"decision": "approve", "scopes": ["read", "publish"], "expires_at": "7", "team": ""}}
assert client.post("/account/device/", {{"code": "{code}", **grant}}).status_code == 302
"""


class ClawHub:
    """One generation of the client, with a home folder of its own."""

    def __init__(self, version, home, site):
        self.version, self.home, self.site = version, home, site
        self.client = install(f"clawhub@{version}", "bin/clawdhub.js", needs=GENERATIONS[version])

    def __call__(self, *arguments, ok=True):
        """What the client prints."""
        registry = {"CLAWHUB_REGISTRY": f"{self.site.url}/clawhub", "CLAWHUB_SITE": self.site.url}
        done = self.client.run("--no-input", *arguments, home=self.home, **registry)
        assert (done.returncode == 0) is ok, done.stdout + done.stderr
        return done.stdout + done.stderr

    def start(self, *arguments):
        """The client's process, whose output can be read while it runs."""
        registry = {"CLAWHUB_REGISTRY": f"{self.site.url}/clawhub", "CLAWHUB_SITE": self.site.url}
        return self.client.start(*arguments, home=self.home, **registry)

    def signed_in(self):
        self("login", "--token", self.site.token, "--no-browser")
        return self

    @property
    def skills(self):
        return self.home / "project/skills"


@pytest.fixture(scope="module", params=sorted(GENERATIONS))
def version(request):
    return request.param


@pytest.fixture
def clawhub(version, site, tmp_path):
    return ClawHub(version, tmp_path, site)


@pytest.fixture(scope="module")
def hidden(site, version):
    """The slug of a private skill, one for each generation."""
    slug = f"claw-{version.replace('.', '-')}"
    site.publish(slug, "print('one')", team="docs")
    return slug


@pytest.mark.client(
    "clawhub {version}",
    "login --token",
    "whoami",
    "search",
    "explore",
    "inspect",
    "install",
    "list",
    "update",
)
def test_client_finds_inspects_installs_and_updates(site, clawhub, hidden):
    clawhub.signed_in()
    assert "admin" in clawhub("whoami")
    assert hidden in clawhub("search", hidden)
    assert hidden in clawhub("explore")
    assert "1.0.0" in clawhub("inspect", hidden, "--versions", "--files")
    assert "print('one')" in clawhub("inspect", hidden, "--file", f"scripts/{hidden}.py")

    clawhub("install", hidden)
    script = next(clawhub.skills.rglob(f"{hidden}.py"))
    assert script.read_text() == "print('one')"
    assert hidden in clawhub("list")

    assert site.upload(hidden, "print('two')", team="docs", number="1.1.0")[0] == 201
    clawhub("update", "--all")  # refuses if the fingerprint matches no version
    assert script.read_text() == "print('two')"


@pytest.mark.client("clawhub {version}", "publish", "install a version")
def test_client_publishes_a_folder_and_its_next_version(clawhub):
    slug = f"made-{clawhub.version.replace('.', '-')}"
    folder = clawhub.home / slug
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {slug}\ndescription: For tests.\n---\n# Made\n")
    (folder / "scripts/a.py").write_text("print(1)\n")
    clawhub.signed_in()
    publish = ("publish", str(folder), "--slug", slug, "--owner", "docs", "--changelog", "x", "--version")
    assert "Published" in clawhub(*publish, "1.0.0")
    (folder / "scripts/a.py").write_text("print(2)\n")
    assert "Version already exists" in clawhub(*publish, "1.0.0", ok=False)
    clawhub(*publish, "1.1.0", "--tags", "beta")
    clawhub("install", slug, "--version", "1.0.0")
    assert next(clawhub.skills.rglob("a.py")).read_text() == "print(1)\n"


@pytest.mark.client("clawhub {version}", "login by code")
def test_client_signs_in_with_a_code_from_the_browser(site, clawhub):
    """The older generation opens a browser page unless ``--device`` is given."""
    more = ["--device"] if clawhub.version == "0.20.0" else []
    waiting = clawhub.start("login", *more)
    code = next(match[1] for line in waiting.stdout if (match := re.search(r"enter code: (\S+)", line)))
    site.manage("shell", "--no-imports", "-c", CONFIRM.format(code=code, site=site.url))
    assert "Logged in" in waiting.communicate(timeout=60)[0]
    assert "admin" in clawhub("whoami")


@pytest.mark.client("clawhub {version}", "star", "unstar", "verify", "delete", "undelete")
def test_client_stars_verifies_deletes_and_restores(site, clawhub):
    slug = f"kept-{clawhub.version.replace('.', '-')}"
    site.publish(slug, "print('one')", team="docs")
    clawhub.signed_in()
    assert "Starred" in clawhub("star", slug, "--yes")
    assert "already starred" in clawhub("star", slug, "--yes")
    assert "Unstarred" in clawhub("unstar", slug, "--yes")
    assert '"decision": "pass"' in clawhub("skill", "verify", slug)
    assert "Deleted" in clawhub("delete", slug, "--yes")
    clawhub("install", slug, ok=False)
    assert "Undeleted" in clawhub("undelete", slug, "--yes")
    clawhub("install", slug)


@pytest.mark.client("clawhub {version}", "private skill stays hidden")
@pytest.mark.row("P2")
def test_client_without_a_token_learns_nothing_of_a_private_skill(clawhub, hidden):
    assert "NOT_FOUND" in clawhub("install", hidden, ok=False)
    assert hidden not in clawhub("search", "tests")
    assert hidden not in clawhub("explore")
