"""Every kind of new skill conforms without a warning, in both languages, and what runs runs."""

from __future__ import annotations

from functools import partial

import pytest

from registry.packages.authoring.new_skill import LANGUAGES, TEMPLATES, NewSkill, create_files, find_template
from registry.packages.problems import Refusal
from registry.packages.read_package import read_files
from tests.examples.running import run
from worker.protocols.call import Request
from worker.protocols.entry_points import find_entry_points

NAMES = [kind.name for kind in TEMPLATES]
ARGUED = ("python", "bash", "node")
EXECUTED = ("execute-ts", "execute-js", "execute-py")
ASKED = ("request", "agent")
TEXT = 'one "$(id)"\nzwei 二'


def _package(kind, language="en", **more):
    files = create_files(NewSkill(kind, "my-skill", language=language, **more))
    return read_files([(f"my-skill/{file.path}", file.data) for file in files])


@pytest.mark.row("C1", "C2", "C13", "B5", "D1")
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", NAMES)
def test_a_new_skill_of_every_kind_has_no_problem(kind, language):
    package = _package(kind, language)
    assert package.problems == ()
    assert (package.manifest.slug, package.manifest.version) == ("my-skill", "0.1.0")
    assert package.manifest.description
    assert not any(mark in file.data.decode() for file in package.files for mark in "⟦¦⟧")


def _data(package, path):
    return package.file(path).data


@pytest.mark.row("C1")
def test_the_kinds_cover_every_profile_and_every_way_to_speak_to_a_script():
    packages = {kind: _package(kind) for kind in NAMES}
    assert {one.profile for one in packages.values()} == {"agentskills", "apexbridge", "single-file"}
    assert packages["agent"].manifest.security.timeout_ms == 60_000
    for kind, one in packages.items():
        found = find_entry_points(one.paths, one.manifest, one.profile, partial(_data, one))
        assert bool(found.scripts) == bool(find_template(kind).entry)
        assert [action.name for action in found.actions if action.declared] == (
            ["measure", "upper"] if kind in ASKED else []
        )


@pytest.mark.row("A1", "A2", "A3", "A5", "A6")
@pytest.mark.parametrize("kind", ARGUED)
def test_a_new_script_runs_and_leaves_its_result_behind(kind, tmp_path):
    tmp_path.chmod(0o755)
    ran = run(_package(kind), Request(inputs={"text": TEXT, "output_dir": "x"}), tmp_path)
    assert ran.outcome.failure_code == "", ran.ended
    assert ran.outcome.outputs == {"lines": 2, "characters": len(TEXT)}
    assert sorted(ran.artifacts) == ["result.json"]


@pytest.mark.row("C8", "C11")
@pytest.mark.parametrize("kind", EXECUTED)
def test_a_new_module_executes_and_tells_its_steps(kind, tmp_path):
    tmp_path.chmod(0o755)
    ran = run(_package(kind, "zh"), Request(inputs={"text": TEXT}), tmp_path)
    assert ran.outcome.failure_code == "", ran.ended
    assert ran.outcome.output == {"lines": 2, "characters": len(TEXT)}
    assert [step.name for step in ran.outcome.steps] == ["统计"]
    assert ran.outcome.warnings == ()


@pytest.mark.row("B1", "B2", "B3", "B8")
@pytest.mark.parametrize("kind", ASKED)
def test_a_new_request_skill_answers_its_actions_and_names_what_it_does_not_know(kind, tmp_path):
    package = _package(kind)
    for name, action, inputs, code in (
        ("a", "measure", {"text": TEXT}, ""),
        ("b", "upper", {}, "MISSING_PARAM"),
        ("c", "fly", {}, "UNKNOWN_ACTION"),
    ):
        (tmp_path / name).mkdir(mode=0o755)
        tmp_path.chmod(0o755)
        ran = run(package, Request(action=action, inputs=inputs), tmp_path / name)
        assert ran.outcome.failure_code == code, ran.ended


@pytest.mark.row("C9")
def test_the_tools_of_a_new_skill_are_functions_of_its_entry(tmp_path):
    tmp_path.chmod(0o755)
    package = _package("tools")
    assert [tool["name"] for tool in package.manifest.abp["tools"]] == ["measureText", "upperText"]
    for tool, output in (("measureText", {"lines": 2, "characters": 4}), ("upperText", {"text": "A\nBB"})):
        (tmp_path / tool).mkdir(mode=0o755)
        outcome = run(package, Request(tool=tool, inputs={"text": "a\nbb"}), tmp_path / tool).outcome
        assert outcome.answer == {"id": "", "tool": tool, "result": {"output": output}}


@pytest.mark.row("D1")
def test_what_is_said_of_a_skill_reaches_it_as_it_was_said():
    said = {"title": '周报: "一"', "description": "Counts --- and: 'quotes' # not a comment \\ ⟦name⟧"}
    for kind in NAMES:
        manifest = _package(kind, "zh", **said).manifest
        assert (manifest.display_name, manifest.description) == (said["title"], said["description"])


@pytest.mark.row("C1")
@pytest.mark.parametrize(
    ("given", "code"),
    [
        (NewSkill("poem", "my-skill"), "KIND_UNKNOWN"),
        (NewSkill("prompt", ""), "SKILL_NAME_INVALID"),
        (NewSkill("prompt", "My Skill"), "SKILL_NAME_INVALID"),
        (NewSkill("prompt", "a--b"), "SKILL_NAME_INVALID"),
        (NewSkill("prompt", "../etc"), "SKILL_NAME_INVALID"),
        (NewSkill("prompt", "a" * 65), "SKILL_NAME_INVALID"),
        (NewSkill("prompt", "a", title="t" * 201), "SKILL_TEXT_INVALID"),
        (NewSkill("prompt", "a", description="d" * 1025), "SKILL_TEXT_INVALID"),
        (NewSkill("prompt", "a", description="\0"), "SKILL_TEXT_INVALID"),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy(given, code):
    with pytest.raises(Refusal) as refused:
        create_files(given)
    assert refused.value.code == code
    assert refused.value.problems[0].remedy()
