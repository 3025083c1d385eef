"""What an archive or repository can find out about files outside it: nothing, by links or by paths."""

from __future__ import annotations

import json
import shutil

import pytest

from registry.imports.candidates import SkillCandidate
from registry.imports.trees.tree import Tree, read_tree
from registry.packages.problems import Refusal
from tests.factories.trees import read_paths, skill_md, write_tree

pytestmark = pytest.mark.row("D3", "E3", "B5")

AGENT = "agents/a"
SCRIPT = '"""Title"""\nprint(1)\n'
OUTSIDE = {
    "agent.yaml": "skills:\n  - name: secret\n    entry: .claude/skills/secret_entry.py\n",
    "ship.json": '{"skills": {"paths": ["secret_path"]}}',
    "skill/SKILL.md": skill_md("secret"),
    "claude/skills/secret/SKILL.md": skill_md("secret"),
    "scripts/secret.py": SCRIPT,
    "commands/secret.md": "secret text",
    "commands/secret/x.md": "secret text",
    "file.txt": "",
}
TREES = {
    "entry": {
        f"{AGENT}/agent.yaml": "skills: [{entry: OUT/file.txt}, {entry: ../../../out/file.txt}, {entry: ..}]",
        f"{AGENT}/.claude/skills/s.py": SCRIPT,
    },
    "agent-yaml": {f"{AGENT}/agent.yaml": "->OUT/agent.yaml", f"{AGENT}/.claude/skills/s.py": SCRIPT},
    "agent-by-yaml": {"tools/agent.yaml": "->OUT/agent.yaml", "tools/.claude/skills/s.py": SCRIPT},
    "agent-scripts": {f"{AGENT}/agent.yaml": "skills: []", f"{AGENT}/.claude/skills": "->OUT/scripts"},
    "settings": {"ship.json": "->OUT/ship.json"},
    "commands": {"commands": "->OUT/commands"},
    "claude-commands": {".claude/commands": "->OUT/commands"},
    "command": {"commands/one": "->OUT/commands", "commands/two.md": "->OUT/file.txt"},
    "claude": {"x/.claude": "->OUT/claude"},
    "skills": {"skills": "->OUT/claude/skills", "one/SKILL.md": skill_md("one"), "two/x.txt": ""},
    "root": {"a": "->OUT/skill", "two/x.txt": ""},
    "skill": {"skills/a": "->OUT/skill", "skills/b": "->OUT/file.txt"},
}


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("deep", [False, True])
def test_report_is_the_same_whether_outside_files_exist(tmp_path, name, deep):
    out = tmp_path / "out"
    files = {"good/skills/good/SKILL.md": skill_md("good"), **TREES[name]}
    top = write_tree(tmp_path / "top", {path: text.replace("OUT", str(out)) for path, text in files.items()})
    reports = []
    for exists in (True, False):
        if exists:
            write_tree(out, OUTSIDE)
        else:
            shutil.rmtree(out)
        reports.append(_report(top, deep=deep))
    assert reports[0] == reports[1]
    assert "secret" not in repr(reports[0])


def _report(top, *, deep):
    """Every path of the tree with its problem's code, or with the entries of the candidate."""
    report: list[tuple[str, str, object]] = []
    for each in read_tree(Tree(top, "archive", deep=deep, is_tracked=True)):
        if isinstance(each, SkillCandidate):
            try:
                report.append((each.path, each.name, tuple(each.read())))
            except Refusal as refused:
                report.append((each.path, each.name, refused.problems))
        else:
            report.append((each.path, each.reason.code, each.reason))
    return sorted(report, key=lambda row: row[:2])


def test_links_to_the_outside_are_reported_before_their_target_is_looked_at(tmp_path):
    top = write_tree(
        tmp_path / "top",
        {"skills/a": "->../../nowhere", "commands": "->../nowhere", "x/.claude": "->/nowhere"},
    )
    assert read_paths(top, is_tracked=True) == (
        [],
        {"skills/a": "IMPORT_OUTSIDE", "commands": "IMPORT_OUTSIDE", "x/.claude": "IMPORT_OUTSIDE"},
    )


def test_settings_linked_within_the_source_are_read(tmp_path):
    settings = json.dumps({"skills": {"paths": [".other"]}})
    top = write_tree(
        tmp_path / "top",
        {"config/ship.json": settings, "ship.json": "->config/ship.json", ".other/b/SKILL.md": skill_md()},
    )
    assert read_paths(top, is_tracked=True)[0] == [".other/b"]


def test_linked_settings_outside_need_external_paths(tmp_path):
    write_tree(tmp_path, {"ship.json": '{"skills": {"paths": [".other"]}}'})
    top = write_tree(tmp_path / "top", {"ship.json": "->../ship.json", ".other/b/SKILL.md": skill_md()})
    assert read_paths(top) == ([], {"ship.json": "IMPORT_SETTINGS"})
    assert read_paths(top, allow_external=True)[0] == [".other/b"]


@pytest.mark.parametrize(
    "files",
    [
        {"skills/loop": "->loop"},
        {"skills": "->skills"},
        {"x/.claude": "->.claude"},
        {"commands/loop": "->loop"},
        {"skills/a/SKILL.md": "->SKILL.md"},
        {f"{AGENT}/agent.yaml": "->agent.yaml", f"{AGENT}/.claude/skills/s.py": "->s.py"},
        {
            f"{AGENT}/agent.yaml": f"skills: [{{entry: {'a' * 300}}}]",
            f"{AGENT}/.claude/skills/s.py": SCRIPT,
        },
        {"ship.json": json.dumps({"skills": {"paths": ["a" * 300, "~nobody-here/x", "\ud800"]}})},
    ],
)
def test_loops_and_impossible_paths_stop_no_import(tmp_path, files):
    top = write_tree(tmp_path / "top", {"good/skills/good/SKILL.md": skill_md("good"), **files})
    assert "good/skills/good" in read_paths(top, is_tracked=True)[0]
