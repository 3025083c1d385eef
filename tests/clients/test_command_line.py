"""``/skillquay.py`` as a program of its own against a running site."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.row("P7"), pytest.mark.slow("starts a site")]


class Program:
    """The downloaded file in a project of its own."""

    def __init__(self, site, folder, *, token=True):
        status, _headers, body = site.ask("/skillquay.py", token=None)
        assert status == 200
        self.folder, self.token = folder, site.token if token else ""
        self.file = folder / "skillquay.py"
        self.file.write_bytes(body)

    def __call__(self, *arguments, status=0, **environment):
        environment = {"HOME": str(self.folder), "PATH": os.environ["PATH"], **environment}
        if self.token:
            environment.setdefault("SKILLQUAY_TOKEN", self.token)
        done = subprocess.run(
            [sys.executable, "-I", str(self.file), *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert status in (None, done.returncode), done.stdout + done.stderr
        self.errors = done.stderr
        return done.stdout


@pytest.fixture
def program(site, tmp_path):
    return Program(site, tmp_path)


def write_skill(folder, slug, script, number="1.0.0", text="Adds up the figures of a report."):
    (folder / "scripts").mkdir(parents=True, exist_ok=True)
    head = f"---\nname: {slug}\ndescription: {text}\nversion: {number}\n---\n# {slug}\n"
    (folder / "SKILL.md").write_text(head)
    (folder / "scripts/main.py").write_text(script)


def test_file_runs_on_old_python_and_names_its_site(site, program):
    source = program.file.read_text()
    ast.parse(source, feature_version=(3, 9))
    assert f"SITE = {site.url!r}" in source
    assert "run" in program("--help")
    program(status=2)


@pytest.mark.client("skillquay.py", "publish", "pull", "verify", "doctor")
def test_publish_pull_verify_and_doctor(site, change, program, tmp_path):
    mine, place = tmp_path / "cl-figures", ".claude/skills/cl-figures"
    write_skill(mine, "cl-figures", "print('one')")
    printed = program("publish", "cl-figures", "--team", "docs")
    assert printed.startswith("docs/cl-figures@1.0.0 sha256:")
    assert program("publish", "cl-figures", "--team", "docs") == printed
    program("pull", "docs/cl-figures")
    lock = json.loads((tmp_path / "skillquay-lock.json").read_text())
    assert printed.split()[1] == lock[place]["digest"]
    program("verify")
    assert program("doctor").startswith("current")

    script = tmp_path / place / "scripts/main.py"
    script.write_text("print('onE')")
    assert "changed: scripts/main.py" in program("verify", status=1)
    program("pull", "docs/cl-figures", status=1)
    assert "--force" in program.errors
    assert states(program) == ["changed"]
    program("pull", "--force", "docs/cl-figures")
    script.chmod(0o755)
    program("verify", status=1)
    program("pull", "--force")
    program("verify")

    write_skill(mine, "cl-figures", "print('two')", "1.1.0")
    program("publish", "cl-figures", "--team", "docs")
    assert states(program) == ["outdated"]
    program("pull", "docs/cl-figures")
    assert script.read_text() == "print('two')"
    path = "/api/v1/skills/docs/cl-figures/versions/1.1.0/yank"
    assert site.ask(path, body={"reason": "Wrong figures."})[0] == 200
    assert states(program) == ["yanked", "outdated"]
    assert "1.0.0" in program("doctor", status=1)

    (tmp_path / "skillquay-lock.json").unlink()
    assert states(program) == ["known", "yanked", "outdated"]
    script.write_text("other")
    assert states(program) == ["unknown"]


def states(program, status=1):
    (row,) = json.loads(program("doctor", "--json", status=status))
    return row["states"]


@pytest.mark.client("skillquay.py", "restore from the lock", "wrong digest fails")
def test_lock_restores_the_exact_version_and_refuses_other_bytes(site, program, tmp_path):
    site.publish("cl-exact", "print(1)", team="docs")
    program("pull", "docs/cl-exact@1.0.0")
    site.upload("cl-exact", "print(2)", team="docs", number="2.0.0")
    lock = tmp_path / "skillquay-lock.json"
    for path in sorted((tmp_path / ".claude").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    assert "@1.0.0" in program("pull")
    text = lock.read_text()
    digest = json.loads(text)[".claude/skills/cl-exact"]["digest"]
    lock.write_text(text.replace(digest, "sha256:" + "0" * 64))
    program("verify", status=1)
    program("pull", status=1)


@pytest.mark.client("skillquay.py", "pull a canonical skill")
def test_canonical_skill_is_pulled_by_its_slug(site, program, tmp_path):
    site.publish("cl-canonical", "print(1)", team="docs")
    site.ask("/api/v1/skills/docs/cl-canonical")
    python = (
        "from registry.identity.actors import Actor\n"
        "from registry.canonical.pins import set_canonical\n"
        "from registry.models import Skill, User\n"
        "from registry.versions.lifecycle.settings import set_visibility\n"
        "root = Actor(user=User.objects.get(username='admin'))\n"
        "skill = Skill.objects.get(slug='cl-canonical')\n"
        "set_visibility(skill, 'site', root)\n"
        "set_canonical('cl-canonical', skill.latest, root, reason='Best.')\n"
    )
    site.manage("shell", "--no-imports", "-c", python)
    program("pull", "cl-canonical")
    assert (tmp_path / ".claude/skills/cl-canonical/SKILL.md").exists()
    program("verify")
    program("pull", "cl-nothing", status=1)
    assert "NOT_FOUND" in program.errors


@pytest.mark.client("skillquay.py", "run --follow", "match")
def test_run_follows_the_log_and_exits_with_the_outcome(site, program):
    site.publish("cl-works", "print('figures ready')", team="docs")
    site.publish("cl-breaks", "import sys\nsys.exit('no figures')", team="docs")
    assert "figures ready" in program("run", "docs/cl-works", "--follow")
    program("run", "docs/cl-breaks", "--follow", status=1)
    assert "no figures" in program.errors
    assert json.loads(program("run", "docs/cl-works", "--follow", "--json"))["status"] == "succeeded"
    assert program("run", "docs/cl-works").strip()
    found = json.loads(program("match", "cl works", "--json", status=None))
    assert "results" in found


@pytest.mark.client("skillquay.py", "private skill stays hidden")
@pytest.mark.row("P2")
def test_errors_are_clear_and_strangers_learn_nothing(site, tmp_path):
    site.publish("cl-private", "print(1)", team="docs")
    stranger = Program(site, tmp_path, token=False)
    stranger("pull", "docs/cl-private", status=1)
    hidden = stranger.errors
    stranger("pull", "docs/cl-missing", status=1)
    assert hidden.replace("private", "missing") == stranger.errors
    assert "Traceback" not in hidden
    stranger("match", "x", status=1, SKILLQUAY_URL="http://127.0.0.1:9")
    assert "http://127.0.0.1:9" in stranger.errors
    (tmp_path / ".netrc").write_text(f"machine 127.0.0.1 login token password {site.token}\n")
    (tmp_path / ".netrc").chmod(0o600)
    stranger("pull", "docs/cl-private")
    (tmp_path / "skillquay-lock.json").write_text("{")
    stranger("verify", status=1)
    assert "Traceback" not in stranger.errors
