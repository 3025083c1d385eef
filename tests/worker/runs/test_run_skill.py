"""``run_skill``: one document, its exit status, and nothing else on stdout."""

from __future__ import annotations

import contextlib
import io
import json

import pytest
from django.core.management import CommandError, call_command

from registry.packages.problems import code_named
from worker.attempts.recording import STREAM_BYTES
from worker.queue import claims
from worker.run_views.documents import KEYS
from worker.sandbox import runtimes

pytestmark = [pytest.mark.django_db, pytest.mark.row("A3", "P5")]


def run_skill(*words):
    """The exit status and the document."""
    out, status = io.StringIO(), 0
    try:
        call_command("run_skill", *words, "--here", "--json", stdout=out)
    except SystemExit as ended:
        status = int(ended.code or 0)
    return status, json.loads(out.getvalue())


def told(*words):
    """The lines for people."""
    out = io.StringIO()
    with contextlib.suppress(SystemExit):
        call_command("run_skill", *words, "--here", stdout=out)
    return out.getvalue()


def test_the_document_has_exactly_the_keys_that_were_promised(hello):
    status, document = run_skill("docs/hello", "--input", '{"who": "A"}')
    assert (status, document["status"], document["outputs"]["greeting"]) == (0, "succeeded", "hello A")
    assert tuple(document) == KEYS
    assert document["sandbox"]["interpreter"] == f"python {runtimes.version('python')}"
    assert document["sandbox"]["programs"] == runtimes.system_release()


@pytest.mark.row("A2", "P10")
def test_arguments_and_files_reach_the_script(publish_skill, tmp_path):
    publish_skill("echo", "import json, sys; print(json.dumps({'argv': sys.argv[1:]}))")
    path = tmp_path / "报告.csv"
    path.write_text("1")
    files = ["--file", f"in.csv={path}", "--file", f"more={path}"]
    words = ["--arguments", '["build", "in.csv", "--json"]', "--as", "alice"]
    _, document = run_skill("docs/echo", *words, *files)
    argv = document["outputs"]["argv"]
    assert (argv[0], argv[1].rpartition("/")[2], argv[2:4]) == ("build", "报告.csv", ["--json", "--more"])
    assert set(document["arguments"][1]) == {"input"}


@pytest.mark.parametrize(
    "words", [["--arguments", "{}"], ["--arguments", "["], ["--file", "x"], ["--file", "a=/absent"]]
)
def test_unusable_arguments_are_a_usage_error(hello, words):
    with pytest.raises(CommandError) as wrong:
        call_command("run_skill", "docs/hello", *words)
    assert wrong.value.returncode == 2


@pytest.mark.parametrize("label", ["docs/absent", "absent/hello", "docs/hello@9.9.9"])
def test_a_refusal_has_the_same_keys(hello, label):
    status, document = run_skill(label)
    assert (status, document["status"], document["failure_code"]) == (1, "refused", "NOT_FOUND")
    assert tuple(document) == KEYS


def test_no_worker_comes_between_asking_and_executing_here(hello, monkeypatch):
    busy = []
    executed = lambda claim, **more: busy.append(claims.claim_next("another:1"))  # noqa: E731
    monkeypatch.setattr("worker.service.inline.execute", executed)
    _, document = run_skill("docs/hello")
    assert busy == [None]
    assert document["status"] == "running"  # ours: what would execute it was taken out


@pytest.mark.row("B4")
def test_all_that_a_script_printed_is_in_the_document(publish_skill):
    publish_skill(script=f"print('y' * {STREAM_BYTES + 10})")
    status, document = run_skill("docs/hello")
    assert (status, len(document["stdout"]), document["warnings"]) == (0, STREAM_BYTES + 11, [])


def test_people_read_what_was_said_in_its_own_script_but_no_commands_to_their_terminal(publish_skill):
    publish_skill(script="""import json; print(json.dumps({"said": "步骤\\x1b[2J"}))""")
    assert (
        told("docs/hello") == 'Run #1 of docs/hello@1.0.0 succeeded: done\n{\n  "said": "步骤\\u001b[2J"\n}\n'
    )


def test_failed_run_prints_its_cause_and_place(publish_skill):
    publish_skill(script="raise ValueError('no rows')")
    first, second, *_others = told("docs/hello").splitlines()
    assert first == "Run #1 of docs/hello@1.0.0 failed: SCRIPT_FAILED"
    assert second == "ValueError: no rows (scripts/hello.py:1)"


def test_people_read_what_to_do_about_a_refusal(hello):
    first, *others = told("docs/absent").splitlines()
    assert first == "docs/absent refused: NOT_FOUND"
    assert others[-1] == code_named("NOT_FOUND").remedy


@pytest.mark.parametrize("inputs", ["{bad", "[1]", "7"])
def test_inputs_that_are_no_json_object_are_a_wrong_call(inputs):
    with pytest.raises(CommandError) as wrong:
        call_command("run_skill", "docs/hello", "--input", inputs)
    assert wrong.value.returncode == 2
