"""The page on which a prompt is used: filled in, run, its commands pending until then."""

from __future__ import annotations

import pytest
from django.utils import timezone

from portal.presenters.skill.permissions import readable_name
from registry.models import Membership, Role, Skill, Team
from tests.factories.runs import make_run
from tests.factories.skills import publish_files
from tests.pages import part, select
from worker.core.display_budget import MAX_PREFILL
from worker.models import Run
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("D4", "D5", "P11")]


@pytest.fixture
def prompt(team, alice):
    def make(body, front="", *, slug="asked"):
        head = f"---\nname: {slug}\ndescription: For tests.\nversion: 1.0.0\n{front}---\n{body}"
        return publish_files({"SKILL.md": head.encode()}, team=team, user=alice)

    return make


USE = "/skills/docs/asked/use/"
NAMED = "arguments: [path]\nallowed-tools: Read\nmodel: opus\n"


def test_filling_in_runs_nothing_and_the_text_can_be_selected(browse, bob, prompt):
    prompt("Look at $path: !`cat $path`", NAMED)
    page = browse(bob).post(USE, {"argument-0": "a b"}).text
    assert "Look at a b: !`cat a b`</textarea>" in page
    assert "readonly" in page
    assert part(page, "commands")["state"] == "pending"
    assert not Run.objects.exists()


@pytest.mark.row("P8")
def test_arguments_are_posted_without_javascript(browse, bob, prompt):
    prompt("Look at $path.", NAMED)
    page = browse(bob).get(USE)
    forms = [
        form
        for form in select(page, "form")
        if any(field.attributes.get("name") == "argument-0" for field in form.walk())
    ]
    assert [form.attributes.get("method") for form in forms] == ["post"]


def test_a_run_leads_to_the_messages_and_what_they_change(browse, bob, prompt):
    prompt("Look at $path: !`echo '<b>ran</b>'`", NAMED)
    client = browse(bob)
    answer = client.post(USE, {"argument-0": "a b", "run": "1"})
    run = Run.objects.get()
    assert answer.url == f"/runs/{run.uid}/"
    execute_here(run)
    page = client.get(answer.url).text
    assert "Look at a b: &lt;b&gt;ran&lt;/b&gt;</textarea>" in page
    changes = [term.text for term in part(page, "context-changes").tags("dd")]
    assert changes == ["Read", "opus"]
    again = client.get(f"/skills/docs/asked/run/?rerun_of={run.uid}", follow=True)
    assert "\na b</textarea>" in again.text


def test_long_arguments_are_not_filled_in_and_a_button_repeats_them(browse, bob, team, prompt):
    version = prompt("Look at $path.", NAMED)
    run = make_run(version, bob, team, request={"inputs": {"path": "p" * MAX_PREFILL}})
    page = browse(bob).get(f"{USE}?rerun_of={run.uid}").text
    assert "pppp" not in page
    assert part(page, "long-inputs").tags("form")[0]["action"] == f"/runs/{run.uid}/rerun/"


def test_what_a_run_refuses_is_said_on_the_form(browse, bob, prompt):
    prompt("!`dir`", "shell: powershell\n")
    answer = browse(bob).post(USE, {"run": "1"})
    assert answer.status_code == 422
    assert "powershell" in answer.text


def test_who_may_not_run_has_no_button_for_it(browse, charlie, bob, team, prompt):
    version = prompt("Plain.")
    Membership.objects.create(user=charlie, team=team, role=Role.VIEWER)
    page = browse(charlie).get(USE).text
    assert 'name="run"' not in page
    assert part(page, "run-hint")["state"] == "role"
    assert browse(charlie).post(USE, {"run": "1"}).status_code in (403, 422)
    Team.objects.update(archived_at=timezone.now())
    assert part(browse(bob).get(USE), "run-hint")["state"] == "archived"
    Team.objects.update(archived_at=None)
    Skill.objects.filter(pk=version.skill_id).update(visibility="public")
    assert "sign-in" in browse(None).post(USE, {"run": "1"}).url


def test_an_agent_loop_without_a_model_says_which_setting_is_missing(browse, bob, prompt, settings):
    prompt("Do it.", "context: fork\n")
    page = browse(bob).get(USE).text
    assert 'name="run"' not in page
    assert "SKILLQUAY_MODEL_URL" in part(page, "run-hint", state="no-model")
    settings.SKILLQUAY_MODEL_URL, settings.SKILLQUAY_MODEL_NAME = "https://models.example/v1", "large"
    page = browse(bob).get(USE).text
    assert 'name="run"' in page
    assert part(page, "run-hint")["state"] == "agent-loop"


@pytest.mark.parametrize(("source", "filled"), [("mcp", True), ("url", False)])
def test_of_a_stranger_s_prompt_no_command_is_promised(browse, bob, prompt, source, filled):
    version = prompt("Say $1: !`echo x`")
    Skill.objects.filter(pk=version.skill_id).update(source=source)
    page = browse(bob).post(USE, {"arguments": "hello"}).text
    assert ("Say hello" in page) == filled
    assert part(page, "commands")["state"] == "not-run"


def test_charlie_finds_no_page(browse, charlie, prompt):
    prompt("Plain.")
    assert browse(charlie).get(USE).status_code == 404
    assert browse(charlie).post(USE, {"run": "1"}).status_code == 404


SCHEMA = """argument-hint: <file> [focus]
input_schema:
  type: object
  properties:
    path: {type: string, title: File or folder, description: Relative to the repository.}
    focus: {type: string}
"""


def test_arguments_have_the_titles_and_descriptions_of_the_schema(browse, bob, prompt):
    prompt("Look at $path and $focus.", SCHEMA)
    page = browse(bob).get(USE).text
    described, plain = (select(page, "textarea", name=f"argument-{number}")[0] for number in range(2))
    assert (described["placeholder"], plain["placeholder"]) == ("<file>", "[focus]")
    assert "File or folder" in select(page, "label", **{"for": described["id"]})[0]
    assert "Relative to the repository." in select(page, "div", id=described["aria-describedby"])[0]
    assert "focus" in select(page, "label", **{"for": plain["id"]})[0]
    assert "aria-describedby" not in plain.attributes


@pytest.mark.row("D6")
def test_permissions_show_values_as_words_without_json(browse, bob, prompt):
    hook = 'hooks: {PreToolUse: [{matcher: Bash, hooks: [{command: [echo, "to <b>"]}]}]}\nshell: [bash, -e]\n'
    prompt("Look.", hook)
    part_of_page = part(browse(bob).get(USE), "requested-permissions")
    names = [name.text for name in part_of_page.parts("permission")]
    assert names[1:] == ["PreToolUse: hooks: command: echo 'to <b>', matcher: Bash", "bash -e"]


@pytest.mark.parametrize(
    ("kind", "name", "shown"),
    [
        ("hosts", "api.example.com", "api.example.com"),
        ("hooks", 'Stop: ["a b"]', "Stop: 'a b'"),
        ("hooks", 'Stop: {"x": "cut… 0123456789ab', 'Stop: {"x": "cut… 0123456789ab'),
        ("shell", "bash", "bash"),
        (
            "properties",
            'servers: {"a": {"url": "https://x"}, "b": 1}',
            "servers: a: url: https://x, b: 1",
        ),
    ],
)
def test_readable_names_keep_every_value(kind, name, shown):
    assert readable_name(kind, name) == shown


def test_commands_with_a_token_lead_to_a_new_one(browse, alice, bob, prompt, public):
    prompt("Look.")
    link = {"data-action": "token-for-install"}
    assert select(browse(bob).get(USE), "a", **link)[0]["href"].endswith("?skill=docs/asked&version=1.0.0")
    assert not select(browse(bob).get(f"/skills/{public}/use/"), "a", **link)  # its commands need none
