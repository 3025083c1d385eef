"""A skill starts another through its door: as its caller, if it requires it, from one shared budget."""

from __future__ import annotations

import json
import textwrap
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.identity.actors import Actor
from registry.packages.problems import Refusal
from registry.rules import edit
from registry.versions.needs.change_additions import set_additions
from tests.checks import not_none
from worker.attempts.recording import read_stream_ends
from worker.child_runs.channel import ChildRunChannel
from worker.child_runs.lineage import MAX_DEPTH, MAX_RUNS, require_runnable_from_ui
from worker.core.masking import Mask
from worker.executors.conductor import execute
from worker.models import Attempt, Run, RunStatus, Step, TeamLimits
from worker.queue import claims, retries
from worker.run_views.documents import run_document
from worker.runs.cancel import cancel
from worker.sandbox.limits.limits import Limits
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("C3")]

ASK = """
import json, os, sys
asking, answering = (int(n) for n in os.environ["SKILLQUAY_REQUEST_FDS"].split(","))
answers = os.fdopen(answering, "rb")

def start(skill, parameters=None, **more):
    line = json.dumps({"skill": skill, "parameters": parameters or {}, **more}).encode()
    os.write(asking, line + b"\\n")
    return json.loads(answers.readline())
"""


WHOLE = """type: internal
capabilities: [x]
tags: [x]
triggers: {phrases: [x]}
input_schema: {type: object}
output_schema: {}
security: {network: none}
resources: {entry: scripts/%s.py}
"""
GREET = 'def execute(parameters):\n    return {"output": "hello " + parameters.get("who", "you")}\n'


@pytest.fixture
def inner(publish_skill):
    """An internal skill of Alice's team, whatever its visibility says."""
    return publish_skill("inner", GREET, visibility="site", front=WHOLE % "inner")


@pytest.fixture
def asking(publish_skill):
    """``asking(code, requires)``: a skill of Alice's team whose script may ``start`` others."""

    def make(code, requires="docs/hello", slug="first", **more):
        front = f"requires: [{requires}]\n" + more.pop("front", "")
        return publish_skill(slug, ASK + textwrap.dedent(code), front=front, **more)

    return make


def outputs(run):
    assert run.status == RunStatus.SUCCEEDED, (run.failure_code, run.message, run.result)
    return run.result["outputs"]


def test_a_skill_starts_one_that_it_requires(asking, hello, queue_run, alice, actor_of):
    run = execute_here(queue_run(asking('print(json.dumps(start("docs/hello", {"who": "child"})))')))
    answer = outputs(run)
    assert (answer["ok"], answer["outputs"]["greeting"], answer["error"]) == (True, "hello child", None)
    child = Run.objects.get(uid=answer["run"])
    assert (child.parent, child.root, child.depth, child.caller, child.team) == (run, run, 1, alice, run.team)
    step = Step.objects.get(run=run)
    assert (step.kind, step.child, step.name) == ("child", child, "docs/hello@1.0.0")
    document = run_document(run, actor=actor_of(alice))
    assert document["children"] == [child.uid]
    assert run_document(child, actor=actor_of(alice))["parent"] == run.uid


def test_child_run_is_not_retried_even_if_its_skill_permits_it(asking, publish_skill, queue_run):
    safe = publish_skill("safe", "print(1)\n", front="retry_on_lost: true\n")
    run = execute_here(queue_run(asking('print(json.dumps(start("docs/safe")))', requires="docs/safe")))
    assert outputs(run)["ok"]
    assert (run.children.get().max_attempts, queue_run(safe).max_attempts > 1) == (1, True)


def test_a_shell_script_uses_the_program_that_lies_in_its_folder(
    publish_skill, hello, queue_run, team, alice
):
    from registry.identity.actors import Actor
    from registry.packages.read_package import read_files
    from registry.versions.publishing.publish import publish

    head = b"---\nname: shell\ndescription: For tests.\nversion: 1.0.0\nrequires: docs/hello\n---\n"
    script = b'set -e\n"$SKILLQUAY_RUN" docs/hello \'{"who": "it\'"\'"\'s"}\'\n'
    package = read_files([("SKILL.md", head), ("scripts/shell.sh", script)])
    version = publish(package, team=team, actor=Actor(user=alice), visibility="private").version
    assert outputs(execute_here(queue_run(version)))["outputs"]["greeting"] == "hello it's"


def test_a_program_whose_way_out_was_shut_says_how_it_stays_open(publish_skill, hello, queue_run):
    script = """
        import os, subprocess
        asks = [os.environ["SKILLQUAY_RUN"], "docs/hello", "{}"]
        for shuts in (True, False):
            ended = subprocess.run(asks, close_fds=shuts, capture_output=True, text=True)
            print(ended.returncode, "close_fds=False" in ended.stderr, "Traceback" in ended.stderr)
    """
    run = execute_here(queue_run(publish_skill("piped", script, front="requires: docs/hello\n")))
    assert read_stream_ends(run)[0] == "2 True False\n0 False False\n"


@pytest.mark.parametrize("suffix", ["py", "js", "ts"])
def test_a_module_finds_it_in_its_context(suffix, inner, queue_run, team, alice):
    from registry.identity.actors import Actor
    from registry.packages.read_package import read_files
    from registry.versions.publishing.publish import publish

    code = """
        export async function execute(parameters, context) {
          const asked = ["A", "B"].map((who) => context.runSkill("docs/inner", { who }));
          const [one, two] = await Promise.all(asked);
          const refused = await context.runSkill("docs/none").catch((error) => error.code);
          return { output: [one.output, two.output, refused, JSON.stringify(context).includes("runSkill")] };
        }
    """
    if suffix == "py":
        code = """
def execute(parameters, context):
    one, two = (context.run_skill("docs/inner", {"who": who}) for who in "AB")
    try:
        context.runSkill("docs/none")
    except Exception as error:
        refused = error.code
    return {"output": [one["output"], two["output"], refused, "runSkill" in context]}
"""
    head = "---\nname: module\ndescription: For tests.\nversion: 1.0.0\nrequires: docs/inner\n---\n"
    package = read_files([("SKILL.md", head.encode()), (f"scripts/execute.{suffix}", code.encode())])
    run = execute_here(
        queue_run(publish(package, team=team, actor=Actor(user=alice), visibility="private").version)
    )
    assert run.result["output"] == ["hello A", "hello B", "CHILD_NOT_REQUIRED", False], run.result


def test_an_answer_that_no_line_can_hold_names_its_run(asking, hello, queue_run, monkeypatch):
    monkeypatch.setattr("worker.child_runs.messages.ANSWER_BYTES", 200)
    run = execute_here(queue_run(asking('print(json.dumps(start("docs/hello")["error"]))')))
    error = outputs(run)
    assert error["code"] == "CHILD_ANSWER_TOO_LARGE"
    assert Run.objects.get(parent=run).uid in error["message"]


def test_a_shut_door_starts_nothing(hello):
    context: Any = SimpleNamespace(limits=Limits(timeout_s=1), mask=Mask())
    door = ChildRunChannel(context)
    door.close()
    answer = json.loads(door.answer(b'{"skill": "docs/hello"}\n'))
    assert (answer["ok"], answer["error"]["code"]) == (False, "CHILD_RUNS_CLOSED")
    assert Run.objects.count() == 0


@pytest.mark.parametrize(("required", "started"), [("hello", "docs/hello"), ("docs/hello", "hello")])
def test_bare_and_full_names_of_a_required_skill_are_equal(required, started, asking, hello, queue_run):
    code = f'print(json.dumps(start("{started}", {{"who": "child"}})))'
    assert outputs(execute_here(queue_run(asking(code, requires=required))))["ok"]


def test_a_run_that_is_another_workers_by_now_starts_nothing(asking, hello, queue_run):
    claim = not_none(claims.claim_next("asleep:1", run_id=queue_run(asking("")).pk))
    manifest = SimpleNamespace(requires=("docs/hello",))
    fields = {"claim": claim, "limits": Limits(timeout_s=9), "mask": Mask()}
    context: Any = SimpleNamespace(**fields, package=SimpleNamespace(manifest=manifest))
    door = ChildRunChannel(context)
    retries.defer(claim, 0)
    assert claims.claim_next("awake:1")
    answer = json.loads(door.answer(b'{"skill": "docs/hello"}\n'))
    assert (answer["ok"], answer["error"]["code"]) == (False, "CHILD_RUNS_CLOSED")
    assert Run.objects.count() == 1


def test_no_person_presses_what_is_internal(inner):
    with pytest.raises(Refusal, match="internal") as refused:
        require_runnable_from_ui(inner)
    assert refused.value.code == "SKILL_INTERNAL"


def test_what_is_not_required_is_refused_whether_it_is_there_or_not(asking, hello, publish_skill, queue_run):
    publish_skill("other")
    code = """
        answers = [start(name) for name in ("docs/other", "docs/none", "x/y")]
        print(json.dumps({"codes": [answer["error"]["code"] for answer in answers]}))
    """
    assert outputs(execute_here(queue_run(asking(code)))) == {"codes": ["CHILD_NOT_REQUIRED"] * 3}
    assert Run.objects.count() == 1


def test_what_the_caller_may_not_see_is_as_if_it_were_not(asking, publish_skill, inner, queue_run, charlie):
    code = """
        found = [start(name)["error"] for name in ("docs/secret", "docs/absent", "docs/inner")]
        print(json.dumps({"found": found}))
    """
    publish_skill("secret")
    first = asking(code, "docs/secret, docs/absent, docs/inner", visibility="site")
    found = outputs(execute_here(queue_run(first, by=charlie)))["found"]
    assert {error["code"] for error in found} == {"NOT_FOUND"}
    texts = {
        json.dumps(error).replace(name, "")
        for error, name in zip(found, ("secret", "absent", "inner"), strict=True)
    }
    assert len(texts) == 1


def test_an_internal_skill_is_started_by_another_of_its_team(asking, inner, queue_run):
    assert outputs(execute_here(queue_run(asking('print(json.dumps(start("docs/inner")))', "docs/inner"))))[
        "ok"
    ]


def test_a_bare_name_means_the_callers_own(asking, hello, queue_run):
    assert outputs(execute_here(queue_run(asking('print(json.dumps(start("hello")))', "hello"))))["ok"]


def test_a_pinned_version_is_the_one_that_is_run(asking, publish_skill, hello, queue_run):
    publish_skill(number="2.0.0")
    code = """
        named = [start(n) for n in ("docs/hello", "docs/hello@1.0.0", "docs/hello@2.0.0")]
        print(json.dumps({"named": [a["ok"] and a["run"] or a["error"]["code"] for a in named]}))
    """
    *ran, refused = outputs(execute_here(queue_run(asking(code, "docs/hello@1.0.0"))))["named"]
    assert {Run.objects.get(uid=uid).version_number for uid in ran} == {"1.0.0"}
    assert refused == "CHILD_NOT_REQUIRED"


def test_what_asks_is_refused_to_a_child_even_where_a_person_started_the_first(
    asking, publish_skill, queue_run, charlie
):
    publish_skill("foreign", visibility="site")
    first = asking('print(json.dumps(start("docs/foreign")))', "docs/foreign", visibility="site")
    answer = outputs(execute_here(queue_run(first, by=charlie)))
    assert answer["error"]["code"] == "APPROVAL_NEEDED"


def test_child_uses_the_additions_of_its_version_once_they_are_allowed(
    asking, publish_skill, queue_run, alice, team, monkeypatch
):
    monkeypatch.setattr("worker.executors.script.resolve_host", lambda *_host: ["127.0.0.1"])
    dial = """
        import json, urllib.error, urllib.request
        try:
            urllib.request.urlopen("http://api.crossref.org/works", timeout=5)
        except (OSError, urllib.error.URLError) as error:
            print(json.dumps({"error": type(error).__name__}))
    """
    child = publish_skill("dial", dial)
    first = asking('print(json.dumps(start("docs/dial")))', "docs/dial")

    def started():
        answer = outputs(execute_here(queue_run(first)))
        run = Run.objects.filter(uid=answer["run"]).first()
        attempt = Attempt.objects.filter(run=run).first()
        codes = {each["code"] for each in attempt.network} if attempt else set()
        return answer["error"] and answer["error"]["code"], run and run.grants.get("additions"), codes

    assert started() == (None, None, {"NETWORK_HOST_REFUSED"})
    owner = Actor(user=alice)
    set_additions(child, [("host", "api.crossref.org")], owner)
    assert started() == ("APPROVAL_NEEDED", None, set())
    edit.add_rule(team, "allow", "docs/dial", owner)
    assert started() == (None, {"host": ["api.crossref.org"]}, {"NETWORK_UNREACHABLE"})


def test_a_failure_of_the_child_is_told_and_is_the_scripts_to_judge(asking, publish_skill, queue_run):
    publish_skill("broken", "raise SystemExit(3)")
    answer = outputs(
        execute_here(queue_run(asking('print(json.dumps(start("docs/broken")))', "docs/broken")))
    )
    assert (answer["ok"], answer["status"], answer["error"]["code"]) == (False, "failed", "SCRIPT_FAILED")


def test_skills_start_one_another_at_most_five_deep(asking, queue_run):
    code = """
        answer = start("docs/first")
        print(json.dumps({"inner": answer["outputs"] if answer["ok"] else answer}))
    """
    told = outputs(execute_here(queue_run(asking(code, "docs/first"))))
    assert list(Run.objects.order_by("depth").values_list("depth", flat=True)) == list(range(MAX_DEPTH + 1))
    assert '"CHILD_TOO_DEEP"' in json.dumps(told)


def test_children_share_one_number(asking, hello, queue_run, monkeypatch):
    monkeypatch.setattr("worker.child_runs.lineage.MAX_RUNS", 2)
    code = 'print(json.dumps({"ok": [start("docs/hello")["ok"] for _ in range(3)]}))'
    assert outputs(execute_here(queue_run(asking(code)))) == {"ok": [True, True, False]}
    assert MAX_RUNS == 50


def test_children_share_time_and_output(asking, publish_skill, queue_run, settings):
    settings.SKILLQUAY_MAX_RUN_OUTPUT_BYTES = 3000
    publish_skill("loud", 'print("x" * 1200)')
    code = """
        answers = [start("docs/loud") for _ in range(4)]
        print(json.dumps({"codes": [(a["error"] or {}).get("code") for a in answers]}))
    """
    run = execute_here(queue_run(asking(code, "docs/loud", front="security: {timeout_ms: 20000}\n")))
    assert outputs(run)["codes"] == [None, None, "OUTPUT_LIMIT", "CHILD_BUDGET_EXCEEDED"]
    assert all(child.limits["timeout_s"] < 20 for child in run.children.all())


def test_no_token_enters_a_sandbox_and_its_power_holds_for_children(asking, hello, queue_run, alice, team):
    from datetime import timedelta

    from django.utils import timezone

    from registry.identity.actors import Actor
    from registry.identity.tokens import issue
    from registry.models import Token
    from worker.protocols.call import Request
    from worker.runs.request import request_run

    person = Actor(user=alice)
    token, secret = issue(
        alice,
        name="agent",
        scopes=["run"],
        expires_at=timezone.now() + timedelta(days=1),
        by=person,
        team=team,
    )
    actor = Actor(user=alice, token=token, scopes=frozenset(token.scopes))
    code = """
        seen = json.dumps(dict(os.environ)) + sys.stdin.read()
        print(json.dumps({"seen": seen, "first": start("docs/hello")["ok"]}))
    """
    run = execute_here(request_run(actor=actor, version=asking(code), request=Request()))
    found = outputs(run)
    assert found["first"]
    assert secret not in found["seen"]
    assert run.children.get().token == token
    again = request_run(actor=actor, version=not_none(not_none(run.skill).latest), request=Request())
    Token.objects.update(revoked_at=timezone.now())
    last = execute_here(again)
    assert last.children.count() == 0
    assert Step.objects.get(run=last).error["name"] == "CHILD_CALLER_GONE"


def test_parents_that_hold_every_worker_and_all_their_team_may_run_get_their_children(
    asking, hello, queue_run, team
):
    TeamLimits.objects.create(team=team, concurrent_runs=2)
    version = asking('print(json.dumps(start("docs/hello")))')
    parents = [queue_run(version), queue_run(version)]
    claimed = [claims.claim_next(f"host:{number}") for number in (1, 2)]
    queue_run(version)
    assert claims.claim_next("host:3") is None, "there is room for no other"
    for run, claim in zip(parents, claimed, strict=True):
        assert execute(not_none(claim))
        run.refresh_from_db()
        assert outputs(run)["ok"]


def test_to_cancel_a_run_cancels_what_it_started(asking, publish_skill, queue_run, alice, actor_of):
    publish_skill("slow", "import time; time.sleep(60)")
    run = queue_run(asking('start("docs/slow")', "docs/slow"))
    ending = threading.Thread(target=_cancel_when_it_waits, args=(run, actor_of(alice)))
    ending.start()
    execute_here(run)
    ending.join()
    assert run.status == RunStatus.CANCELLED
    assert run.children.get().status == RunStatus.CANCELLED


def _cancel_when_it_waits(run, actor):
    from django.db import connections

    pause = threading.Event()
    try:
        while not Run.objects.filter(parent=run, status=RunStatus.RUNNING).exists():
            pause.wait(0.05)
        cancel(run, actor=actor)
    finally:
        connections.close_all()


def test_a_child_ends_with_the_run_that_does_not_wait_for_it(asking, publish_skill, queue_run):
    publish_skill("slow", "import time; time.sleep(60)")
    code = """
        os.write(asking, b'{"skill": "docs/slow"}\\n')
        import time; time.sleep(1)
        print("{}")
    """
    run = execute_here(queue_run(asking(code, "docs/slow")))
    assert run.status == RunStatus.SUCCEEDED
    assert run.children.get().status == RunStatus.CANCELLED


def test_a_lost_parents_children_are_told_to_end(hello, queue_run):
    from datetime import timedelta

    from django.utils import timezone

    parent, child = queue_run(hello), queue_run(hello)
    Run.objects.filter(pk=child.pk).update(parent=parent, root=parent, depth=1)
    for run in (parent, child):
        claims.claim_next("gone:1", run_id=run.pk)
    Run.objects.filter(pk=parent.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    retries.expire_leases(timezone.now())
    child.refresh_from_db()
    assert child.cancel_requested_at is not None


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"{", b"[1]", b'"x"', b"\xff\xfe", b"[" * 5000),
        *(
            b'{"skill": 1}',
            b'{"skill": ""}',
            b'{"skill": "a\\u0000"}',
            b'{"skill": "\\ud800"}',
            b'{"skill": "docs/hello", "tool": 1}',
        ),
        *(b'{"skill": "docs/hello", "tool": 1}',),
        *(b'{"skill": "docs/hello", "parameters": [1]}', b'{"skill": "' + b"x" * 300 + b'"}'),
    ],
)
def test_what_is_no_request_is_refused_by_code(line):
    from registry.packages.problems import Refusal
    from worker.child_runs.messages import parse_request

    with pytest.raises(Refusal) as refused:
        parse_request(line)
    assert refused.value.code == "CHILD_REQUEST_INVALID"


@given(
    st.binary(max_size=200)
    | st.dictionaries(
        st.sampled_from(["skill", "parameters", "id", "tool", "x"]),
        st.recursive(st.none() | st.integers() | st.text(max_size=9) | st.booleans(), st.lists, max_leaves=5),
    ).map(lambda document: json.dumps(document).encode())
)
def test_whatever_comes_is_a_request_or_refused(line):
    assert _code_of(line) in ("", "CHILD_REQUEST_INVALID")


def _code_of(line):
    from registry.packages.problems import Refusal
    from worker.child_runs.messages import ChildRunRequest, parse_request, refusal_line

    try:
        parse_request(line)
    except Refusal as no:
        return no.code if b"\n" not in refusal_line(ChildRunRequest(), no) else "two lines"
    return ""


def test_a_flood_of_garbage_leaves_a_run_that_ends(asking, queue_run):
    code = """
        import signal, threading
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        threading.Thread(target=lambda: list(answers), daemon=True).start()
        try:
            for _ in range(100_000):
                os.write(asking, b"garbage\\n")
        except BrokenPipeError:
            pass
        print("{}")
    """
    assert execute_here(queue_run(asking(code))).status == RunStatus.SUCCEEDED
    assert Step.objects.count() == 200
    assert Run.objects.count() == 1
