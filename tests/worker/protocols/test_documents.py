"""The scripts of the source documents, taken from them, run unchanged."""

from __future__ import annotations

import pytest

from tests.worker.protocols.running import SINGLE, call
from tests.worker.protocols.seeds import block, blocks, broken

_PYTHON = [("import", 0), ("def main", 0), ("parser = ", 4), ("parser.add", 4), ("args = ", 4), ("#", 4)]
_PYTHON += [("result_path = ", 4), ("print(", 4), ("if __name__", 0)]
_BASH = [
    ("# ", 0),
    ("while", 0),
    ("case", 2),
    ("--input-path)", 4),
    ("*)", 4),
    ("esac", 2),
    ("shift done", 2),
]
_BASH += [("LOG_FILE=", 0), ('echo "Processing', 0), ('echo "{', 0)]


@pytest.fixture
def document_a(shared):
    return next((shared / "seeds").glob("000*")).read_text()


@pytest.fixture
def document_b(shared):
    return next((shared / "seeds").glob("001*")).read_text()


def python_template(document):
    return broken(block(document, "python", "argparse"), _PYTHON)


def bash_template(document):
    return broken(block(document, "bash", "#!/bin/bash"), _BASH).replace("shift done", "shift\ndone")


@pytest.mark.row("A6")
def test_the_python_template_of_a_runs_as_it_stands(document_a, tmp_path):
    ran = call(
        {"scripts/process.py": python_template(document_a)},
        tmp_path,
        inputs={"input_path": "x", "threshold": 1},
    )
    assert ran.outcome.success, ran.ended.stderr.decode()
    assert ran.outcome.outputs == {"output_file": "/tmp/result.json", "items_processed": 100}


@pytest.mark.row("A6")
def test_the_python_template_of_a_fails_without_its_argument(document_a, tmp_path):
    ran = call({"scripts/process.py": python_template(document_a)}, tmp_path)
    assert (ran.outcome.failure_code, ran.ended.exit_code) == ("SCRIPT_FAILED", 2)
    assert b"--input-path" in ran.ended.stderr


@pytest.mark.row("A6")
def test_the_bash_template_of_a_runs_as_it_stands(document_a, tmp_path):
    ran = call({"scripts/process.sh": bash_template(document_a)}, tmp_path, inputs={"input_path": "a b"})
    assert ran.outcome.success, (ran.ended.stderr.decode(), bash_template(document_a))
    assert ran.outcome.outputs == {"log_file": "/tmp/process.log", "status": "done"}


@pytest.mark.row("A6")
def test_the_bash_template_of_a_refuses_unknown_arguments(document_a, tmp_path):
    ran = call({"scripts/process.sh": bash_template(document_a)}, tmp_path, inputs={"colour": "red"})
    assert (ran.ended.exit_code, ran.ended.stderr) == (1, b"Unknown: --colour\n")


@pytest.mark.row("B8")
def test_the_sample_skill_of_b_runs_unchanged(document_b, tmp_path):
    source = next(one for one in blocks(document_b, "python") if "days_analyzed" in one)
    ran = call({"scripts/sample.py": source}, tmp_path, skill=SINGLE, action="analyze", inputs={"days": 30})
    assert ran.outcome.success
    assert ran.outcome.output == {"average": 85.3, "trend": "improving", "days_analyzed": 30}
    assert ran.outcome.answer["action"] == "analyze"  # which the sample leaves out


@pytest.mark.row("B8")
def test_the_sample_skill_of_b_is_called_with_its_only_action(document_b, tmp_path):
    source = next(one for one in blocks(document_b, "python") if "days_analyzed" in one)
    ran = call({"scripts/sample.py": source}, tmp_path)  # taken for a single-file skill by what it reads
    assert ran.outcome.output["days_analyzed"] == 7


@pytest.mark.row("B3", "B8")
@pytest.mark.parametrize(
    ("action", "code"),
    [("action_1", "INTERNAL_ERROR"), ("action_2", "INTERNAL_ERROR"), ("x", "UNKNOWN_ACTION")],
)
def test_the_template_of_b_answers_until_it_is_filled_in(action, code, document_b, tmp_path):
    source = next(one for one in blocks(document_b, "python") if "handle_action_1" in one)
    ran = call({"scripts/template.py": source}, tmp_path, skill=SINGLE, action=action)
    assert ran.outcome.failure_code == code
    assert ran.outcome.answer["action"] == action


@pytest.mark.row("B2", "B8")
def test_the_template_of_b_filled_in_prints_over_many_lines(document_b, tmp_path):
    source = next(one for one in blocks(document_b, "python") if "handle_action_1" in one)
    filled = source.replace('"data": {...}\n    }', '"data": {"n": params["n"]}\n    }')
    ran = call({"scripts/template.py": filled}, tmp_path, skill=SINGLE, action="action_1", inputs={"n": 1})
    assert ran.outcome.output == {"n": 1}
    assert ran.ended.stdout.count(b"\n") > 3
