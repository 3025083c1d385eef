from __future__ import annotations

import gzip
import io
import json
import os
from contextlib import nullcontext

import pytest
from django.core.management import call_command

from bench import _scratch
from tests import migrated

pytestmark = pytest.mark.row("C4")

EMPTY = {"tags": [], "keywords": [], "category": "", "phrases": [], "when_to_use": "", "body": "# How"}
SKILLS = {"ledger": "Sorts invoices.", "pottery": "Shapes clay.", "sails": "Repairs sails of boats."}
QUERIES = [
    ("sort my invoices", "ledger", "en", "read"),
    ("发票整理", "ledger", "zh", "unread"),
    ("shape the clay", "sails", "en", "unread"),
    ("good morning", "", "en", "unread"),
]


@pytest.fixture
def migrated_site(tmp_path, monkeypatch):
    """The folder of the benchmark's own site, with tables: migrating would take most of the test."""
    folder = tmp_path / "site"
    migrated.lay({**os.environ, "SKILLQUAY_VAR": str(folder), "DATABASE_URL": "", "STORAGE_URL": ""})
    monkeypatch.setattr(_scratch.tempfile, "TemporaryDirectory", lambda prefix: nullcontext(str(folder)))


@pytest.mark.slow("loads a corpus in another process")
@pytest.mark.usefixtures("migrated_site")
def test_it_prints_the_document_of_the_design(tmp_path):
    corpus, queries = tmp_path / "corpus.jsonl.gz", tmp_path / "queries.jsonl"
    skills = [
        {**EMPTY, "slug": slug, "name": slug, "display": slug.title(), "description": text}
        for slug, text in SKILLS.items()
    ]
    corpus.write_bytes(gzip.compress("\n".join(map(json.dumps, skills)).encode()))
    asked = (
        {"query": query, "expected_slug": slug, "lang": lang, "target_lang": "en", "half": half}
        for query, slug, lang, half in QUERIES
    )
    queries.write_text("\n".join(map(json.dumps, asked)))
    files = ["--corpus", str(corpus), "--queries", str(queries)]
    printed = io.StringIO()
    call_command("bench", "match", *files, "--rounds", "1", "--json", stdout=printed)
    found = json.loads(printed.getvalue())
    assert (found["skills"], found["queries"]) == (3, 4)
    assert found["all"] == {"R@1": 0.6667, "R@5": 0.6667, "R@20": 0.6667, "MRR": 0.6667, "queries": 3}
    assert found["by_pair"]["zh-en"]["R@1"] == 1
    assert found["none"] == {"real": 0, "lost": 0, "idle": 1, "idle-en": 1}
    read, unread = found["halves"]["read"], found["halves"]["unread"]
    assert (read["all"]["R@1"], unread["all"]["R@1"]) == (1, 0.5)
    assert set(unread["by_pair"]) == {"zh-en", "en-en"}
    assert sum(row["answers"] for row in unread["confidence"]) == 2
    assert sum(row["answers"] * row["right"] for row in unread["confidence"]) == 1
    assert set(found["latency_ms"]) == {"p50", "p95"}
