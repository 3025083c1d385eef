"""What is read of shell scripts: options of getopts, and arguments that are read by hand."""

from __future__ import annotations

import subprocess

import pytest

from registry.packages.command_lines import build_arguments, read_command_line

pytestmark = pytest.mark.row("A7")

GETOPTS = """#!/bin/bash
# Usage: x.sh [-a] [-o FILE] TEXT...
#   -a  all
usage() { echo "no $1"; }
while getopts ":ao:h" option; do
  case $option in
    a) ALL=1 ;;
    o) OUTPUT_FILE="$OPTARG" ;;
    h) usage; exit ;;
  esac
done
shift $((OPTIND - 1))
printf '%s|' "$ALL" "$OUTPUT_FILE" "$@"
"""


def test_getopts_gives_options_and_the_built_call_reaches_the_script(tmp_path):
    found = read_command_line("scripts/x.sh", GETOPTS)
    assert (found.kind, found.library, found.gaps) == ("fields", "getopts", ())
    assert found.usage == "Usage: x.sh [-a] [-o FILE] TEXT...\n-a  all"
    assert [(each.id, each.name, each.max_values, each.file) for each in found.root.parameters] == [
        ("a", "a", 0, ""),
        ("o", "output_file", 1, "output"),
        ("arguments", "arguments", None, ""),
    ]
    script = tmp_path / "x.sh"
    script.write_text(GETOPTS)
    words = build_arguments(found, {"a": True, "o": "-x y", "arguments": ["-a", "b c"]})
    assert subprocess.check_output(["bash", script, *words], text=True) == "1|-x y|-a|b c|"


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ('echo "$1"', "line"),
        ('main() { echo $1; }\nmain "$@"', "line"),
        ("for x in $(ls); do echo ${2:-a}; done", "line"),
        ("if [ $# -eq 0 ]; then exit; fi", "line"),
        ("f() { echo $1 $@; }\nf a; echo $0 $? $HOME", "none"),
        ('while getopts "$options" x; do :; done', "line"),
    ],
)
def test_arguments_outside_functions_are_read_by_hand(source, kind):
    assert read_command_line("scripts/x.sh", source).kind == kind


def test_printed_usage_ends_with_the_statements_that_print():
    source = 'if [ $# -eq 0 ]; then\n  echo "Usage: x.sh FILE" >&2\n  echo "  FILE  a table"\n  exit 1\nfi\n'
    assert read_command_line("scripts/x.sh", source).usage == "Usage: x.sh FILE\n  FILE  a table"


def test_examples_below_the_usage_belong_to_it():
    usage = "Usage:\n  x.sh <a> [<b> ...]\n\nCompares files.\n\nExamples:\n  x.sh one.txt two.txt\n"
    source = f"usage() {{\n  cat <<'EOF'\n{usage}EOF\n}}\n[ $# -gt 0 ] || usage\ncmp $1 $2\n"
    lines = read_command_line("scripts/x.sh", source).usage.splitlines()
    assert [line.strip() for line in lines] == [
        "Usage:",
        "x.sh <a> [<b> ...]",
        "Examples:",
        "x.sh one.txt two.txt",
    ]
