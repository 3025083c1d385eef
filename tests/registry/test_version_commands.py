"""Changes of skills and versions from the shell: done, undone, refused, and hidden from a stranger."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from registry.models import Channel, Skill, Team, Version
from tests.factories.old_packages import OLD
from tests.factories.trees import skill_md as skill_md
from tests.factories.trees import write_tree
from tests.shell import api

pytestmark = [pytest.mark.django_db, pytest.mark.row("P1", "P12")]
SKILL = "skills/docs/report"
ONE = f"{SKILL}/versions/1.0.0"
WHY = {"reason": "Wrong."}
STABLE = {"version": "1.0.0"}


@pytest.fixture(autouse=True)
def skills(publish_skill):
    return publish_skill(version="1.0.0"), publish_skill(version="2.0.0"), publish_skill("other")


@pytest.fixture
def run(capsys):
    def call(*words, code=0):
        status: str | int | None = 0
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


def skill(slug="report"):
    return Skill.objects.get(slug=slug)


CHANGES = [
    ("POST", f"{ONE}/yank", WHY, lambda: version().yank_reason == "Wrong."),
    (
        "POST",
        f"{SKILL}/deprecation",
        {**WHY, "successor": "docs/other"},
        lambda: skill().successor == skill("other"),
    ),
    ("POST", f"{ONE}/deprecation", {**WHY, "successor": "2.0.0"}, lambda: version().successor == "2.0.0"),
    ("PUT", f"{SKILL}/channels/stable", STABLE, lambda: Channel.objects.get().version == version()),
    ("PATCH", ONE, {"changelog": "First."}, lambda: version().changelog == "First."),
    ("POST", f"{ONE}/purge", WHY, lambda: not Version.objects.filter(number="1.0.0", skill=skill()).exists()),
    ("POST", f"{SKILL}/purge", WHY, lambda: skill().purged_at),
    ("POST", f"{SKILL}/rename", {"slug": "memo"}, lambda: skill("memo").redirects.exists()),
    ("POST", f"{SKILL}/merge", {"into": "docs/other"}, lambda: skill().merged_into == skill("other")),
    ("GET", f"{SKILL}/compare/1.0.0..2.0.0", None, lambda: True),
    ("GET", f"{ONE}/findings", None, lambda: True),
]
UNDOING = [
    ("POST", f"{ONE}/yank", WHY, lambda: not version().yanked_at),
    ("POST", f"{ONE}/deprecation", WHY, lambda: not version().deprecated_at),
    ("POST", f"{SKILL}/deprecation", WHY, lambda: not skill().deprecated_at),
    ("PUT", f"{SKILL}/channels/stable", STABLE, lambda: not Channel.objects.exists()),
]
WRONG = ["import_skills", "init_skill", "migrate_package", "check_package", "build_dependencies", "api"]
by_address = [f"{method} {path}" for method, path, _, _ in CHANGES]


@pytest.mark.parametrize(("method", "path", "body", "is_done"), CHANGES, ids=by_address)
def test_change_is_made(method, path, body, is_done):
    assert api(method, path, body)[0] == 0
    assert is_done()


@pytest.mark.parametrize(("method", "path", "body", "is_undone"), UNDOING)
def test_change_is_undone(method, path, body, is_undone):
    assert api(method, path, body)[0] == api("DELETE", path)[0] == 0
    assert is_undone()


@pytest.mark.parametrize(("method", "path", "body", "is_done"), CHANGES, ids=by_address)
def test_unknown_skill_and_a_strangers_are_refused_alike(method, path, body, is_done, charlie):
    answers = [
        api(method, path.replace("docs/report", "docs/absent"), body),
        api(method, path, body, by="charlie"),
    ]
    for status, document in answers:
        assert (status, document.pop("code")) == (1, "NOT_FOUND")
        assert document.pop("request_id")
    unknown, private = (json.dumps(document) for _, document in answers)
    assert unknown.replace("absent", "report") == private
    assert version().skill.purged_at is None


@pytest.mark.parametrize("command", WRONG)
def test_call_without_arguments_is_wrong(command):
    with pytest.raises(CommandError) as wrong:
        call_command(command)
    assert wrong.value.returncode in (1, 2)  # the parser itself ends a shell's call with 2


@pytest.mark.parametrize("command", ["rescan_versions", "reseal_secrets"])
def test_only_an_administrator_rescans_and_reseals(run, alice, command):
    assert run(command, "--as", "alice", code=1)["problems"][0]["code"] == "FORBIDDEN"
    assert run(command)["ok"] is True


@pytest.mark.row("C14", "D3", "P3")
def test_what_reads_folders_tells_done_and_refused(run, tmp_path, charlie):
    tree = write_tree(
        tmp_path / "tree", {"skills/a/SKILL.md": skill_md("a"), "skills/bad/SKILL.md": "---\nname: [\n"}
    )
    assert run("import_skills", tree, "--team", "docs", code=1)["ok"] is False
    assert Skill.objects.filter(slug="a", team=Team.objects.get(slug="docs")).exists()
    assert run("import_skills", tree, "--team", "docs", "--as", "charlie", code=1)["problems"][0]["code"]
    good, bad = tree / "skills/a", tree / "skills/bad"
    assert run("check_package", good)["packages"][0]["findings"] == []
    assert run("check_package", good, tree / "none", code=1)["packages"][1]["ok"] is False
    old = tmp_path / "old"
    old.mkdir()
    (old / "SKILL.md").write_text(OLD)
    assert run("migrate_package", old, "--dry-run")["packages"][0]["status"] == "would_migrate"
    assert run("migrate_package", old)["packages"][0]["status"] == "migrated"
    assert run("migrate_package", bad, code=1)["packages"][0]["status"] == "refused"
    assert run("init_skill", "prompt", tmp_path / "new-skill")["files"] == ["SKILL.md"]
    assert run("init_skill", "prompt", tmp_path / "new-skill", code=1)["problems"]
