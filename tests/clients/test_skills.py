"""``npx skills``, in both generations that are in use, against a running site."""

from __future__ import annotations

import pytest

from tests.clients.node_clients import NODE_22, install

pytestmark = [pytest.mark.row("P7"), pytest.mark.slow("runs clients from npm")]
GENERATIONS = {"1.5.18": "", "1.7.4": NODE_22}


class Skills:
    """One generation of the client, with a home folder of its own."""

    def __init__(self, version, home, api):
        self.version, self.home, self.api = version, home, api
        self.client = install(f"skills@{version}", "bin/cli.mjs", needs=GENERATIONS[version])

    def __call__(self, *arguments):
        """What the client prints."""
        done = self.client.run(*arguments, home=self.home, SKILLS_API_URL=self.api)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module", params=sorted(GENERATIONS))
def skills(request, site, tmp_path_factory):
    return Skills(request.param, tmp_path_factory.mktemp("home"), site.url)


@pytest.fixture(scope="module")
def greet(site, change, skills):
    """The address of a public skill, one for each generation."""
    slug = f"greet-{skills.version.replace('.', '-')}"
    site.publish(slug, "print('hello')", team="docs")
    change(f"skills/docs/{slug}", visibility="public")
    return f"{site.url}/docs/{slug}"


@pytest.mark.client("skills {skills}", "add", "add -g", "list", "find", "find --owner", "use", "update")
def test_client_installs_lists_finds_uses_and_updates(site, change, skills, greet):
    slug = greet.rpartition("/")[2]
    assert "Installed 1 skill" in skills("add", greet, "-y", "-a", "claude-code")
    folder = skills.home / "project/.claude/skills" / slug
    assert (folder / f"scripts/{slug}.py").read_text() == "print('hello')"
    assert slug in skills("list")
    assert f"{greet}@{slug}" in skills("find", slug)
    assert f"{greet}@{slug}" in skills("find", slug, "--owner", "docs")
    assert f"{greet}@{slug}" not in skills("find", slug, "--owner", "nobody")
    assert f"# {slug}" in skills("use", f"{greet}@{slug}")

    pinned = skills("add", f"{greet}/1.0.0", "-g", "-y", "-a", "claude-code")
    assert "Installed 1 skill" in pinned
    assert (skills.home / ".claude/skills" / slug / "SKILL.md").exists()

    assert site.upload(slug, "print('newer')", team="docs", number="1.1.0")[0] == 201
    change(f"skills/docs/{slug}", visibility="public")
    if skills.version.startswith("1.5"):  # it updates skills from GitHub only
        skills("add", greet, "-y", "-a", "claude-code")
    else:
        skills("update", "-p", "-y")
    assert (folder / f"scripts/{slug}.py").read_text() == "print('newer')"
    global_script = skills.home / ".claude/skills" / slug / f"scripts/{slug}.py"
    assert global_script.read_text() == "print('hello')"


@pytest.mark.client("skills 1.7.4", "restore from the lock")
def test_client_restores_a_project_from_its_lock(skills, greet):
    if skills.version.startswith("1.5"):
        return  # it has no lock of projects
    slug = greet.rpartition("/")[2]
    skills("add", greet, "-y", "-a", "claude-code")
    installed = skills.home / "project/.agents/skills" / slug
    skills("experimental_install")
    assert (installed / "SKILL.md").exists()


@pytest.mark.client("skills {skills}", "private skill stays hidden")
@pytest.mark.row("P2")
def test_client_learns_nothing_of_a_private_skill(site, skills):
    slug = f"hidden-{skills.version.replace('.', '-')}"
    site.publish(slug, "print('secret')", team="docs")
    home = skills.home / "stranger"
    done = skills.client.run("add", f"{site.url}/docs/{slug}", "-y", "-a", "claude-code", home=home)
    assert not list(home.rglob(slug))
    assert "secret" not in done.stdout + done.stderr
    assert slug not in skills("find", slug).replace(f'"{slug}"', "")
