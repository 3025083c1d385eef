"""Pages of run batches: the forms that lead to them, the confirmation, the progress, cancel and undo."""

from __future__ import annotations

import pytest
from django.utils import timezone

from registry.models import Version
from tests.factories.runs import make_run
from tests.factories.skills import publish_files
from tests.pages import actions, codes, part, parts, select
from worker.models import ErrorGroup, Run, RunBatch
from worker.run_batches.loop import process_all

pytestmark = [pytest.mark.django_db, pytest.mark.row("P5")]


def files(number="1.2.0"):
    head = f"---\nname: hello\ndescription: For tests.\nversion: {number}\n---\n# Hello\n"
    return {"SKILL.md": head.encode(), "scripts/hello.py": b"print('hello')\n"}


@pytest.fixture
def version(team, alice):
    return publish_files(files(), team=team, user=alice)


@pytest.fixture
def failed(version, alice, team):
    request = {"inputs": {}, "arguments": []}
    return [make_run(version, alice, team, status="failed", request=request) for _ in range(2)]


def hidden_fields(form):
    return {
        tag.attributes["name"]: tag.attributes["value"]
        for tag in form.tags("input")
        if tag.attributes.get("type") == "hidden" and tag.attributes["name"] != "csrfmiddlewaretoken"
    }


def test_filtered_list_leads_to_a_confirmed_batch_that_can_be_undone(failed, version, alice, browse):
    client = browse(alice)
    assert parts(client.get("/runs/"), "batch-form") == []
    page = client.get("/runs/?status=failure")
    assert set(actions(page)) >= {"repeat-all"}
    assert "cancel-all" not in actions(page)
    fields = hidden_fields(part(page, "batch-form"))
    assert fields == {"status": "failure"}
    page = client.get("/runs/batches/new/", fields | {"action": "repeat", "to_version": "newest"})
    assert part(page, "preview")["value"] == "2"
    assert {row["value"] for row in parts(page, "sample")} == {run.uid for run in failed}
    assert part(page, "filter")["value"] == "status until"
    assert part(page, action="back")["href"] == "/runs/?status=failure"
    assert "#1" in parts(page, "sample")[0]
    form = {**hidden_fields(part(page, "preview")), "to_version": "newest"}
    make_run(version, alice, version.skill.team, status="failed", created_at=timezone.now())  # too late
    address = client.post("/runs/batches/new/", form)["Location"]
    batch = RunBatch.objects.get()
    assert address == f"/runs/batches/{batch.uid}/"
    page = client.get(address)
    assert part(page, "batch")["state"] == "queued"
    assert select(page, "section", id="batch")[0].attributes["data-refresh"]
    assert set(actions(page)) >= {"cancel-batch", "confirm"}
    process_all()
    page = client.get(address)
    assert (part(page, "batch")["state"], part(page, "worked")["value"]) == ("done", "2")
    assert [row["state"] for row in parts(page, "item")] == ["done", "done"]
    Run.objects.filter(pk=Run.objects.latest("pk").pk).update(status="succeeded")
    page = client.get(address)
    assert {each["state"]: each["value"] for each in parts(page, "outcome")} == {
        "queued": "1",
        "succeeded": "1",
    }
    assert len(parts(client.get(address + part(page, "outcome", state="queued")["href"]), "item")) == 1
    assert "cancel-batch" not in actions(page)
    page = client.post(f"{address}cancel/", {"undo": "1"}, follow=True)
    assert part(page, "undone")
    assert "confirm" not in actions(page)
    new = Run.objects.filter(rerun_of__in=failed)
    assert set(new.values_list("status", flat=True)) == {"cancelled", "succeeded"}
    listed = client.get("/runs/batches/")
    assert [row["value"] for row in parts(listed, "batch")] == [batch.uid]


def test_selected_runs_are_repeated_with_edited_inputs(version, alice, team, browse):
    client = browse(alice)
    runs = [
        make_run(version, alice, team, status="failed", request={"inputs": {"items": n, "keep": "x"}})
        for n in range(3)
    ]
    chosen = [run.uid for run in runs[:2]]
    selection = {"run": chosen, "action": "edit", "next": "/runs/?status=failed"}
    page = client.get(client.post("/runs/actions/", selection)["Location"])
    assert part(page, "preview")["value"] == "2"
    assert "open" in part(page, "edit-inputs").attributes
    hidden = hidden_fields(part(page, "preview"))
    wrong = client.post("/runs/batches/new/", {**hidden, "to_version": "same", "inputs": "[", "preview": "1"})
    assert wrong.status_code == 422
    assert "confirm" not in actions(wrong)
    changes = '{"items": 7, "gone": null}'
    changed = {**hidden, "to_version": "newest", "inputs": changes}
    page = client.post("/runs/batches/new/", changed)  # without a look at the preview
    assert part(page, "not-started")
    page = client.post("/runs/batches/new/", {**changed, "preview": "1"})
    assert not RunBatch.objects.exists()
    assert part(page, action="back")["href"] == "/runs/?status=failed"
    assert part(page, "to-version")["value"] == "newest"
    assert [each["code"] for each in parts(page, "changed-input")] == ["items", "gone"]
    assert [each["code"] for each in parts(page, "replaced")] == ["items", "items"]
    confirm = {**changed, **hidden_fields(part(page, "preview"))}
    page = client.post("/runs/batches/new/", confirm, follow=True)
    assert [each["code"] for each in parts(page, "changed-input")] == ["items", "gone"]
    process_all()
    new = Run.objects.filter(rerun_of__uid__in=chosen)
    assert [run.request["inputs"] for run in new] == [{"items": 7, "keep": "x"}] * 2


def test_active_runs_of_a_skill_are_cancelled(version, alice, bob, team, browse):
    own, _ = (make_run(version, user, team, status="queued", attempt=0) for user in (bob, alice))
    client = browse(bob)
    page = client.get(f"/skills/{version.skill}/runs/")
    assert set(actions(page)) >= {"cancel-all"}
    fields = hidden_fields(part(page, "batch-form"))
    page = client.get("/runs/batches/new/", fields | {"action": "cancel", "to_version": "same"})
    assert part(page, "preview")["value"] == "1"
    assert [(row["code"], row["value"]) for row in parts(page, "reason")] == [("RUN_BATCH_NOT_ALLOWED", "1")]
    client.post("/runs/batches/new/", hidden_fields(part(page, "preview")))
    batch = RunBatch.objects.get()
    client.post(f"/runs/batches/{batch.uid}/cancel/")
    page = client.get(f"/runs/batches/{batch.uid}/?state=skipped")
    assert part(page, "batch")["state"] == "cancelled"
    assert len(parts(page, "item")) == 2
    own.refresh_from_db()
    assert own.status == "queued"
    assert browse(alice).get(f"/runs/batches/{batch.uid}/").status_code == 404


def test_error_group_runs_again_on_a_version(failed, version, alice, browse):
    now = failed[0].finished_at
    group = ErrorGroup.objects.create(
        key="k", skill=version.skill, failure_code="SCRIPT_FAILED", count=2, first_seen=now, last_seen=now
    )
    Run.objects.filter(pk=failed[0].pk).update(error_key="k")
    client = browse(alice)
    form = part(client.get(f"/failures/{group.uid}/"), "batch-form")
    assert hidden_fields(form) == {"error_group": group.uid}
    assert "1" not in form.part(action="repeat-all")  # no count for a single run
    assert version.number in [option.attributes["value"] for option in form.tags("option")]
    query = {"error_group": group.uid, "action": "repeat", "to_version": version.number}
    page = client.get("/runs/batches/new/", query)
    assert [row["value"] for row in parts(page, "sample")] == [failed[0].uid]
    assert part(page, "to-version")["value"] == version.number


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("action=repeat", "RUN_BATCH_FILTER_REQUIRED"),
        ("action=repeat&status=failure&colour=red", "FIELD_UNKNOWN"),
        ("action=erase&status=failure", "FIELD_INVALID"),
        ("action=repeat&status=failure&to_version=x", "RUN_BATCH_VERSION"),
    ],
)
def test_invalid_batch_is_refused_with_its_code(failed, alice, browse, query, code):
    client = browse(alice)
    assert code in codes(client.get(f"/runs/batches/new/?{query}", follow=True))


@pytest.mark.parametrize(
    ("criteria", "code"),
    [("[[[", "FIELD_INVALID"), ("{}", "RUN_BATCH_FILTER_REQUIRED"), ('{"x": 1}', "FIELD_INVALID")],
)
def test_forged_filter_is_refused(failed, alice, browse, criteria, code):
    page = browse(alice).post("/runs/batches/new/", {"action": "repeat", "filter": criteria}, follow=True)
    assert code in codes(page)
    assert not RunBatch.objects.exists()


def test_run_is_repeated_on_the_newest_version(failed, version, alice, team, browse):
    client, address = browse(alice), f"/runs/{failed[0].uid}/"
    assert "run-newest" not in actions(client.get(address))
    newest = publish_files(files("1.3.0"), team=team, user=alice)
    for yanked_at, shown in (
        (None, ("run-again", "run-newest")),
        (timezone.now(), ("run-newest", "run-again")),
    ):
        Version.objects.filter(number=failed[0].version_number).update(yanked_at=yanked_at)
        page = client.get(address)
        forms = [form.tags("button")[0] for form in select(page, "form", action=f"{address}rerun/")]
        assert tuple(button["action"] for button in forms) == shown
        assert ["primary" in button["class"] for button in forms] == [True, False]
        assert shown[1] in actions(part(page, "more-actions"))
    client.post(f"{address}rerun/", {"newest": "1"})
    assert Run.objects.get(rerun_of=failed[0]).version_number == newest.number


def test_preview_of_many_skips_is_small_and_needs_few_queries(
    version, alice, team, browse, django_assert_max_num_queries
):
    runs = [make_run(version, alice, team, status="failed", request={"inputs": {}}) for _ in range(60)]
    for number, run in enumerate(runs):
        Run.objects.filter(pk=run.pk).update(version_number=f"7.{number}.0")
    client, address = browse(alice), "/runs/batches/new/?status=failure&action=repeat"
    client.get(address)
    with django_assert_max_num_queries(8):
        page = client.get(address)
    assert len(parts(page, "reason")) == 30
    assert part(page, "omitted")["value"] == "30"
    assert len(page.content) < 60_000


def test_confirmation_counts_the_runs_per_skill(failed, version, alice, team, browse):
    other = publish_files(
        {"SKILL.md": files()["SKILL.md"].replace(b"name: hello", b"name: other"), "scripts/o.py": b""},
        team=team,
        user=alice,
    )
    for _ in range(7):
        make_run(other, alice, team, status="failed", request={"inputs": {}})
    page = browse(alice).get("/runs/batches/new/?status=failure&action=repeat")
    found = [(row["code"], row["value"]) for row in parts(page, "skill-runs")]
    assert found == [("docs/other", "7"), ("docs/hello", "2")]
    assert part(page, "more-samples").tag == "details"
    assert len(parts(page, "sample")) == 9
    assert len(part(page, "more-samples").parts("sample")) == 4


def test_batch_shows_its_first_runs_and_all_on_request(failed, version, alice, team, browse):
    for _ in range(10):
        make_run(version, alice, team, status="failed", request={"inputs": {}})
    client = browse(alice)
    page = client.get("/runs/batches/new/?status=failure&action=repeat")
    address = client.post("/runs/batches/new/", hidden_fields(part(page, "preview")))["Location"]
    page = client.get(address)
    assert len(parts(page, "item")) == 10
    link = part(page, action="show-all")["href"]
    page = client.get(address + link.partition("#")[0])
    assert len(parts(page, "item")) == 12
    assert "show-all" not in actions(page)
    assert len(parts(client.get(f"{address}?state=pending"), "item")) == 12


def test_every_button_that_cancels_runs_uses_the_same_verb(version, alice, team, browse):
    run = make_run(version, alice, team, status="running")
    client = browse(alice)
    page = client.get("/runs/batches/new/?status=running&action=cancel")
    address = client.post("/runs/batches/new/", hidden_fields(part(page, "preview")))["Location"]
    buttons = (
        (f"/runs/{run.uid}/", "stop"),
        ("/runs/", "cancel-selected"),
        ("/runs/?status=running", "cancel-all"),
        (address, "cancel-batch"),
    )
    verbs = {part(client.get(path), action=name).text.split()[0] for path, name in buttons}
    assert len(verbs) == 1
