"""Files as inputs: uploaded or taken from an earlier run, read-only in the run, private."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.packages.problems import Refusal
from registry.storage import blobs
from tests.checks import not_none
from worker.files import inputs
from worker.files.inputs import is_file_property, store_input
from worker.models import InputFile, Run
from worker.protocols.call import Request
from worker.runs.request import request_run
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("P10")]


@pytest.fixture
def upload(alice, actor_of):
    return lambda data=b"one", name="a.txt", by=None: store_input([data], name, actor_of(by or alice))


def _code(call, *args, **more):
    with pytest.raises(Refusal) as no:
        call(*args, **more)
    return no.value.code, no.value.problems[0].path


@pytest.mark.parametrize(
    ("key", "schema", "expected"),
    [
        ("input_path", None, True),
        ("data_file", {"type": "string"}, True),
        ("data", {"format": "binary"}, True),
        ("data", {"contentMediaType": "text/csv"}, True),
        ("name", None, False),
        ("input_path", {"type": "object"}, False),
        ("input_path", {"x-file": False}, False),
        ("profile", None, False),
    ],
)
def test_what_is_a_file(key, schema, expected):
    assert is_file_property(key, schema) is expected


def test_an_uploaded_file_lies_in_the_run_and_the_script_gets_its_path(hello, queue_run, upload):
    run = execute_here(queue_run(hello, {"input_path": {"input": upload("好".encode(), "报告.txt").uid}}))
    assert run.result["outputs"]["path"] == "/job/input/报告.txt"
    assert run.result["outputs"]["read"] == "好"


def test_a_script_cannot_change_its_input(publish_skill, queue_run, upload):
    script = """
        import os, sys
        for act in (lambda: open(sys.argv[2], "w"), lambda: os.remove(sys.argv[2])):
            try:
                act()
            except OSError:
                print("kept")
    """
    run = execute_here(queue_run(publish_skill("vandal", script), {"input_path": {"input": upload().uid}}))
    assert bytes(not_none(run.log_chunks.first()).data) == b"kept\nkept\n"


def test_an_artifact_of_an_earlier_run_is_an_input(hello, queue_run):
    first = execute_here(queue_run(hello, {"output_dir": "", "who": "Ada"}))
    run = execute_here(queue_run(hello, {"input_path": {"artifact": f"{first.uid}/deep/hello.txt"}}))
    assert run.result["outputs"]["read"] == "hello Ada"


def test_a_plain_string_is_passed_as_it_is(hello, queue_run):
    assert queue_run(hello, {"input_path": "some/where"}).files == []


def test_an_object_for_a_key_that_is_no_file_is_passed_as_it_is(hello, queue_run):
    assert queue_run(hello, {"who": {"input": "x"}}).files == []


def test_two_files_of_one_name_both_keep_it(hello, queue_run, upload):
    given = {"input_path": {"input": upload(b"1").uid}, "more_path": {"input": upload(b"2").uid}}
    assert [use["path"] for use in queue_run(hello, given).files] == [
        "/job/input/a.txt",
        "/job/input/2/a.txt",
    ]


def test_another_persons_upload_is_as_if_it_were_not(hello, queue_run, upload, bob):
    theirs = upload(by=bob)
    absent = _code(queue_run, hello, {"input_path": {"input": "nothing"}})
    assert (
        _code(queue_run, hello, {"input_path": {"input": theirs.uid}})
        == absent
        == ("INPUT_NOT_FOUND", "/input_path")
    )


def test_an_artifact_of_a_run_that_one_may_not_read_is_as_if_it_were_not(hello, queue_run, bob):
    first = execute_here(queue_run(hello, {"output_dir": ""}))
    named = {"input_path": {"artifact": f"{first.uid}/deep/hello.txt"}}
    assert _code(queue_run, hello, named, by=bob)[0] == "INPUT_NOT_FOUND"


def test_an_expired_upload_is_swept_but_a_run_again_still_has_it(hello, queue_run, upload, alice, actor_of):
    given = {"input_path": {"input": upload(b"kept").uid}}
    first = execute_here(queue_run(hello, given))
    InputFile.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert _code(queue_run, hello, given)[0] == "INPUT_NOT_FOUND"
    assert inputs.sweep() == 1
    blobs.sweep(grace=timedelta(0))
    actor = actor_of(alice)
    again = request_run(actor=actor, version=hello, request=Request(inputs=given), rerun_of=first)
    assert execute_here(again).result["outputs"]["read"] == "kept"


def test_an_unused_upload_goes_with_its_bytes(upload):
    digest = upload(b"nobody").digest
    InputFile.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    inputs.sweep()
    blobs.sweep(grace=timedelta(0))
    assert not blobs.exists(digest)


def test_an_upload_past_the_limit_is_refused_and_leaves_nothing(upload, settings):
    settings.SKILLQUAY_MAX_INPUT_BYTES = 3
    assert _code(upload, b"four")[0] == "INPUT_TOO_LARGE"
    assert not InputFile.objects.exists()


@pytest.mark.parametrize("name", ["", "..", "a\x00b", "x" * 256, "\u202etxt"])
def test_names_that_cannot_be_files_are_refused(upload, name):
    assert _code(upload, name=name)[0] == "INPUT_NAME_INVALID"


def test_folders_in_a_name_are_left_out(upload):
    assert upload(name="C:\\docs\\plan.txt").name == "plan.txt"


def test_digests_in_use_are_named_to_the_storage(hello, queue_run, upload):
    digest = upload(b"used").digest
    run = execute_here(
        queue_run(hello, {"output_dir": "", "input_path": {"input": InputFile.objects.get().uid}})
    )
    InputFile.objects.all().delete()
    blobs.sweep(grace=timedelta(0))
    assert blobs.exists(digest)
    assert blobs.exists(run.artifacts.get().digest)
    Run.objects.all().delete()
    blobs.sweep(grace=timedelta(0))
    assert not blobs.exists(digest)
