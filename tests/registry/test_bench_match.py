from __future__ import annotations

import gzip
import json
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.row("C4")

EMPTY = {"tags": [], "keywords": [], "category": "", "phrases": [], "when_to_use": "", "body": "# How"}
SKILLS = {"ledger": "Sorts invoices.", "pottery": "Shapes clay.", "sails": "Mends sails of boats."}
QUERIES = [
    ("sort my invoices", "ledger", "en"),
    ("发票整理", "ledger", "zh"),
    ("shape the clay", "sails", "en"),
]


def test_it_prints_the_document_of_the_design(tmp_path):
    corpus, queries = tmp_path / "corpus.jsonl.gz", tmp_path / "queries.jsonl"
    skills = [
        {**EMPTY, "slug": slug, "name": slug, "display": slug.title(), "description": text}
        for slug, text in SKILLS.items()
    ]
    corpus.write_bytes(gzip.compress("\n".join(map(json.dumps, skills)).encode()))
    asked = (
        {"query": query, "expected_slug": slug, "lang": lang, "target_lang": "en"}
        for query, slug, lang in QUERIES
    )
    queries.write_text("\n".join(map(json.dumps, asked)))
    command = [sys.executable, "manage.py", "bench", "match", "--corpus", corpus, "--queries", queries]
    ended = subprocess.run([*command, "--rounds", "1", "--json"], cwd=ROOT, capture_output=True, check=True)
    found = json.loads(ended.stdout)
    assert (found["skills"], found["queries"]) == (3, 3)
    assert found["all"] == {"R@1": 0.6667, "R@5": 0.6667, "R@20": 0.6667, "MRR": 0.6667}
    assert found["by_pair"]["zh-en"]["R@1"] == 1
    assert set(found["latency_ms"]) == {"p50", "p95"}
