"""Imports and sources by the API: asked for, done elsewhere, read with their rows, private to the team."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.utils import timezone

from registry.imports import queue
from registry.imports.run_import import run_import
from registry.models import Import, Skill, Source
from tests.api.conftest import assert_error, session_api
from tests.factories.trees import skill_md, tar_tree, write_tree, zip_tree
from worker.service.import_jobs import import_waiting

pytestmark = [pytest.mark.row("D3", "P3", "P2"), pytest.mark.django_db]


@pytest.fixture
def tree(tmp_path):
    return write_tree(tmp_path, {"skills/a/SKILL.md": skill_md("a"), "skills/b/notes.txt": ""})


@pytest.fixture
def as_root(administrator):
    return session_api(administrator)


def asked(tree, **more):
    return {"team": "docs", "kind": "folder", "location": str(tree), **more}


def archived(api, content, **more):
    return api.post("imports?team=docs&filename=skills.zip", content, kind="application/zip", **more)


def test_an_import_is_accepted_done_by_a_worker_and_read_with_its_rows(as_root, team, tree):
    answer = as_root.post("imports", asked(tree))
    assert answer.status_code == 202
    queued = answer.json()
    assert (queued["status"], answer["Location"]) == ("queued", queued["url"])
    assert import_waiting() == 1
    report = as_root.get(f"imports/{queued['id']}").json()
    assert (report["status"], report["total"], report["processed"]) == ("done", 2, 2)
    assert report["counts"] == {"published": 1, "unchanged": 0, "skipped": 1, "refused": 0}
    assert [(row["path"], row["outcome"], row["skill"]) for row in report["rows"]] == [
        ("skills/a", "published", "docs/a"),
        ("skills/b", "skipped", ""),
    ]
    assert report["rows"][1]["problems"][0]["code"] == "IMPORT_NO_SKILL_MD"
    assert as_root.get("skills/docs/a").json()["source"] == "disk"


@pytest.mark.parametrize("pack", [zip_tree, tar_tree])
def test_a_member_sends_an_archive_and_imports_it_again(as_bob, team, pack):
    content = pack({"r/skills/a/SKILL.md": skill_md("a"), "r/skills/b/SKILL.md": skill_md("b")})
    document = archived(as_bob, content).json()
    import_waiting()
    again = as_bob.post(f"sources/{document['source']['id']}/imports")
    assert again.status_code == 202
    import_waiting()
    assert as_bob.get(f"imports/{again.json()['id']}").json()["counts"]["unchanged"] == 2
    assert [each["id"] for each in as_bob.get("imports").json()["items"]] == [
        again.json()["id"],
        document["id"],
    ]


def test_rows_come_in_pages_and_by_outcome(as_bob, team):
    files = {f"skills/s{n}/SKILL.md": skill_md(f"s{n}") for n in range(5)}
    uid = archived(as_bob, zip_tree(files)).json()["id"]
    import_waiting()
    first = as_bob.get(f"imports/{uid}?limit=3").json()
    rest = as_bob.get(f"imports/{uid}?limit=3&cursor={first['next_cursor']}").json()
    assert [row["path"] for row in first["rows"] + rest["rows"]] == [f"skills/s{n}" for n in range(5)]
    assert rest["next_cursor"] is None
    assert as_bob.get(f"imports/{uid}?outcome=refused").json()["rows"] == []


def test_a_source_tells_how_far_it_and_its_skills_have_gone_apart(as_bob, as_charlie, team, publish):
    source = archived(as_bob, zip_tree({"a/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")})).json()[
        "source"
    ]
    import_waiting()
    found = as_bob.get(f"sources/{source['id']}/drift").json()
    assert (found["current_revision"], found["has_changes"], found["overwritten_by"]) == (None, None, [])
    publish({"SKILL.md": skill_md("a") + "By hand.\n"}, version="2.0.0")
    assert as_bob.get(f"sources/{source['id']}/drift").json()["overwritten_by"] == ["docs/a"]
    assert_error(as_charlie.get(f"sources/{source['id']}/drift"), 404, "NOT_FOUND")


def test_the_same_request_twice_is_one_import(as_bob, team):
    content = zip_tree({"a/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")})
    first, second = (archived(as_bob, content, headers={"Idempotency-Key": "once"}) for _ in range(2))
    assert first.json()["id"] == second.json()["id"]
    assert Import.objects.count() == 1
    assert_error(archived(as_bob, content), 409, "IMPORT_UNDER_WAY")


def test_a_folder_of_the_server_is_administrators_alone(as_alice, as_root, team, tree):
    assert_error(as_alice.post("imports", asked(tree)), 403, "FORBIDDEN")
    assert not Source.objects.exists()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"kind": "archive"}, "FIELD_INVALID"),
        ({"location": "/nowhere/at/all"}, "IMPORT_LOCATION"),
        ({"location": "a\\u0000b"}, "IMPORT_LOCATION"),
        ({"options": {"odd": True}}, "IMPORT_OPTION"),
        ({"options": {"recursive": "yes"}}, "IMPORT_OPTION"),
        ({"interval_s": 3600}, "IMPORT_INTERVAL"),
        ({"visibility": "secret"}, "FIELD_INVALID"),
        ({"more": 1}, "FIELD_UNKNOWN"),
    ],
)
def test_what_cannot_be_imported_is_refused_with_its_place(as_root, team, tree, change, code):
    assert_error(as_root.post("imports", {**asked(tree), **change}), 422, code)
    assert not Source.objects.exists()


def test_an_archive_needs_bytes_and_a_team(as_bob, team):
    assert_error(as_bob.post("imports", "", kind="application/zip"), 400, "UPLOAD_EMPTY")
    assert_error(as_bob.post("imports", b"PK", kind="application/zip"), 422, "TEAM_REQUIRED")
    assert_error(as_bob.post("imports", b"x", kind="text/csv"), 415, "MEDIA_TYPE_UNSUPPORTED")


def form(content=None, **fields):
    """The content type and the body of a form with an archive."""
    file = {} if content is None else {"archive": SimpleUploadedFile("skills.zip", content)}
    return MULTIPART_CONTENT, encode_multipart(BOUNDARY, {**fields, **file})


def test_archive_in_a_form_is_imported_like_one_in_the_body(as_bob, team):
    content = zip_tree({"a/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")})
    kind, body = form(content, team="docs")
    first, second = (
        as_bob.post("imports", body, kind=kind, headers={"Idempotency-Key": "once"}) for _ in range(2)
    )
    assert (first.status_code, second.json()["id"]) == (202, first.json()["id"])
    assert first.json()["source"]["location"] == "skills.zip"
    import_waiting()
    assert as_bob.get(f"imports/{first.json()['id']}").json()["counts"]["published"] == 2


@pytest.mark.parametrize(
    ("content", "fields", "status", "code"),
    [
        (None, {"team": "docs"}, 400, "UPLOAD_EMPTY"),
        (b"", {"team": "docs"}, 400, "UPLOAD_EMPTY"),
        (b"PK", {}, 422, "TEAM_REQUIRED"),
        (b"PK", {"team": "docs", "visibility": "secret"}, 400, "QUERY_INVALID"),
        (b"x" * 2000, {"team": "docs"}, 413, "BODY_TOO_LARGE"),
    ],
)
def test_invalid_form_is_refused(as_bob, team, settings, content, fields, status, code):
    settings.SKILLQUAY_MAX_IMPORT_ARCHIVE_BYTES = 1024
    kind, body = form(content, **fields)
    assert_error(as_bob.post("imports", body, kind=kind), status, code)
    assert not Import.objects.exists()


def test_only_a_maintainer_imports_for_others_to_see(as_alice, as_bob, team):
    content = zip_tree({"a/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")})
    path = "imports?team=docs&filename=x.zip&visibility=site"
    assert_error(as_bob.post(path, content, kind="application/zip"), 403, "FORBIDDEN")
    assert as_alice.post(path, content, kind="application/zip").status_code == 202
    import_waiting()
    assert set(Skill.objects.values_list("visibility", flat=True)) == {"site"}


def test_a_token_that_may_only_read_imports_nothing(token_api, bob, team):
    assert_error(
        archived(token_api(bob, "read"), zip_tree({"a/SKILL.md": skill_md("a")})), 403, "TOKEN_SCOPE_MISSING"
    )


def test_a_source_is_forgotten_and_its_skills_stay(as_bob, as_charlie, team):
    uid = archived(as_bob, zip_tree({"a/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")})).json()[
        "source"
    ]["id"]
    import_waiting()
    assert_error(as_charlie(method := "DELETE", f"sources/{uid}"), 404, "NOT_FOUND")
    assert as_bob(method, f"sources/{uid}").status_code == 204
    assert_error(as_bob.get(f"sources/{uid}"), 404, "NOT_FOUND")
    assert as_bob.get("skills/docs/a").status_code == 200


def test_a_stranger_finds_neither_imports_nor_sources(as_bob, as_charlie, anonymous, team):
    document = archived(as_bob, zip_tree({"a/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")})).json()
    assert as_charlie.get("imports").json()["items"] == as_charlie.get("sources").json()["items"] == []
    assert_error(as_charlie.get(f"imports/{document['id']}"), 404, "NOT_FOUND")
    assert_error(as_charlie.post(f"sources/{document['source']['id']}/imports"), 404, "NOT_FOUND")
    assert_error(
        as_charlie.post("imports?team=docs", zip_tree({"a/SKILL.md": ""}), kind="application/zip"),
        404,
        "NOT_FOUND",
    )
    assert_error(anonymous.get("imports"), 401, "SIGN_IN_REQUIRED")


def test_who_left_meanwhile_imports_nothing(as_bob, bob, team):
    uid = archived(as_bob, zip_tree({"a/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")})).json()["id"]
    bob.memberships.all().delete() if hasattr(bob, "memberships") else bob.membership_set.all().delete()
    import_waiting()
    report = Import.objects.get(uid=uid)
    assert report.status == "failed"
    assert not Skill.objects.exists()
    Import.objects.filter(uid=uid).update(status="queued")
    bob.is_active = False
    bob.save()
    import_waiting()
    assert Import.objects.get(uid=uid).problems[0]["code"] == "IMPORT_USER_MISSING"


def test_asking_wakes_a_worker_once_it_is_committed(
    as_bob, team, monkeypatch, django_capture_on_commit_callbacks
):
    woken = []
    monkeypatch.setattr(queue.import_requested, "receivers", [lambda: woken.append(1)])
    with django_capture_on_commit_callbacks(execute=True):
        archived(as_bob, zip_tree({"a/SKILL.md": skill_md("a")}))
    assert woken == [1]


@pytest.mark.parametrize("is_running", [False, True])
def test_cancelled_import_publishes_nothing_more(as_bob, as_charlie, team, is_running):
    uid = archived(as_bob, zip_tree({"skills/a/SKILL.md": skill_md("a")})).json()["id"]
    lease = queue.claim_next(timezone.now()) if is_running else None
    assert as_charlie.post(f"imports/{uid}/cancel").status_code == 404
    report = as_bob.post(f"imports/{uid}/cancel").json()
    assert (report["status"], report["problems"][0]["code"]) == ("failed", "IMPORT_CANCELLED")
    assert report["finished_at"]
    if lease:
        run_import(lease, queue.requesting_actor(lease))
    assert import_waiting() == 0
    assert not Skill.objects.exists()
    assert as_bob.get(f"imports/{uid}").json()["problems"][0]["code"] == "IMPORT_CANCELLED"


def test_ended_import_is_not_cancelled(as_bob, team):
    uid = archived(as_bob, zip_tree({"skills/a/SKILL.md": skill_md("a")})).json()["id"]
    import_waiting()
    assert as_bob.post(f"imports/{uid}/cancel").json()["status"] == "done"
