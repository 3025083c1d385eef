"""A scan takes little whatever it is given: each check over 256 kB made to hurt it, within a limit."""

# ruff: noqa: E501

from __future__ import annotations

import resource
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.packages.read_package import read_files
from registry.packages.scan.findings import SEVERITIES
from registry.packages.scan.scan import CHECKS, scan
from tests.factories.scan_samples import page

pytestmark = pytest.mark.row("P3")

_CPU_S = 60  # for all checks over all texts: a few seconds, but hours for a pattern that explodes

_HURT = """
from registry.packages.scan.scan import CHECKS
from registry.packages.scan.text import MAX_SCANNED, read_text

PIECES = [
    "curl ", "curl http://a.b/", "| sudo ", "wget -q x; ", "a.", "1.", "-", "(", "`", "a" * 40 + " ", "/", ".ssh/", "<!-- ",
    "ignore all ", "do not tell ", "send ", "password: ", "x.zip ", "http://", "http://a.zip", "\\u200b a", "\\u202e", "#", "> ",
    "A" * 64, "base64 -d ", "eval(", "nc -e ", "/dev/tcp/a", "mkfifo ", ".connect(('a", "stratum+tcp://", "os.environ ", "<",
    "@a/", "cat a/", "env | ", "密码:", "不要告诉", "\\n", "exec bash ", "powershell ", "unzip -P", "New-Object ",
]
for check in CHECKS:
    for piece in (*PIECES, *(hint + " " for hint in check.hints)):
        hint = check.hints[0] if check.hints else ""
        text = hint + piece * (8192 // len(piece.encode())) + hint
        for suffix in ("md", "sh"):
            sum(1 for one in check.look(read_text("a." + suffix, text.encode())))
mixture = "".join(PIECES) + "\\n"
for check in CHECKS:
    sum(1 for one in check.look(read_text("a.md", (mixture * (MAX_SCANNED // len(mixture))).encode())))
"""


def test_no_text_takes_a_check_long():
    def limited():
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))

    subprocess.run([sys.executable, "-c", _HURT], check=True, preexec_fn=limited)


_WORDS = [hint for check in CHECKS for hint in check.hints]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.one_of(st.sampled_from(_WORDS), st.text(max_size=30), st.sampled_from(["\n", "```\n", "> ", "# "]))
    ),
    st.sampled_from(["SKILL.md", "scripts/a.py", "scripts/a.sh", "references/a.md"]),
)
def test_whatever_a_file_holds_is_scanned(pieces, path):
    text = "".join(pieces)
    files = page("Text.") | ({path: text.encode("utf-8", "replace")} if path != "SKILL.md" else {})
    package = read_files(list((page(text.replace("\0", "")) if path == "SKILL.md" else files).items()))
    for one in scan(package):
        assert one.severity in SEVERITIES
        assert len(one.quote) <= 160
        assert "\0" not in one.quote


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=2000), st.sampled_from(["a.png", "a.pyc", "a.so", "a.txt", "a.bin", "a"]))
def test_whatever_bytes_a_file_has_they_are_looked_at(data, name):
    package = read_files(list((page("Text.") | {f"assets/{name}": data}).items()))
    assert scan(package) == scan(package)
