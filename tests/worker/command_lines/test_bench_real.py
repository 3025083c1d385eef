"""``bench real`` counts what is read of the scripts of a collection."""

from __future__ import annotations

import importlib

import pytest

real = importlib.import_module("bench.real")

pytestmark = [pytest.mark.row("A7")]

HEAD = "import argparse, sys\np = argparse.ArgumentParser()\np.add_argument('file')\n"
SCRIPTS = {
    "equal.py": HEAD + "p.parse_args()\n",
    "incomplete.py": HEAD + "p.add_argument('--' + sys.platform)\np.parse_args()\n",
    "refused.py": HEAD + "p.add_argument('--a', required=True, type=lambda text: 1 / 0)\np.parse_args()\n",
    "silent.py": HEAD + "raise SystemExit\np.parse_args()\n",
    "filled.py": "import sys\nprint(sys.argv)\n",
    "empty.py": "import sys\nprint(sys.argv[1])\n",
    "none.py": "print(1)\n",
}


def test_each_script_is_counted_once_per_step(tmp_path):
    for name in ("rows", "copy"):
        scripts = tmp_path / name / "scripts"
        scripts.mkdir(parents=True)
        skill = "---\nname: rows\ndescription: For tests.\n---\n# Rows\n\n    python scripts/filled.py a\n"
        (tmp_path / name / "SKILL.md").write_text(skill)
        for file, source in SCRIPTS.items():
            (scripts / file).write_text(source)
    document = real.measure({"corpus": str(tmp_path), "show": True})
    figures = document["halves"]["all"]
    assert (figures["packages"], figures["programs"]) == (1, 7)
    assert figures["forms"] == {"fields": 4, "none": 1, "filled": 1, "usage": 0, "empty": 1}
    assert (figures["equal"], figures["incomplete"], figures["no_answer"]) == (2, 1, 1)
    assert figures["offered_share"] == round(6 / 7, 4)
    assert figures["refused_share"] == round(1 / 3, 4)
    assert sorted(rest[1:] for _half, *rest in document["named"]) == [
        ["scripts/empty.py", "empty"],
        ["scripts/refused.py", "refused"],
        ["scripts/silent.py", "no_answer"],
    ]
    assert list(real.lines(document))
