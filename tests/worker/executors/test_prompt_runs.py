"""A prompt as a run: row D4's inline use, with commands in the sandbox."""

from __future__ import annotations

import pytest

from registry.identity.actors import Actor
from registry.models import Skill
from registry.packages.problems import Refusal
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish
from worker.models import Attempt, Run, Step, TeamDailyUsage
from worker.protocols.call import Request
from worker.run_views.documents import run_document
from worker.run_views.events import events_since
from worker.runs.request import request_run
from worker.sandbox.policy import HostAccess, SandboxResult
from worker.sandbox.tiers import available
from worker.service.inline import request_and_execute

pytestmark = [pytest.mark.row("D4"), pytest.mark.django_db]


@pytest.fixture
def prompt(team, alice):
    """``prompt(body, front matter)``: a version of ``docs/asked`` that is a prompt alone."""

    def make(body, front="", *, slug="asked", files=(), **more):
        head = f"---\nname: {slug}\ndescription: For tests.\nversion: 1.0.0\n{front}---\n{body}"
        package = read_files([("SKILL.md", head.encode()), *files])
        return publish(package, team=team, actor=Actor(user=alice), **more).version

    return make


@pytest.fixture
def use(alice):
    """``use(version, inputs)``: its run by Alice, executed here."""

    def run(version, inputs=None, **context):
        request = Request(inputs=inputs or {}, context=context)
        return request_and_execute(actor=Actor(user=alice), version=version, request=request)

    return run


def said(run):
    assert run.status == "succeeded", (run.failure_code, run.message)
    return run.result["messages"][0]["content"]


FRONT = "allowed-tools:\n  - Read\n  - Grep\nmodel: opus[1m]\neffort: high\narguments: [path]\n"


def test_the_answer_holds_the_messages_and_the_change_of_context(prompt, use, alice):
    run = use(prompt("Review $path.\n", FRONT), {"path": "src/a.py"})
    assert run.result["messages"] == [{"role": "user", "content": "Review src/a.py.\n"}]
    assert run.result["context"] == {"allowedTools": ["Read", "Grep"], "model": "opus[1m]", "effort": "high"}
    document = run_document(run, actor=Actor(user=alice))
    assert document["protocol"] == "prompt"
    assert document["output"] == "Review src/a.py.\n"


def test_a_prompt_without_commands_starts_no_sandbox(prompt, use, monkeypatch):
    monkeypatch.setattr("worker.executors.commands.run_job", lambda *a, **k: pytest.fail("a sandbox"))
    run = use(prompt("Plain."))
    assert said(run) == "Plain."
    assert run.sandbox == {}
    assert run.result["context"] == {"allowedTools": [], "model": None, "effort": None}


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ({}, "[][][]"),
        ({"arguments": "a 'b c'"}, "[a 'b c'][a][b c]"),
        ({"arguments": ["a", "b c"]}, "[a 'b c'][a][b c]"),
        ({"arguments": {"first": "a", "second": "b c"}}, "[a 'b c'][a][b c]"),
        ({"first": "a", "second": 7}, "[a 7][a][7]"),
        ({"second": "z"}, "['' z][][z]"),
    ],
)
def test_arguments_come_as_a_line_a_list_or_by_name(prompt, use, inputs, text):
    version = prompt("[$ARGUMENTS][$first][$second]", "arguments: [first, second]\n")
    assert said(use(version, inputs)) == text


def test_an_argument_that_no_name_takes_is_refused_before_anything_is_queued(prompt, alice):
    version = prompt("Look at $path.", "arguments: [path]\n")
    with pytest.raises(Refusal) as no:
        request_run(actor=Actor(user=alice), version=version, request=Request(inputs={"way": "x"}))
    assert no.value.code == "ARGUMENT_UNKNOWN"
    assert "path" in no.value.problems[0].message()
    assert not Run.objects.exists()


def test_the_folder_and_the_session_are_put_in(prompt, use):
    version = prompt("${CLAUDE_SKILL_DIR}/a.md in ${CLAUDE_SESSION_ID}")
    assert said(use(version, session_id="session-7")) == ".claude/skills/asked/a.md in session-7"
    assert said(use(version, session_id="s", skill_dir="/home/x/skills/asked")).startswith("/home/x/skills/")
    run = use(version)
    assert said(run).endswith(run.uid)


COMMANDS = (
    "Sum: !`cat ${CLAUDE_SKILL_DIR}/data.txt | wc -l` of !`printf '%s' $1`.\n```!\necho one\necho two\n```\n"
)


def test_commands_are_run_in_the_sandbox_and_their_output_takes_their_place(prompt, use):
    version = prompt(COMMANDS, files=[("references/x.md", b"x"), ("data.txt", b"1\n2\n3\n")])
    run = use(version, {"arguments": "src"})
    assert said(run) == "Sum: 3 of src.\none\ntwo\n"
    assert run.sandbox["tier"]
    steps = list(Step.objects.filter(run=run).order_by("seq"))
    assert [(step.kind, step.input, step.output) for step in steps] == [
        ("command", "cat ${CLAUDE_SKILL_DIR}/data.txt | wc -l", "3\n"),
        ("command", "printf '%s' $1", "src"),
        ("command", "echo one\necho two", "one\ntwo\n"),
    ]
    kinds = [event["data"]["kind"] for event in events_since(run.uid).events if event["event"] == "step"]
    assert kinds.count("command") == 3


@pytest.mark.parametrize(
    "given", ["; echo pwned", "$(echo pwned)", "`echo pwned`", "\necho pwned", "' ; echo pwned '"]
)
def test_an_argument_is_never_part_of_a_command(prompt, use, given):
    version = prompt('[!`printf "%s" "$ARGUMENTS"`][!`printf "%s" "$what"`]', "arguments: [what]\n")
    assert said(use(version, {"what": given})).count(given.strip()) >= 1
    assert "pwned][pwned" not in said(use(version, {"what": given}))
    assert said(use(version, {"what": given})).endswith(f"[{given}]")


def test_what_a_command_prints_and_what_an_argument_holds_is_not_expanded_again(prompt, use):
    version = prompt("!`printf '%s' '!\\x60echo no\\x60 $ARGUMENTS $1'`|$ARGUMENTS")
    text = said(use(version, {"arguments": "!`echo no`"}))
    assert text == "!\\x60echo no\\x60 $ARGUMENTS $1|!`echo no`"
    assert Step.objects.count() == 1


def test_a_failing_command_fails_the_run_and_says_which(prompt, use):
    run = use(prompt("!`echo before` !`echo why >&2; exit 3` !`echo after`"))
    assert (run.status, run.failure_code) == ("failed", "COMMAND_FAILED")
    assert "exit code 3" in run.message
    assert run.result["error"]["details"]["stderr"] == "why\n"
    assert [bool(step.error) for step in Step.objects.order_by("seq")] == [False, True]
    assert "messages" not in run.result


def test_commands_share_the_limits_of_one_run(prompt, use):
    run = use(prompt("!`true` !`sleep 30` !`true`", "security:\n  timeout_ms: 700\n"))
    assert (run.status, run.failure_code) == ("timed_out", "TIMEOUT")
    assert Step.objects.count() == 2


def test_commands_reach_no_network_and_cannot_write_to_the_package(prompt, use):
    version = prompt(
        "!`(exec 3<>/dev/tcp/127.0.0.1/5432) 2>/dev/null && echo open || echo shut` "
        "!`touch /skill/x 2>/dev/null || echo no`"
    )
    assert said(use(version)) == "shut no"


def test_the_declared_shell_runs_them_and_another_is_refused(prompt, use, alice):
    assert said(use(prompt("!`echo ${BASH_VERSION:-none}`", "shell: sh\n"))) == "none"
    assert (
        said(use(prompt("!`set -o | grep -c pipefail.*on`", "shell: [bash, -o, pipefail]\n", slug="p")))
        == "1"
    )
    version = prompt("!`dir`", "shell: powershell\n", slug="windows")
    with pytest.raises(Refusal) as no:
        request_run(actor=Actor(user=alice), version=version, request=Request())
    assert no.value.code == "SHELL_UNAVAILABLE"


def test_too_many_commands_are_refused(prompt, use):
    run = use(prompt("!`true`\n" * 51))
    assert (run.status, run.failure_code) == ("failed", "COMMANDS_TOO_MANY")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("mcp", "!`echo ran` for x"),
        ("url", "!`echo ran` for $1"),
        ("upload", "ran for x"),
        ("disk", "ran for x"),
        ("git", "ran for x"),
    ],
)
def test_only_where_the_source_allows_it_is_anything_put_in(prompt, use, source, text):
    version = prompt("!`echo ran` for $1")
    Skill.objects.filter(pk=version.skill_id).update(source=source)
    run = use(version, {"arguments": "x"})
    assert said(run) == text
    assert Step.objects.exists() == (text == "ran for x")
    assert bool(run.result["warnings"]) == (source in ("mcp", "url"))


@pytest.mark.row("D2")
@pytest.mark.parametrize(("origin", "text"), [("server", "!`echo ran` for x"), ("url", "!`echo ran` for $1")])
def test_a_version_keeps_where_it_came_from_when_its_skill_moved_on(prompt, use, origin, text):
    version = prompt("!`echo ran` for $1")
    type(version).objects.filter(pk=version.pk).update(provenance={origin: "https://skills.example"})
    assert said(use(version, {"arguments": "x"})) == text


def test_a_use_is_counted_and_a_script_cannot_be_named(prompt, use, alice):
    version = prompt("Plain.")
    use(version)
    assert Skill.objects.get(pk=version.skill_id).usage_count == 1
    with pytest.raises(Refusal) as no:
        request_run(actor=Actor(user=alice), version=version, request=Request(script="x"))
    assert no.value.code == "PROMPT_ONLY"


def test_charlie_learns_of_no_prompt(prompt, charlie):
    with pytest.raises(Refusal):
        request_run(actor=Actor(user=charlie), version=prompt("Plain."), request=Request())


@pytest.mark.row("C6")
def test_cpu_time_and_hosts_of_all_commands_are_the_run_s(prompt, use, monkeypatch, team):
    """A team's limit of CPU time was passed by a prompt whose last command did nothing."""
    ends = iter(
        SandboxResult(
            "exited",
            0,
            None,
            b"x",
            b"",
            b"",
            0.1,
            "bwrap",
            {},
            "",
            (HostAccess(host, 443, False, "why"),),
            3.0,
        )
        for host in ("a.example", "b.example")
    )
    monkeypatch.setattr(available, "run", lambda *_given, **_more: next(ends))
    run = use(prompt("!`one` and !`two`"))
    assert said(run) == "x and x"
    assert TeamDailyUsage.objects.get(team=team).cpu_ms == 6000
    assert [dial["host"] for dial in Attempt.objects.get(run=run).network] == ["a.example", "b.example"]
