"""``agents/<role>/`` trees of document B become skills that still run where they lie."""

from __future__ import annotations

import json
import re

import pytest

from registry.identity.actors import Actor
from registry.models import Skill
from tests.checks import not_none
from tests.factories.trees import import_folder, outcomes, write_tree

pytestmark = [pytest.mark.row("B5"), pytest.mark.django_db]

SCRIPT = '''#!/usr/bin/env python3
"""
Build analysis
Finds slow builds.

Actions: analyze
"""
import json, sys
from pathlib import Path
AGENT_DIR = Path(__file__).parent.parent.parent
request = json.loads(sys.stdin.read())
print(json.dumps({"success": True, "action": request["action"], "data": {
    "agent": (AGENT_DIR / "agent.yaml").read_text()[:6],
    "claude": (AGENT_DIR / "CLAUDE.md").read_text(),
    "rates": (AGENT_DIR / "config" / "rates.json").read_text(),
}}))
'''
YAML = """skills:
  - name: build_analysis
    entry: .claude/skills/build.py
    timeout: 600  # 10 分钟
  - name: lost
    entry: .claude/skills/lost.py
"""


@pytest.fixture
def tree(tmp_path):
    agent = "agents/dev_analyst"
    return write_tree(
        tmp_path,
        {
            f"{agent}/agent.yaml": YAML,
            f"{agent}/CLAUDE.md": "Behave.",
            f"{agent}/README.md": "# Analyst",
            f"{agent}/config/rates.json": "[1]",
            f"{agent}/.env": "SECRET=1",
            f"{agent}/.claude/settings.json": "{}",
            f"{agent}/.claude/skills/build.py": SCRIPT,
            f"{agent}/.claude/skills/report.py": '"""Report"""\nprint(1)\n',
            f"{agent}/.claude/skills/_shared.py": "RATE = 2\n",
            f"{agent}/.claude/skills/test_build.py": "def test(): pass\n",
            f"{agent}/.claude/skills/README.md": "# The skills",
            "agents/poet/.claude/skills/poem.py": '"""Writes a poem\n\nInput:\n  {}\n"""\n',
            "agents/writer/.claude/skills/report.py": '"""\nWriter\'s report\nWrites it.\n"""\n',
        },
    )


def test_each_file_is_a_skill_with_the_role_as_tag_and_its_own_timeout(tree, team, administrator):
    report = import_folder(Actor(user=administrator), team, tree)
    at = "agents/dev_analyst/.claude/skills"
    assert outcomes(report) == {
        f"{at}/build.py": "published",
        f"{at}/report.py": "published",
        "agents/poet/.claude/skills/poem.py": "published",
        "agents/writer/.claude/skills/report.py": "published",
        f"{at}/_shared.py": "skipped",
        f"{at}/test_build.py": "skipped",
        "agents/dev_analyst/agent.yaml: .claude/skills/lost.py": "skipped",
    }
    build = Skill.objects.get(slug="build-analysis")
    assert (build.name, build.description, build.tags) == (
        "Build analysis",
        "Finds slow builds.",
        ["dev_analyst"],
    )
    assert not_none(build.latest).profile == "single-file"
    assert not_none(build.latest).manifest["security"]["timeout_ms"] == 600_000
    assert Skill.objects.get(slug="poem").description == "Writes a poem"
    assert set(Skill.objects.values_list("slug", flat=True)) == {
        "build-analysis", "dev-analyst-report", "poem", "writer-report",
    }  # fmt: skip


def test_the_agents_folder_comes_along_without_what_is_hidden_and_the_other_skills(tree, team, administrator):
    import_folder(Actor(user=administrator), team, tree)
    paths = set(
        not_none(Skill.objects.get(slug="build-analysis").latest).files.values_list("path", flat=True)
    )
    at = "agents/dev_analyst"
    assert paths == {
        "SKILL.md",
        *(f"{at}/{name}" for name in ("agent.yaml", "CLAUDE.md", "README.md", "config/rates.json")),
        *(f"{at}/.claude/skills/{name}" for name in ("build.py", "_shared.py", "README.md")),
    }


def test_agent_dir_two_folders_up_still_holds_when_it_runs(tree, team, administrator):
    from worker.models import Run
    from worker.protocols.call import Request
    from worker.run_views.documents import run_document
    from worker.runs.request import request_run
    from worker.service.inline import execute_here

    actor = Actor(user=administrator)
    import_folder(actor, team, tree)
    version = Skill.objects.get(slug="build-analysis").latest
    run = request_run(actor=actor, version=not_none(version), request=Request(action="analyze"))
    execute_here(run)
    run = Run.objects.get(pk=run.pk)
    assert run.status == "succeeded", (run.failure_code, run.message)
    text = json.dumps(run_document(run, actor=actor)["output"])
    assert re.search("skills", text)
    assert "Behave." in text
    assert "[1]" in text


def test_python_files_in_anybodys_skills_folder_are_no_agents(tmp_path, team, administrator):
    write_tree(tmp_path, {"project/.claude/skills/tool.py": SCRIPT, "project/.claude/skills/a/x.txt": ""})
    report = import_folder(Actor(user=administrator), team, tmp_path / "project")
    assert outcomes(report) == {".claude/skills/a": "skipped"}
