"""Each command about skills and versions: its deed, its refusals, and that a stranger is told nothing."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from registry.models import Channel, Skill, Team, Version
from tests.imports.trees import grow
from tests.imports.trees import skill as skill_md
from tests.packages.old_packages import OLD

pytestmark = [pytest.mark.django_db, pytest.mark.row("P1", "P12")]
ONE, TWO = "docs/report@1.0.0", "docs/report@2.0.0"


@pytest.fixture(autouse=True)
def skills(published):
    return published(version="1.0.0"), published(version="2.0.0"), published("other")


@pytest.fixture
def run(capsys):
    def call(*words, code=0):
        status = 0
        try:
            call_command(*map(str, words), "--json")
        except SystemExit as ended:
            status = ended.code
        found = capsys.readouterr()
        assert (status, found.err) == (code, "")
        return json.loads(found.out)

    return call


def version(number="1.0.0"):
    return Version.objects.get(skill__slug="report", number=number)


DEEDS = {
    ("yank_version", ONE, "--reason", "Wrong."): lambda: version().yank_reason == "Wrong.",
    ("deprecate", "docs/report", "--reason", "Old.", "--successor", "docs/other"): lambda: (
        version().skill.successor.slug == "other"
    ),
    ("deprecate", ONE, "--reason", "Old.", "--successor", "2.0.0"): lambda: version().successor == "2.0.0",
    ("set_channel", ONE, "stable"): lambda: Channel.objects.get(name="stable").version == version(),
    ("set_changelog", ONE, "First."): lambda: version().changelog == "First.",
    ("purge", ONE, "--reason", "Secret."): lambda: (
        not Version.objects.filter(skill__slug="report", number="1.0.0").exists()
    ),
    ("purge", "docs/report", "--reason", "Secret."): lambda: Skill.objects.get(slug="report").purged_at,
    ("rename_skill", "docs/report", "memo"): lambda: Skill.objects.get(slug="memo").redirects.exists(),
    ("merge_skill", "docs/report", "docs/other"): lambda: Skill.objects.get(slug="report").merged_into,
    ("compare_versions", "docs/report", "1.0.0", "2.0.0"): lambda: True,
    ("findings", ONE): lambda: True,
}
UNDOING = [
    (
        ("yank_version", ONE, "--reason", "x"),
        ("yank_version", ONE, "--undo"),
        lambda: not version().yanked_at,
    ),
    (("deprecate", ONE, "--reason", "x"), ("deprecate", ONE, "--undo"), lambda: not version().deprecated_at),
    (
        ("set_channel", ONE, "stable"),
        ("set_channel", "docs/report", "stable", "--remove"),
        lambda: not Channel.objects.exists(),
    ),
]
WRONG = [
    ("yank_version", "docs/report", "--reason", "x"),
    ("yank_version", ONE),
    ("set_changelog", "docs/report", "x"),
    ("deprecate", "docs/report"),
    ("purge", ONE),
    ("merge_skill", "docs/report"),
    ("rename_skill", "docs/report"),
    ("compare_versions", "docs/report", "1.0.0"),
    ("import_skills",),
    ("init_skill",),
    ("scan_package",),
    ("migrate_package",),
    ("findings", "--release"),
]


def names(words):
    return " ".join(words)


@pytest.mark.parametrize("words", DEEDS, ids=names)
def test_it_does_its_deed(run, words):
    assert run(*words)["ok"] is True
    assert DEEDS[words]()


@pytest.mark.parametrize(("words", "back", "is_undone"), UNDOING, ids=["yank", "deprecate", "channel"])
def test_what_can_be_taken_back_is(run, words, back, is_undone):
    run(*words)
    assert run(*back)["ok"] is True
    assert is_undone()


@pytest.mark.parametrize("words", [*DEEDS, ("export", ONE, "out.zip")], ids=names)
def test_an_unknown_skill_and_a_strangers_are_the_same(run, words, charlie):
    unknown = run(*(word.replace("docs/report", "docs/absent") for word in words), code=1)
    private = run(*words, "--as", "charlie", code=1)
    assert [each["code"] for each in unknown["problems"] + private["problems"]] == ["NOT_FOUND"] * 2
    assert unknown["ok"] is private["ok"] is False
    assert json.dumps(unknown).replace("absent", "report") == json.dumps(private)
    assert version().skill.purged_at is None


@pytest.mark.parametrize("words", WRONG, ids=names)
def test_a_wrong_call_is_told_apart(words):
    with pytest.raises(CommandError) as wrong:
        call_command(*words)
    assert wrong.value.returncode in (1, 2)  # the parser itself ends a shell's call with 2


def test_only_an_administrator_scans_all_again(run, alice):
    assert run("rescan", "--as", "alice", code=1)["problems"][0]["code"] == "FORBIDDEN"
    assert run("rescan")["ok"] is True


@pytest.mark.row("C14", "D3", "P3")
def test_what_reads_folders_tells_done_and_refused(run, tmp_path, charlie):
    tree = grow(
        tmp_path / "tree", {"skills/a/SKILL.md": skill_md("a"), "skills/bad/SKILL.md": "---\nname: [\n"}
    )
    assert run("import_skills", tree, "--team", "docs", code=1)["ok"] is False
    assert Skill.objects.filter(slug="a", team=Team.objects.get(slug="docs")).exists()
    assert run("import_skills", tree, "--team", "docs", "--as", "charlie", code=1)["problems"][0]["code"]
    good, bad = tree / "skills/a", tree / "skills/bad"
    assert run("scan_package", good)["packages"][0]["findings"] == []
    assert run("scan_package", good, tree / "none", code=1)["packages"][1]["ok"] is False
    old = tmp_path / "old"
    old.mkdir()
    (old / "SKILL.md").write_text(OLD)
    assert run("migrate_package", old, "--dry-run")["packages"][0]["status"] == "would_migrate"
    assert run("migrate_package", old)["packages"][0]["status"] == "migrated"
    assert run("migrate_package", bad, code=1)["packages"][0]["status"] == "refused"
    assert run("init_skill", "prompt", tmp_path / "new-skill")["files"] == ["SKILL.md"]
    assert run("init_skill", "prompt", tmp_path / "new-skill", code=1)["problems"]


def test_a_version_is_written_out(run, tmp_path):
    assert run("export", ONE, tmp_path / "x.zip")["path"] == str(tmp_path / "x.zip")
    assert (tmp_path / "x.zip").read_bytes()[:2] == b"PK"
