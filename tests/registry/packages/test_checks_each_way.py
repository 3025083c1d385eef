"""What the check of a package finds, on the publish page, in the API and from the command line."""

from __future__ import annotations

import pytest

from tests.attacks.malicious_packages import CHINESE, ENGLISH, SAMPLES, described
from tests.ways import CHECK_WAYS, WAYS, check_files

pytestmark = pytest.mark.django_db
each_way = pytest.mark.parametrize("way", CHECK_WAYS)
STRICT = """---
name: seeds
description: For tests.
version: 1.0.0
type: direct
capabilities: [a]
tags: [a]
triggers: {phrases: [a]}
input_schema: {type: object}
output_schema: {type: object}
security: {timeout_ms: 1000}
resources: {entry: scripts/execute.py}
---
"""
SECTIONS = ("描述", "参数", "输出", "执行步骤", "示例")
EXECUTE = "def execute(parameters, context):\n    return {'output': 1}\n"
LENDS = "def execute(parameters, context):\n    return {'output': 1, 'memory_writes': []}\n"


@pytest.fixture
def problems(way, team, alice, client, tmp_path):
    """``problems(files, code)``: path and line of each problem with this code."""
    client.force_login(alice)

    def problems(files, code):
        found = check_files(way, client, files, tmp_path)
        return [(path, line) for each, path, line in found if each == code]

    return problems


@pytest.fixture
def missing(problems):
    """``missing(titles, script)``: the number of sections that a strict package with these titles misses."""

    def missing(*titles, script=EXECUTE):
        body = "".join(f"{title}\n\nText.\n\n" for title in titles)
        files = {"SKILL.md": STRICT + body, "scripts/execute.py": script}
        return len(problems(files, "SECTION_MISSING"))

    return missing


@pytest.mark.row("C13")
@each_way
def test_title_about_scripts_or_resources_is_no_description(missing):
    rest = [f"## {title}" for title in SECTIONS[1:]]
    counts = [missing(title, *rest) for title in ("## 描述", "## 功能说明", "## 脚本说明", "## 资源说明")]
    assert counts == [0, 0, 1, 1]


@pytest.mark.row("C13")
@each_way
def test_one_title_satisfies_two_sections_at_most(missing):
    title = "Description, inputs, outputs, steps and examples"
    assert [missing(f"# {title}"), missing("# 技能", f"## {title}")] == [5, 3]


@pytest.mark.row("C13", "C10")
@each_way
def test_memories_in_snake_case_need_the_security_section(missing):
    titles = [f"## {title}" for title in SECTIONS]
    assert [missing(*titles, script=LENDS), missing(*titles, "## 安全", script=LENDS)] == [1, 0]


@pytest.mark.row("A4")
@each_way
def test_declared_script_may_have_the_extension_of_its_file(problems):
    phase = "## Scripts\n\n- execute\n- execute.py\n- gone.py\n- 缺失\n"
    files = {"SKILL.md": STRICT, "scripts/execute.py": EXECUTE, "phases/1.md": phase, "actions/2.md": phase}
    lines = [(path, line) for path in ("actions/2.md", "phases/1.md") for line in ("5", "6")]
    assert problems(files, "SCRIPT_UNDECLARED") == lines


@pytest.mark.row("P3", "P9")
@pytest.mark.parametrize("way", WAYS)  # check_package does not scan
@pytest.mark.parametrize(("rule", "sentence"), [("encoded-shell", ENGLISH[0]), ("pipe-to-shell", CHINESE[0])])
def test_sentence_about_security_releases_no_package(problems, rule, sentence):
    sample = next(each for each in SAMPLES if each.rule == rule and each.path == "SKILL.md")
    files = {path: data.decode() for path, data in described(sample, sentence).items()}
    assert "SKILL.md" in [path for path, _line in problems(files, "SCAN_HOLDS")]
