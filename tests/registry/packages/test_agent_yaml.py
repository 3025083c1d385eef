"""How long a skill may take, as document B's ``agent.yaml`` says it."""

from __future__ import annotations

import pytest

from registry.packages.read_package import read_files

pytestmark = pytest.mark.row("B4")

SCRIPT = "agents/analyst/.claude/skills/build_analysis.py"
AGENT = """skills:
  - name: another
    entry: .claude/skills/another.py
    timeout: 5
  - name: builds
    entry: .claude/skills/build_analysis.py
    timeout: 600  # 10 分钟
"""


def timeout_ms(agent: bytes, front: str = "", script: str = SCRIPT) -> int | None:
    head = f"---\nname: a\ndescription: b\n{front}---\n".encode()
    place = "agents/analyst/agent.yaml" if script.startswith("agents/") else "agent.yaml"
    files = [("SKILL.md", head), (script, b"print(1)"), (place, agent)]
    return read_files(files).manifest.security.timeout_ms


def test_the_seconds_of_its_own_row_hold() -> None:
    assert timeout_ms(AGENT.encode()) == 600_000
    assert timeout_ms(b"\xef\xbb\xbf" + AGENT.encode().replace(b"\n", b"\r\n")) == 600_000
    assert timeout_ms(AGENT.encode(), script="scripts/build_analysis.py") == 600_000


def test_a_row_is_known_by_its_name_too() -> None:
    assert timeout_ms(b"skills: [{name: build_analysis, timeout: 1.5}]") == 1_500


def test_the_front_matters_own_limit_wins() -> None:
    assert timeout_ms(AGENT.encode(), "security: {timeout_ms: 1000}\n") == 1_000


@pytest.mark.parametrize(
    "agent",
    [
        "",
        "[]",
        "skills",
        "skills: 7",
        "skills: [7]",
        "skills: [{name: build_analysis}]",
        "a: [",
        "\ud800",
        "skills: [{name: build_analysis, timeout: -1}]",
        "skills: [{name: build_analysis, timeout: true}]",
        "skills: [{name: build_analysis, timeout: 1e300}]",
        "skills: [{name: build_analysis, timeout: soon}]",
        "skills: [{name: other, timeout: 5}]",
        "[" * 5_000,
    ],
)
def test_what_says_nothing_usable_leaves_the_sites_default(agent: str) -> None:
    assert timeout_ms(agent.encode("utf-8", "surrogatepass")) is None
