"""Files as inputs: uploaded or taken from an earlier run, copied for each run, private."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from registry.packages.problems import Refusal
from registry.storage import blobs
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
    assert run.result["outputs"]["path"] == "/job/work/报告.txt"
    assert run.result["outputs"]["read"] == "好"


def test_script_changes_its_own_copy_of_an_input(publish_skill, queue_run, upload):
    version = publish_skill("vandal", "import sys; open(sys.argv[2], 'w').write('changed')")
    given = upload()
    run = execute_here(queue_run(version, {"input_path": {"input": given.uid}}))
    assert run.status == "succeeded", run.message
    assert blobs.read(given.digest) == b"one"
    assert blobs.read(run.artifacts.get(path="a.txt").digest) == b"changed"


def test_an_artifact_of_an_earlier_run_is_an_input(hello, queue_run):
    first = execute_here(queue_run(hello, {"output_dir": "", "who": "Ada"}))
    run = execute_here(queue_run(hello, {"input_path": {"artifact": f"{first.uid}/deep/hello.txt"}}))
    assert run.result["outputs"]["read"] == "hello Ada"


def test_a_plain_string_is_passed_as_it_is(hello, queue_run):
    assert queue_run(hello, {"input_path": "some/where"}).files == []


@pytest.mark.parametrize(
    "value",
    [
        {"input": "x"},
        {"input": "two words"},
        {"artifact": "nothing"},
        {"artifact": "a" * 26},
        {"input": "i" * 26},
        {"input": 1},
        {"input": "a" * 26, "name": "b"},
    ],
)
def test_object_without_the_form_of_a_reference_passes_unchanged(hello, queue_run, value):
    run = queue_run(hello, {"who": value, "input_path": value}, arguments=[value])
    assert run.files == []
    assert run.request["arguments"] == [value]


def test_reference_is_a_file_under_any_key_and_at_any_depth(publish_skill, queue_run, upload):
    version = publish_skill("echo", "import json, sys; print(json.dumps({'argv': sys.argv[1:]}))")
    one, two = {"input": upload(b"1", "1.txt").uid}, {"input": upload(b"2", "2.txt").uid}
    run = execute_here(queue_run(version, {"any": one, "deep": {"a/b": [two]}}, arguments=["-o", two]))
    argv = run.result["outputs"]["argv"]
    assert argv[:4] == ["-o", "/job/work/2.txt", "--any", "/job/work/1.txt"]
    assert json.loads(argv[5]) == {"a/b": ["/job/work/2.txt"]}
    assert [use["pointer"] for use in run.files] == ["/any", "/deep/a~1b/0", "arguments/1"]


def test_missing_file_is_named_by_its_place_among_the_arguments(hello, queue_run):
    refused = _code(queue_run, hello, arguments=["a", {"input": "a" * 26}])
    assert refused == ("INPUT_NOT_FOUND", "arguments/1")


def test_two_files_of_one_name_both_keep_it(hello, queue_run, upload):
    given = {"input_path": {"input": upload(b"1").uid}, "more_path": {"input": upload(b"2").uid}}
    assert [use["path"] for use in queue_run(hello, given).files] == [
        "/job/work/a.txt",
        "/job/work/2/a.txt",
    ]


def test_another_persons_upload_is_as_if_it_were_not(hello, queue_run, upload, bob):
    theirs = upload(by=bob)
    absent = _code(queue_run, hello, {"input_path": {"input": "a" * 26}})
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
