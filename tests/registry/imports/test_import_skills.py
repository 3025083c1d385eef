"""``manage.py import_skills``."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command

from registry.models import Skill
from tests.factories.trees import skill_md, write_tree, zip_tree

pytestmark = [pytest.mark.row("D3", "E3", "P3"), pytest.mark.django_db]


@pytest.fixture
def run(team, capsys):
    def import_skills(*arguments, code=0):
        status: str | int | None = 0
        try:
            call_command("import_skills", *map(str, arguments), "--json")
        except SystemExit as ended:
            status = ended.code
        assert status == code
        return json.loads(capsys.readouterr().out)

    return import_skills


def test_it_prints_a_row_for_each_folder_and_ends_with_0(run, tmp_path):
    top = write_tree(tmp_path, {".claude/skills/a/SKILL.md": skill_md("a"), ".claude/skills/b/x.txt": ""})
    document = run(top)
    assert document["ok"] is True
    assert [(row["path"], row["outcome"], row["skill"], row["version"]) for row in document["imported"]] == [
        (".claude/skills/a", "published", "docs/a", "0.1.0"),
        (".claude/skills/b", "skipped", "", ""),
    ]
    assert document["imported"][1]["problems"][0]["remedy"]
    assert [row["outcome"] for row in run(top)["imported"]] == ["unchanged", "skipped"]


def test_a_refused_row_ends_with_1_and_other_roots_go_on(run, tmp_path):
    bad = write_tree(tmp_path / "bad", {"skills/x/SKILL.md": "---\nname: [\n---\n"})
    good = write_tree(tmp_path / "good", {"skills/y/SKILL.md": skill_md("y")})
    document = run(bad, good, tmp_path / "absent", code=1)
    assert document["ok"] is False
    assert [row["outcome"] for row in document["imported"]] == ["refused", "published"]
    assert [(each["code"], each["root"]) for each in document["problems"]] == [
        ("IMPORT_LOCATION", str(tmp_path / "absent"))
    ]


def test_an_archive_is_a_root_and_a_dry_run_publishes_nothing(run, tmp_path):
    file = tmp_path / "skills.zip"
    file.write_bytes(
        zip_tree({"repo/skills/a/SKILL.md": skill_md("a"), "repo/skills/b/SKILL.md": skill_md("b")})
    )
    document = run(file, "--dry-run", "--team", "docs")
    assert [row["outcome"] for row in document["imported"]] == ["published", "published"]
    assert not Skill.objects.exists()
    run(file)
    assert Skill.objects.filter(source="archive").count() == 2


def test_external_paths_need_the_switch(run, tmp_path):
    write_tree(tmp_path / "far", {"skills/f/SKILL.md": skill_md("f")})
    top = write_tree(tmp_path / "near", {"skills/n/SKILL.md": skill_md("n")})
    assert run(top, "--path", tmp_path / "far")["imported"][0]["problems"][0]["code"] == "IMPORT_OUTSIDE"
    document = run(top, "--path", tmp_path / "far", "--allow-external")
    assert document["imported"][0]["skill"] == "docs/f"


def test_as_somebody_else_a_folder_of_the_machine_is_refused(run, tmp_path, bob):
    document = run(write_tree(tmp_path, {"skills/a/SKILL.md": skill_md("a")}), "--as", "bob", code=1)
    assert document["problems"][0]["code"] == "FORBIDDEN"
