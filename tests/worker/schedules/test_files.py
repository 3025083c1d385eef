"""Files that schedules keep for their runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from registry.accounts import service_accounts
from registry.erasure import hooks
from registry.models import Role
from registry.packages.problems import Refusal
from registry.storage import blobs
from tests.factories.runs import make_run
from worker.files import inputs
from worker.files.inputs import store_input
from worker.models import Artifact, InputFile, Run, Schedule
from worker.retention.erase import erase_run
from worker.schedules import change, erase
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("B7", "P10")]


@pytest.fixture
def upload(alice, actor_of):
    """``upload(data, name)``: the reference to a new upload of Alice, or of ``by``."""

    def make(data=b"one", name="a.txt", by=None):
        return {"input": store_input([data], name, actor_of(by or alice)).uid}

    return make


def expire_uploads():
    """Removes the uploads, and all content that nothing refers to."""
    InputFile.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    inputs.sweep()
    blobs.sweep(grace=timedelta(0))


def digest_of(schedule):
    return schedule.files[0]["digest"]


def with_inputs(schedule, actor, values):
    """The options of the schedule with other inputs."""
    options = change.options_of(schedule, actor)
    return replace(options, request=replace(options.request, inputs=values))


def test_run_of_a_schedule_gets_the_file_after_its_upload_has_expired(
    make_schedule, hello, upload, schedule_clock
):
    make_schedule(hello, {"input_path": upload("好".encode(), "报告.txt")})
    expire_uploads()
    schedule_clock.fire(minutes=1)
    run = execute_here(Run.objects.get())
    assert run.result["outputs"] | {"path": "/job/work/报告.txt", "read": "好"} == run.result["outputs"]


def test_run_as_a_service_account_gets_the_file_of_the_editor(
    make_schedule, hello, upload, schedule_clock, alice, team, actor_of
):
    account = service_accounts.create(team, "nightly", Role.MEMBER, actor_of(alice)).user
    make_schedule(hello, {"input_path": upload()}, run_as=account.username)
    schedule_clock.fire(minutes=1)
    run = Run.objects.get()
    assert (run.caller, [file["path"] for file in run.files]) == (account, ["/job/work/a.txt"])


def test_file_of_another_person_is_refused_with_its_place(make_schedule, hello, upload, bob):
    with pytest.raises(Refusal) as refused:
        make_schedule(hello, {"input_path": upload(by=bob)})
    assert (refused.value.code, refused.value.problems[0].path) == ("INPUT_NOT_FOUND", "/input_path")
    assert not Schedule.objects.exists()


def test_artifact_is_kept_after_its_run_was_erased(
    make_schedule, hello, queue_run, schedule_clock, alice, actor_of
):
    first = execute_here(queue_run(hello, {"output_dir": "", "who": "Ada"}))
    make_schedule(hello, {"input_path": {"artifact": f"{first.uid}/deep/hello.txt"}})
    erase_run(first, actor=actor_of(alice))
    blobs.sweep(grace=timedelta(0))
    assert not Artifact.objects.exists()
    schedule_clock.fire(minutes=1)
    assert execute_here(Run.objects.exclude(pk=first.pk).get()).result["outputs"]["read"] == "hello Ada"


def test_edit_keeps_files_even_if_their_upload_has_expired(make_schedule, hello, upload, alice, actor_of):
    reference = upload()
    schedule = make_schedule(hello, {"input_path": reference})
    expire_uploads()
    actor = actor_of(alice)
    edited = change.edit(schedule, replace(change.options_of(schedule, actor), name="Renamed"), actor)
    edited = change.edit(edited, with_inputs(edited, actor, {"input_path": reference, "who": "Bob"}), actor)
    assert (edited.name, edited.request["inputs"]["who"]) == ("Renamed", "Bob")
    assert edited.files == schedule.files
    with pytest.raises(Refusal) as refused:
        make_schedule(hello, {"input_path": reference})
    assert refused.value.code == "INPUT_NOT_FOUND"


def test_paused_schedule_is_resumed_with_its_files(make_schedule, hello, upload, alice, actor_of):
    schedule = make_schedule(hello, {"input_path": upload()})
    expire_uploads()
    change.pause(schedule, actor_of(alice))
    assert change.resume(schedule, actor_of(alice)).files == schedule.files


def test_content_of_a_replaced_file_is_removed_and_the_new_one_is_kept(
    make_schedule, hello, upload, alice, actor_of
):
    schedule, actor = make_schedule(hello, {"input_path": upload(b"old")}), actor_of(alice)
    old = digest_of(schedule)
    edited = change.edit(schedule, with_inputs(schedule, actor, {"input_path": upload(b"new")}), actor)
    expire_uploads()
    assert [blobs.exists(old), blobs.read(digest_of(edited))] == [False, b"new"]
    new = digest_of(edited)
    assert change.edit(edited, with_inputs(edited, actor, {}), actor).files == []
    expire_uploads()
    assert not blobs.exists(new)


def test_files_of_a_deleted_schedule_are_kept_until_its_row_is_removed(
    make_schedule, hello, upload, alice, actor_of
):
    schedule, actor = make_schedule(hello, {"input_path": upload()}), actor_of(alice)
    change.delete(schedule, actor)
    expire_uploads()
    assert blobs.exists(digest_of(change.restore(schedule.uid, actor)))
    change.delete(schedule, actor)
    Schedule.objects.update(deleted_at=timezone.now() - erase.KEEP_DELETED - timedelta(minutes=1))
    erase.sweep()
    blobs.sweep(grace=timedelta(0))
    assert not blobs.exists(digest_of(schedule))


@pytest.mark.row("P12")
def test_erased_person_leaves_no_files_of_their_schedules(
    make_schedule, hello, upload, alice, django_capture_on_commit_callbacks
):
    schedule = make_schedule(hello, {"input_path": upload()})
    exported = next(iter(hooks.export_person(alice)["schedules"]))
    assert [file["name"] for file in exported["files"]] == ["a.txt"]
    expire_uploads()
    with django_capture_on_commit_callbacks(execute=True):
        hooks.discard_on_commit(hooks.erase_person(alice))
    assert not blobs.exists(digest_of(schedule))


@pytest.mark.row("P12")
def test_erasure_during_a_run_leaves_equal_content_to_the_sweep(make_schedule, hello, upload, alice, bob):
    schedule = make_schedule(hello, {"input_path": upload()})
    make_run(hello, bob, None, status="running")
    assert digest_of(schedule) not in erase.erase_person(alice)
