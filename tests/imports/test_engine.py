"""What an import publishes, reports and leaves alone, and that it ends without doubles whatever happens."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.actors import Actor
from registry.imports import engine, queue, sources
from registry.models import Import, ImportStatus, Skill, Source, Version
from registry.packages.problems import Refused
from tests.imports.trees import codes, grow, imported, kept, rows, skill, tarred, zipped

pytestmark = [pytest.mark.row("D3", "P3"), pytest.mark.django_db]


@pytest.fixture
def root(administrator):
    return Actor(user=administrator)


@pytest.fixture
def tree(tmp_path):
    names = ("alpha", "beta")
    return grow(tmp_path / "project", {f".claude/skills/{name}/SKILL.md": skill(name) for name in names})


def versions():
    return sorted(str(version) for version in Version.objects.select_related("skill__team"))


@pytest.mark.row("D2")
def test_what_is_imported_says_where_it_came_from(tree, team, root):
    report = imported(root, team, tree)
    assert report.status == ImportStatus.DONE
    assert (report.found, report.done) == (2, 2)
    alpha = Skill.objects.get(slug="alpha")
    assert (alpha.source, alpha.origin, alpha.origin_path) == ("disk", report.source, ".claude/skills/alpha")
    assert alpha.latest.provenance == {"folder": "project", "path": ".claude/skills/alpha"}
    assert alpha.visibility == "private"


def test_again_everything_is_unchanged_and_no_version_is_written(tree, team, root, monkeypatch):
    imported(root, team, tree)
    before = versions()
    monkeypatch.setattr("registry.imports.planning.package_of", lambda *a, **k: pytest.fail("read again"))
    report = imported(root, team, tree)
    assert set(rows(report).values()) == {"unchanged"}
    assert versions() == before
    assert Source.objects.count() == 1


def test_changed_content_without_a_number_is_the_next_patch(tree, team, root):
    imported(root, team, tree)
    grow(tree, {".claude/skills/alpha/SKILL.md": skill("alpha", "Does more.")})
    report = imported(root, team, tree)
    assert rows(report) == {".claude/skills/alpha": "published", ".claude/skills/beta": "unchanged"}
    assert versions() == ["docs/alpha@0.1.0", "docs/alpha@0.1.1", "docs/beta@0.1.0"]


def test_changed_content_under_the_same_number_is_refused_and_the_rest_goes_on(tree, team, root):
    grow(tree, {".claude/skills/beta/SKILL.md": skill("beta", more="version: 2.0.0\n")})
    imported(root, team, tree)
    grow(tree, {".claude/skills/beta/SKILL.md": skill("beta", "Other.", "version: 2.0.0\n")})
    grow(tree, {".claude/skills/alpha/SKILL.md": skill("alpha", "Does more.")})
    report = imported(root, team, tree)
    assert rows(report) == {".claude/skills/alpha": "published", ".claude/skills/beta": "refused"}
    assert codes(report)[".claude/skills/beta"] == ["VERSION_EXISTS"]


def test_a_broken_skill_is_refused_with_every_problem_and_line(tree, team, root):
    grow(tree, {".claude/skills/broken/SKILL.md": "---\nname: broken\nname: twice\n---\n"})
    report = imported(root, team, tree)
    row = report.rows.get(path=".claude/skills/broken")
    assert row.outcome == "refused"
    assert ("SKILL.md", 3) in {(each["path"], each["line"]) for each in row.problems}
    assert report.status == ImportStatus.DONE
    assert Skill.objects.count() == 2


def test_of_two_with_one_slug_the_deeper_wins(tmp_path, team, root):
    top = grow(
        tmp_path,
        {".claude/skills/a/SKILL.md": skill("a"), "inner/.claude/skills/a/SKILL.md": skill("a", "Deeper.")},
    )
    report = imported(root, team, top)
    assert rows(report) == {".claude/skills/a": "skipped", "inner/.claude/skills/a": "published"}
    assert codes(report)[".claude/skills/a"] == ["IMPORT_SHADOWED"]
    assert rows(imported(root, team, top)) == {
        ".claude/skills/a": "skipped",
        "inner/.claude/skills/a": "unchanged",
    }
    assert versions() == ["docs/a@0.1.0"]


def test_two_as_deep_with_different_content_are_both_refused_and_named(tmp_path, team, root):
    top = grow(tmp_path, {"skills/one/SKILL.md": skill("a"), "skills/two/SKILL.md": skill("a", "Other.")})
    report = imported(root, team, top)
    assert set(rows(report).values()) == {"refused"}
    problem = report.rows.get(path="skills/one").problems[0]
    assert (problem["code"], problem["params"]["other"]) == ("IMPORT_CLASH", "skills/two")
    assert not Skill.objects.exists()


def test_the_same_content_twice_is_one_version(tmp_path, team, root):
    top = grow(tmp_path, {"skills/one/SKILL.md": skill("a"), "skills/two/SKILL.md": skill("a")})
    report = imported(root, team, top)
    assert rows(report) == {"skills/one": "published", "skills/two": "skipped"}
    assert codes(report)["skills/two"] == ["IMPORT_SAME_CONTENT"]
    again = imported(root, team, top)
    assert rows(again) == {"skills/one": "unchanged", "skills/two": "skipped"}
    assert versions() == ["docs/a@0.1.0"]


@pytest.mark.row("E4")
def test_the_three_spellings_of_allowed_tools_are_one(tmp_path, team, root):
    said = ("allowed-tools: [Read, Grep]", "allowedTools: Read, Grep", "allowed_tools: Read Grep")
    files = {f"skills/s{n}/SKILL.md": skill(f"s{n}", more=f"{text}\n") for n, text in enumerate(said)}
    imported(root, team, grow(tmp_path, files))
    assert [v.manifest["allowed_tools"] for v in Version.objects.all()] == [["Read", "Grep"]] * 3


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_a_repositorys_download_is_read_whole_its_links_included(team, root, pack):
    files = {
        "repo-main/README.md": "# Skills",
        "repo-main/plugins/x/skills/alpha/SKILL.md": skill("alpha"),
        "repo-main/deep/group/beta/SKILL.md": skill("beta"),
        "repo-main/.claude/skills/alpha": "->../../plugins/x/skills/alpha",
        "repo-main/.claude/skills/etc": "->/etc",
        "repo-main/skills/bad/SKILL.md": skill("bad"),
        "repo-main/skills/bad/link": "->/etc/passwd",
        "repo-main/odd: name?.txt": "not of a skill",
    }
    source = sources.described(root, team=team, kind="archive", location="repo.zip", content=pack(files))
    report = engine.run_here(sources.keep(source, root), root)
    assert rows(report) == {
        "plugins/x/skills/alpha": "published",
        "deep/group/beta": "published",
        ".claude/skills/alpha": "skipped",
        ".claude/skills/etc": "skipped",
        "skills/bad": "refused",
    }
    assert codes(report)["skills/bad"] == ["ENTRY_LINK"]
    assert Skill.objects.get(slug="beta").latest.provenance["archive"] == "repo.zip"
    assert not any(engine._root().iterdir())


@pytest.mark.parametrize("path", ["../out/SKILL.md", "/abs/SKILL.md", "a\\b/SKILL.md"])
def test_an_archive_that_leads_out_is_refused_before_anything_is_written(team, root, path, var_folder):
    content = tarred({path: skill("x"), "ok/SKILL.md": skill("ok")})
    source = sources.described(root, team=team, kind="archive", location="x.tgz", content=content)
    report = engine.run_here(sources.keep(source, root), root)
    assert report.status == ImportStatus.FAILED
    assert report.problems[0]["code"] in ("PATH_UNSAFE", "PATH_CHARACTERS")
    assert not Skill.objects.exists()
    assert not list(var_folder.rglob("*SKILL*"))


def test_a_link_in_an_archive_is_never_written_through(team, root, tmp_path):
    content = tarred({"skills/a": f"->{tmp_path}", "skills/a/SKILL.md": skill("a")})
    source = sources.described(root, team=team, kind="archive", location="x.tgz", content=content)
    engine.run_here(sources.keep(source, root), root)
    assert list(tmp_path.iterdir()) == []


def test_an_archive_that_is_nothing_but_a_link_leads_nowhere(team, root, tmp_path):
    grow(tmp_path, {"skills/secret/SKILL.md": skill("secret")})
    content = tarred({"around": f"->{tmp_path}"})
    source = sources.described(root, team=team, kind="archive", location="x.tgz", content=content)
    assert engine.run_here(sources.keep(source, root), root).status == ImportStatus.FAILED
    assert not Skill.objects.exists()


def test_an_archive_can_be_imported_again_since_its_bytes_are_kept(team, root):
    from registry import storage

    content = zipped({"a/SKILL.md": skill("a"), "b/SKILL.md": skill("b")})
    source = sources.keep(
        sources.described(root, team=team, kind="archive", location="x.zip", content=content), root
    )
    engine.run_here(source, root)
    storage.sweep(grace=timedelta(0))
    assert set(rows(engine.run_here(source, root)).values()) == {"unchanged"}


def test_a_dry_run_says_the_same_and_writes_nothing(tree, team, root):
    source = sources.described(root, team=team, kind="folder", location=str(tree))
    said = {row.path: (row.outcome, row.skill, row.version) for row in engine.preview(source, root)}
    assert said[".claude/skills/alpha"] == ("published", "docs/alpha", "0.1.0")
    assert not Skill.objects.exists()
    assert not Source.objects.exists()
    assert not Import.objects.exists()


def test_a_place_without_any_skill_fails_with_what_to_name(tmp_path, team, root):
    report = imported(root, team, tmp_path)
    assert report.status == ImportStatus.FAILED
    assert report.problems[0]["code"] == "IMPORT_EMPTY"


def test_a_folder_of_the_server_is_administrators_alone(tree, team, alice, actor_of, root):
    with pytest.raises(Refused) as refused:
        sources.described(actor_of(alice), team=team, kind="folder", location=str(tree))
    assert refused.value.code == "FORBIDDEN"
    hold = queue.start(kept(root, team, tree), root)
    engine.run(hold, actor_of(alice))
    assert Import.objects.get().problems[0]["code"] == "FORBIDDEN"


def test_one_import_of_a_source_at_a_time(tree, team, root):
    source = kept(root, team, tree)
    queue.request(source, root)
    with pytest.raises(Refused) as refused:
        queue.request(source, root)
    assert refused.value.code == "IMPORT_UNDER_WAY"


@pytest.mark.parametrize("after", [1, 2])
def test_an_import_whose_worker_died_goes_on_and_doubles_nothing(tree, team, root, monkeypatch, after):
    monkeypatch.setattr(engine, "_BATCH", 1)
    source, real, done = kept(root, team, tree), engine._publish_batch, []

    def dies(*arguments):
        if len(done) == after:
            raise SystemExit
        real(*arguments)
        done.append(1)

    hold = queue.start(source, root)
    with monkeypatch.context() as patched:
        patched.setattr(engine, "_publish_batch", dies)
        with pytest.raises(SystemExit):
            engine.run(hold, root)
    dead = queue.Hold(Import.objects.get().pk, 1)
    assert queue.claim_next(timezone.now()) is None, "its lease has not lapsed"
    later = timezone.now() + timedelta(minutes=2)
    hold = queue.claim_next(later)
    assert hold.attempt == 2
    assert not dead.renew()
    engine.run(hold, root)
    report = Import.objects.get()
    assert (report.status, report.found, report.done) == ("done", 2, 2)
    assert set(rows(report).values()) == {"published"}
    assert versions() == ["docs/alpha@0.1.0", "docs/beta@0.1.0"]


def test_a_worker_that_lost_its_import_writes_nothing_more(tree, team, root):
    hold = queue.start(kept(root, team, tree), root)
    queue.claim_next(timezone.now() + timedelta(minutes=2))
    engine.run(hold, root)
    assert Import.objects.get().status == ImportStatus.RUNNING
    assert not Skill.objects.exists()


def test_an_import_that_ends_its_workers_each_time_fails(tree, team, root):
    queue.start(kept(root, team, tree), root)
    for minutes in (2, 4):
        assert queue.claim_next(timezone.now() + timedelta(minutes=minutes))
    assert queue.claim_next(timezone.now() + timedelta(minutes=6)) is None
    report = Import.objects.get()
    assert (report.status, report.problems[0]["code"]) == ("failed", "IMPORT_ERROR")


def test_what_only_the_portal_can_cause_is_told_without_a_traceback(tree, team, root, monkeypatch):
    monkeypatch.setattr(engine, "plan", lambda *a: 1 / 0)
    report = imported(root, team, tree)
    assert (report.status, report.problems[0]["code"]) == ("failed", "IMPORT_ERROR")


def test_only_the_last_reports_of_a_source_are_kept(tree, team, root, monkeypatch):
    monkeypatch.setattr(queue, "KEPT", 2)
    for _ in range(3):
        imported(root, team, tree)
    assert Import.objects.count() == 2


def test_a_forgotten_source_leaves_its_skills(tree, team, root, bob, charlie, actor_of):
    source = imported(root, team, tree).source
    with pytest.raises(Refused):
        sources.find(source.uid, actor_of(charlie))
    sources.remove(sources.find(source.uid, actor_of(bob)), actor_of(bob))
    assert Skill.objects.filter(origin=None).count() == 2
    assert not Import.objects.exists()
