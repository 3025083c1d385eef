"""What an import publishes, reports and leaves alone, and that it ends without doubles whatever happens."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.identity.actors import Actor
from registry.imports import queue, run_import, sources
from registry.models import Import, ImportStatus, Skill, Source, Version
from registry.packages.problems import Refusal
from tests.checks import not_none
from tests.factories.trees import (
    import_folder,
    outcomes,
    problem_codes,
    save_folder_source,
    skill_md,
    tar_tree,
    write_tree,
    zip_tree,
)

pytestmark = [pytest.mark.row("D3", "P3"), pytest.mark.django_db]


@pytest.fixture
def root(administrator):
    return Actor(user=administrator)


@pytest.fixture
def tree(tmp_path):
    names = ("alpha", "beta")
    return write_tree(
        tmp_path / "project", {f".claude/skills/{name}/SKILL.md": skill_md(name) for name in names}
    )


def versions():
    return sorted(str(version) for version in Version.objects.select_related("skill__team"))


@pytest.mark.row("D2")
def test_what_is_imported_says_where_it_came_from(tree, team, root):
    report = import_folder(root, team, tree)
    assert report.status == ImportStatus.DONE
    assert (report.total, report.processed) == (2, 2)
    alpha = Skill.objects.get(slug="alpha")
    assert (alpha.source, alpha.origin, alpha.origin_path) == ("disk", report.source, ".claude/skills/alpha")
    assert not_none(alpha.latest).provenance == {"folder": "project", "path": ".claude/skills/alpha"}
    assert alpha.visibility == "private"


def test_again_everything_is_unchanged_and_no_version_is_written(tree, team, root, monkeypatch):
    import_folder(root, team, tree)
    before = versions()
    monkeypatch.setattr("registry.imports.plan.build_package", lambda *a, **k: pytest.fail("read again"))
    report = import_folder(root, team, tree)
    assert set(outcomes(report).values()) == {"unchanged"}
    assert versions() == before
    assert Source.objects.count() == 1


def test_changed_content_without_a_number_is_the_next_patch(tree, team, root):
    import_folder(root, team, tree)
    write_tree(tree, {".claude/skills/alpha/SKILL.md": skill_md("alpha", "Does more.")})
    report = import_folder(root, team, tree)
    assert outcomes(report) == {".claude/skills/alpha": "published", ".claude/skills/beta": "unchanged"}
    assert versions() == ["docs/alpha@0.1.0", "docs/alpha@0.1.1", "docs/beta@0.1.0"]


def test_changed_content_under_the_same_number_is_refused_and_the_rest_goes_on(tree, team, root):
    write_tree(tree, {".claude/skills/beta/SKILL.md": skill_md("beta", more="version: 2.0.0\n")})
    import_folder(root, team, tree)
    write_tree(tree, {".claude/skills/beta/SKILL.md": skill_md("beta", "Other.", "version: 2.0.0\n")})
    write_tree(tree, {".claude/skills/alpha/SKILL.md": skill_md("alpha", "Does more.")})
    report = import_folder(root, team, tree)
    assert outcomes(report) == {".claude/skills/alpha": "published", ".claude/skills/beta": "refused"}
    assert problem_codes(report)[".claude/skills/beta"] == ["VERSION_EXISTS"]


def test_a_broken_skill_is_refused_with_every_problem_and_line(tree, team, root):
    write_tree(tree, {".claude/skills/broken/SKILL.md": "---\nname: broken\nname: twice\n---\n"})
    report = import_folder(root, team, tree)
    row = report.rows.get(path=".claude/skills/broken")
    assert row.outcome == "refused"
    assert ("SKILL.md", 3) in {(each["path"], each["line"]) for each in row.problems}
    assert report.status == ImportStatus.DONE
    assert Skill.objects.count() == 2


def test_of_two_with_one_slug_the_deeper_wins(tmp_path, team, root):
    top = write_tree(
        tmp_path,
        {
            ".claude/skills/a/SKILL.md": skill_md("a"),
            "inner/.claude/skills/a/SKILL.md": skill_md("a", "Deeper."),
        },
    )
    report = import_folder(root, team, top)
    assert outcomes(report) == {".claude/skills/a": "skipped", "inner/.claude/skills/a": "published"}
    assert problem_codes(report)[".claude/skills/a"] == ["IMPORT_SHADOWED"]
    assert outcomes(import_folder(root, team, top)) == {
        ".claude/skills/a": "skipped",
        "inner/.claude/skills/a": "unchanged",
    }
    assert versions() == ["docs/a@0.1.0"]


def test_two_as_deep_with_different_content_are_both_refused_and_named(tmp_path, team, root):
    top = write_tree(
        tmp_path, {"skills/one/SKILL.md": skill_md("a"), "skills/two/SKILL.md": skill_md("a", "Other.")}
    )
    report = import_folder(root, team, top)
    assert set(outcomes(report).values()) == {"refused"}
    problem = report.rows.get(path="skills/one").problems[0]
    assert (problem["code"], problem["params"]["other"]) == ("IMPORT_CLASH", "skills/two")
    assert not Skill.objects.exists()


def test_the_same_content_twice_is_one_version(tmp_path, team, root):
    top = write_tree(tmp_path, {"skills/one/SKILL.md": skill_md("a"), "skills/two/SKILL.md": skill_md("a")})
    report = import_folder(root, team, top)
    assert outcomes(report) == {"skills/one": "published", "skills/two": "skipped"}
    assert problem_codes(report)["skills/two"] == ["IMPORT_SAME_CONTENT"]
    again = import_folder(root, team, top)
    assert outcomes(again) == {"skills/one": "unchanged", "skills/two": "skipped"}
    assert versions() == ["docs/a@0.1.0"]


@pytest.mark.row("E4")
def test_the_three_spellings_of_allowed_tools_are_one(tmp_path, team, root):
    said = ("allowed-tools: [Read, Grep]", "allowedTools: Read, Grep", "allowed_tools: Read Grep")
    files = {f"skills/s{n}/SKILL.md": skill_md(f"s{n}", more=f"{text}\n") for n, text in enumerate(said)}
    import_folder(root, team, write_tree(tmp_path, files))
    assert [v.manifest["allowed_tools"] for v in Version.objects.all()] == [["Read", "Grep"]] * 3


@pytest.mark.parametrize("pack", [zip_tree, tar_tree])
def test_a_repositorys_download_is_read_whole_its_links_included(team, root, pack):
    files = {
        "repo-main/README.md": "# Skills",
        "repo-main/plugins/x/skills/alpha/SKILL.md": skill_md("alpha"),
        "repo-main/deep/group/beta/SKILL.md": skill_md("beta"),
        "repo-main/.claude/skills/alpha": "->../../plugins/x/skills/alpha",
        "repo-main/.claude/skills/etc": "->/etc",
        "repo-main/skills/bad/SKILL.md": skill_md("bad"),
        "repo-main/skills/bad/link": "->/etc/passwd",
        "repo-main/odd: name?.txt": "not of a skill",
    }
    source = sources.prepare_source(root, team=team, kind="archive", location="repo.zip", content=pack(files))
    report = run_import.import_now(sources.save_source(source, root), root)
    assert outcomes(report) == {
        "plugins/x/skills/alpha": "published",
        "deep/group/beta": "published",
        ".claude/skills/alpha": "skipped",
        ".claude/skills/etc": "skipped",
        "skills/bad": "refused",
    }
    assert problem_codes(report)["skills/bad"] == ["ENTRY_LINK"]
    assert not_none(Skill.objects.get(slug="beta").latest).provenance["archive"] == "repo.zip"
    assert not any(run_import._root().iterdir())


@pytest.mark.parametrize("path", ["../out/SKILL.md", "/abs/SKILL.md", "a\\b/SKILL.md"])
def test_an_archive_that_leads_out_is_refused_before_anything_is_written(team, root, path, var_folder):
    content = tar_tree({path: skill_md("x"), "ok/SKILL.md": skill_md("ok")})
    source = sources.prepare_source(root, team=team, kind="archive", location="x.tgz", content=content)
    report = run_import.import_now(sources.save_source(source, root), root)
    assert report.status == ImportStatus.FAILED
    assert report.problems[0]["code"] in ("PATH_UNSAFE", "PATH_CHARACTERS")
    assert not Skill.objects.exists()
    assert not list(var_folder.rglob("*SKILL*"))


def test_a_link_in_an_archive_is_never_written_through(team, root, tmp_path):
    content = tar_tree({"skills/a": f"->{tmp_path}", "skills/a/SKILL.md": skill_md("a")})
    source = sources.prepare_source(root, team=team, kind="archive", location="x.tgz", content=content)
    run_import.import_now(sources.save_source(source, root), root)
    assert list(tmp_path.iterdir()) == []


def test_an_archive_that_is_nothing_but_a_link_leads_nowhere(team, root, tmp_path):
    write_tree(tmp_path, {"skills/secret/SKILL.md": skill_md("secret")})
    content = tar_tree({"around": f"->{tmp_path}"})
    source = sources.prepare_source(root, team=team, kind="archive", location="x.tgz", content=content)
    assert run_import.import_now(sources.save_source(source, root), root).status == ImportStatus.FAILED
    assert not Skill.objects.exists()


def test_an_archive_can_be_imported_again_since_its_bytes_are_kept(team, root):
    from registry.storage import blobs

    content = zip_tree({"a/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")})
    source = sources.save_source(
        sources.prepare_source(root, team=team, kind="archive", location="x.zip", content=content), root
    )
    run_import.import_now(source, root)
    blobs.sweep(grace=timedelta(0))
    assert set(outcomes(run_import.import_now(source, root)).values()) == {"unchanged"}


def test_a_dry_run_says_the_same_and_writes_nothing(tree, team, root):
    source = sources.prepare_source(root, team=team, kind="folder", location=str(tree))
    said = {
        row.path: (row.outcome, row.skill, row.version) for row in run_import.preview_import(source, root)
    }
    assert said[".claude/skills/alpha"] == ("published", "docs/alpha", "0.1.0")
    assert not Skill.objects.exists()
    assert not Source.objects.exists()
    assert not Import.objects.exists()


def test_a_place_without_any_skill_fails_with_what_to_name(tmp_path, team, root):
    report = import_folder(root, team, tmp_path)
    assert report.status == ImportStatus.FAILED
    assert report.problems[0]["code"] == "IMPORT_EMPTY"


def test_a_folder_of_the_server_is_administrators_alone(tree, team, alice, actor_of, root):
    with pytest.raises(Refusal) as refused:
        sources.prepare_source(actor_of(alice), team=team, kind="folder", location=str(tree))
    assert refused.value.code == "FORBIDDEN"
    hold = queue.start_import(save_folder_source(root, team, tree), root)
    run_import.run_import(hold, actor_of(alice))
    assert Import.objects.get().problems[0]["code"] == "FORBIDDEN"


def test_one_import_of_a_source_at_a_time(tree, team, root):
    source = save_folder_source(root, team, tree)
    queue.request_import(source, root)
    with pytest.raises(Refusal) as refused:
        queue.request_import(source, root)
    assert refused.value.code == "IMPORT_UNDER_WAY"


@pytest.mark.parametrize("after", [1, 2])
def test_an_import_whose_worker_died_goes_on_and_doubles_nothing(tree, team, root, monkeypatch, after):
    monkeypatch.setattr(run_import, "_BATCH", 1)
    source, real, done = save_folder_source(root, team, tree), run_import._publish_batch, []

    def dies(*arguments):
        if len(done) == after:
            raise SystemExit
        real(*arguments)
        done.append(1)

    hold = queue.start_import(source, root)
    with monkeypatch.context() as patched:
        patched.setattr(run_import, "_publish_batch", dies)
        with pytest.raises(SystemExit):
            run_import.run_import(hold, root)
    dead = queue.ImportLease(Import.objects.get(), 1)
    assert queue.claim_next(timezone.now()) is None, "its lease has not lapsed"
    later = timezone.now() + timedelta(minutes=2)
    hold = not_none(queue.claim_next(later))
    assert hold.attempt == 2
    assert not dead.renew()
    run_import.run_import(hold, root)
    report = Import.objects.get()
    assert (report.status, report.total, report.processed) == ("done", 2, 2)
    assert set(outcomes(report).values()) == {"published"}
    assert versions() == ["docs/alpha@0.1.0", "docs/beta@0.1.0"]


def test_a_worker_that_lost_its_import_writes_nothing_more(tree, team, root):
    hold = queue.start_import(save_folder_source(root, team, tree), root)
    queue.claim_next(timezone.now() + timedelta(minutes=2))
    run_import.run_import(hold, root)
    assert Import.objects.get().status == ImportStatus.RUNNING
    assert not Skill.objects.exists()


def test_an_import_that_ends_its_workers_each_time_fails(tree, team, root):
    queue.start_import(save_folder_source(root, team, tree), root)
    for minutes in (2, 4):
        assert queue.claim_next(timezone.now() + timedelta(minutes=minutes))
    assert queue.claim_next(timezone.now() + timedelta(minutes=6)) is None
    report = Import.objects.get()
    assert (report.status, report.problems[0]["code"]) == ("failed", "IMPORT_ERROR")


def test_what_only_the_portal_can_cause_is_told_without_a_traceback(tree, team, root, monkeypatch):
    monkeypatch.setattr(run_import, "plan_imports", lambda *a: 1 / 0)
    report = import_folder(root, team, tree)
    assert (report.status, report.problems[0]["code"]) == ("failed", "IMPORT_ERROR")


def test_only_the_last_reports_of_a_source_are_kept(tree, team, root, monkeypatch):
    monkeypatch.setattr(queue, "MAX_REPORTS", 2)
    for _ in range(3):
        import_folder(root, team, tree)
    assert Import.objects.count() == 2


def test_a_forgotten_source_leaves_its_skills(tree, team, root, bob, charlie, actor_of):
    source = import_folder(root, team, tree).source
    with pytest.raises(Refusal):
        sources.find_source(source.uid, actor_of(charlie))
    sources.remove_source(sources.find_source(source.uid, actor_of(bob)), actor_of(bob))
    assert Skill.objects.filter(origin=None).count() == 2
    assert not Import.objects.exists()
