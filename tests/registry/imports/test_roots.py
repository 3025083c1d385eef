"""Which folders are skills, by the rules of documents D and E."""

from __future__ import annotations

import json

import pytest

from registry.imports.candidates import SkillCandidate, SkippedPath
from registry.imports.trees import roots
from registry.packages.problems import Refusal
from tests.factories.trees import read_paths, skill_md, write_tree

pytestmark = pytest.mark.row("D3", "E3")


def test_only_folders_with_a_skill_md_are_skills_and_each_other_one_has_its_reason(tmp_path):
    top = write_tree(
        tmp_path / "skills",
        {
            "good/SKILL.md": skill_md(),
            "empty/notes.txt": "nothing",
            "single.md": skill_md(),
            "README.md": "# Skills",
            ".hidden/SKILL.md": skill_md(),
            "group/inner/SKILL.md": skill_md(),
        },
    )
    candidates, passed = read_paths(top)
    assert candidates == ["good"]
    assert passed == {
        "empty": "IMPORT_NO_SKILL_MD",
        "single.md": "IMPORT_NO_FOLDER",
        ".hidden": "IMPORT_HIDDEN",
        "group": "IMPORT_NO_SKILL_MD",
        "group/inner": "IMPORT_NOT_IN_ROOT",
    }
    assert read_paths(top, deep=True)[0] == ["good", "group/inner"]


def test_a_link_counts_where_it_leads_to_a_folder_within(tmp_path):
    write_tree(tmp_path / "elsewhere", {"far/SKILL.md": skill_md()})
    top = write_tree(
        tmp_path / "project",
        {
            "store/linked/SKILL.md": skill_md(),
            ".claude/skills/linked": "->../../store/linked",
            ".claude/skills/far": f"->{tmp_path}/elsewhere/far",
            ".claude/skills/broken": "->nowhere",
            ".claude/skills/file": "->../../notes.txt",
            "notes.txt": "a file",
        },
    )
    candidates, passed = read_paths(top)
    assert candidates == [".claude/skills/linked"]
    assert passed[".claude/skills/far"] == "IMPORT_OUTSIDE"
    assert passed[".claude/skills/broken"] == passed[".claude/skills/file"] == "IMPORT_LINK_BROKEN"
    assert read_paths(top, allow_external=True)[0] == [".claude/skills/far", ".claude/skills/linked"]
    assert ".claude/skills/far" not in read_paths(top, allow_external=True, is_tracked=True)[0]


def test_a_file_that_is_reached_twice_is_one_skill_and_the_report_says_so(tmp_path):
    top = write_tree(
        tmp_path / "project",
        {
            ".claude/skills/alias": "->real",
            ".claude/skills/real/SKILL.md": skill_md(),
            "skills": "->.claude/skills",
        },
    )
    candidates, passed = read_paths(top)
    assert candidates == [".claude/skills/real"]
    assert passed[".claude/skills/alias"] == passed["skills/real"] == "IMPORT_SAME_FILE"


def test_a_ring_of_links_comes_to_an_end(tmp_path):
    top = write_tree(
        tmp_path / "p", {"skills/a/SKILL.md": skill_md(), "skills/up": "->..", "x/skills": "->../.."}
    )
    assert read_paths(top)[0] == ["skills/a"]


def test_what_git_ignores_is_passed_by_unless_the_tree_holds_only_what_is_tracked(tmp_path):
    files = {
        ".gitignore": "vendor/\n*.log\n!keep.log\n",
        "skills/.gitignore": "/draft\n",
        "vendor/skills/a/SKILL.md": skill_md(),
        "skills/draft/SKILL.md": skill_md(),
        "skills/good/SKILL.md": skill_md(),
        "skills/good/run.log": "noise",
        "skills/good/keep.log": "kept",
    }
    top = write_tree(tmp_path / "project", files)
    candidates, passed = read_paths(top)
    assert candidates == ["skills/good"]
    assert passed == {"skills/draft": "IMPORT_IGNORED"}
    from registry.imports.trees.tree import Tree, read_tree

    found = next(each for each in read_tree(Tree(top, "disk")) if each.path == "skills/good")
    assert isinstance(found, SkillCandidate)
    assert [entry.path for entry in found.read()] == ["SKILL.md", "keep.log"]
    assert read_paths(top, is_tracked=True)[0] == ["skills/draft", "skills/good", "vendor/skills/a"]


def test_one_level_of_skills_is_added_to_a_root_that_is_not_called_so(tmp_path):
    top = write_tree(tmp_path / "root", {"skills/a/SKILL.md": skill_md(), "b/SKILL.md": skill_md()})
    assert roots.descend_to_skills(top) == top / "skills"
    assert roots.descend_to_skills(top / "skills") == top / "skills"
    assert read_paths(top) == (["skills/a"], {"b": "IMPORT_NOT_IN_ROOT"})
    assert read_paths(top / "skills")[0] == ["a"]


def test_a_root_called_skills_may_hold_a_skill_called_skills(tmp_path):
    settings = {"skills": {"paths": [".my/skills"]}}
    tree = {".my/skills/a/SKILL.md": skill_md(), ".my/skills/skills/SKILL.md": skill_md()}
    top = write_tree(tmp_path, {"ship.json": json.dumps(settings), **tree})
    assert read_paths(top)[0] == [".my/skills/a", ".my/skills/skills"]


def test_a_projects_settings_name_further_roots(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    write_tree(tmp_path / "home", {"mine/skills/m/SKILL.md": skill_md()})
    settings = {"skills": {"paths": [".my/skills", ".other", "~/mine", "gone"], "allowExternalPaths": False}}
    top = write_tree(
        tmp_path / "project",
        {
            "ship.json": json.dumps(settings),
            ".my/skills/a/SKILL.md": skill_md(),
            ".other/skills/b/SKILL.md": skill_md(),
            ".claude/skills/c/SKILL.md": skill_md(),
        },
    )
    candidates, passed = read_paths(top)
    assert candidates == [".my/skills/a", ".other/skills/b", ".claude/skills/c"]
    assert passed == {"~/mine": "IMPORT_OUTSIDE", "gone": "IMPORT_ROOT_MISSING"}
    (top / "ship.json").write_text(json.dumps({"skills": {"paths": ["~/mine"], "allowExternalPaths": "no"}}))
    assert read_paths(top)[1] == {"~/mine": "IMPORT_OUTSIDE"}
    (top / "ship.json").write_text(json.dumps({"skills": {"paths": ["~/mine"], "allowExternalPaths": True}}))
    assert read_paths(top)[0] == [str(tmp_path / "home/mine/skills/m"), ".claude/skills/c"]
    assert read_paths(top, is_tracked=True)[0] == [".claude/skills/c"], "a stranger's settings open no door"


@pytest.mark.parametrize("text", ["{", "[]", '{"skills": []}', '{"skills": {"paths": [1]}}', "[" * 5000])
def test_settings_that_say_nothing_usable_are_told_and_passed_by(tmp_path, text):
    top = write_tree(tmp_path, {"ship.json": text, ".claude/skills/c/SKILL.md": skill_md()})
    candidates, passed = read_paths(top)
    assert candidates == [".claude/skills/c"]
    assert passed == {"ship.json": "IMPORT_SETTINGS"}


def test_what_holds_from_above_is_read_where_it_is_asked_for(tmp_path, monkeypatch, settings):
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    settings.SKILLQUAY_MANAGED_DIR = str(tmp_path / "managed")
    write_tree(tmp_path, {
        "managed/.claude/skills/policy/SKILL.md": skill_md(),
        "home/.claude/skills/own/SKILL.md": skill_md(),
        "home/work/.claude/skills/group/SKILL.md": skill_md(),
        "home/work/project/.claude/skills/near/SKILL.md": skill_md(),
        ".claude/skills/above-home/SKILL.md": skill_md(),
    })  # fmt: skip
    top = home / "work" / "project"
    assert read_paths(top)[0] == [".claude/skills/near"]
    names = [path.rpartition("/")[2] for path in read_paths(top, above=True)[0]]
    assert names == ["near", "group", "own", "policy"]


def test_a_source_with_too_many_files_is_refused(tmp_path, settings):
    settings.SKILLQUAY_MAX_IMPORT_ENTRIES = 3
    top = write_tree(tmp_path, {f"skills/{n}/SKILL.md": skill_md() for n in range(4)})
    with pytest.raises(Refusal) as refused:
        read_paths(top)
    assert refused.value.code == "IMPORT_TOO_LARGE"


@pytest.mark.row("D2")
def test_legacy_commands_are_folders_and_single_files_with_name_spaces(tmp_path):
    top = write_tree(
        tmp_path,
        {
            ".claude/commands/fix.md": "Fix the bug.",
            ".claude/commands/web/button.md": "Make a button.",
            ".claude/commands/deploy/SKILL.md": skill_md(),
            ".claude/commands/README.md": "# Commands",
            "commands/old.md": "An old one.",
        },
    )
    from registry.imports.trees.tree import Tree, read_tree

    found = {each.path: each for each in read_tree(Tree(top, "disk"))}
    assert {path: each.name for path, each in found.items() if hasattr(each, "name")} == {
        "commands/old.md": "old",
        ".claude/commands/deploy": "deploy",
        ".claude/commands/fix.md": "fix",
        ".claude/commands/web/button.md": "web:button",
    }
    assert {each.source for each in found.values() if hasattr(each, "source")} == {"commands"}
    readme = found[".claude/commands/README.md"]
    assert isinstance(readme, SkippedPath)
    assert readme.reason.code == "IMPORT_NOT_A_SKILL"


@pytest.mark.row("P3")
def test_a_folder_with_nothing_to_read_at_any_depth_has_a_row_too(tmp_path):
    top = write_tree(
        tmp_path,
        {"skills/a/b/SKILL.md": skill_md("b"), "skills/none/x/y.txt": "", "skills/c/SKILL.md": skill_md("c")},
    )
    assert read_paths(top, deep=True) == (["skills/c", "skills/a/b"], {"skills/none": "IMPORT_NO_SKILL_MD"})
