"""What must hold on SQLite and on PostgreSQL alike, in processes that share a database of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import nullcontext

import psycopg
import pytest

from registry.core import sql as bulk
from registry.search import sql as retrieval
from tests import cluster, migrated
from tests.conftest import ROOT

pytestmark = [
    pytest.mark.slow("races of processes on both databases"),
    pytest.mark.cluster,
    pytest.mark.row("P9"),
    pytest.mark.matrix("races", at_most=1),
]

QUERIES = [
    "report",
    "weekly report",
    "pdf",
    "convert table",
    "rep",
    "trans",
    "review code test",
    "报告",
    "周报",
    "总结报告",
    "翻译 合同",
    "会",
    "pdf 转换",
    "report 数据",
    "docs/report-data-1",
    "nothing at all",
]


def _call(environment, *argv, given=""):
    ended = subprocess.run(
        [sys.executable, *argv], cwd=ROOT, env=environment, input=given, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def _database(kind):
    return cluster.own_database(cluster.postgres()) if kind == "postgresql" else nullcontext("")


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def races(request, tmp_path_factory):
    """By race what the publishers of each round did, on a site whose blobs are where the suite's are."""
    with _database(request.param) as database:
        environment = {
            **os.environ,
            "DATABASE_URL": database,
            "STORAGE_URL": cluster.own_storage(),
            "SKILLQUAY_VAR": str(tmp_path_factory.mktemp(request.param)),
        }
        migrated.lay(environment)
        return json.loads(_call(environment, "-m", "tests.registry.versions.racing"))


@pytest.mark.row("P1", "P3")
def test_of_two_that_publish_the_same_version_at_once_one_does_and_the_other_finds_it_done(races):
    assert races["same"] == [["again", "created"]] * 5


@pytest.mark.row("P1", "P3")
def test_of_two_that_publish_other_bytes_as_one_version_at_once_one_is_refused(races):
    assert races["other"] == [["VERSION_EXISTS", "created"]] * 5


@pytest.mark.row("P1", "P12")
def test_who_publishes_or_downloads_while_it_changes_ends_well_or_is_told_why(races):
    allowed = [
        ({"created", "SLUG_REDIRECTED"}, "renamed"),
        ({"read", "PURGED", "BLOB_MISSING"}, "purged"),
        ({"read"}, "yanked"),
    ]
    for number, outcome in enumerate(races["change"]):
        first, second = allowed[number % 3]
        assert outcome in [sorted([each, second]) for each in first]


@pytest.mark.row("P3")
def test_ten_skills_published_at_once_wait_for_each_other_and_all_arrive(races):
    assert races["apart"] == [["created"] * 10]


@pytest.mark.full
@pytest.mark.row("D9")
def test_of_many_uses_by_one_caller_at_once_one_counts(races):
    assert races["used"] == [["counted", *["held back"] * 5]] * 4


@pytest.mark.full
@pytest.mark.row("P4", "C4")
def test_search_facets_and_match_find_the_same_on_both_byte_for_byte(tmp_path):
    answers = {}
    for kind in ("sqlite", "postgresql"):
        with _database(kind) as database:
            environment = {**os.environ, "DATABASE_URL": database, "STORAGE_URL": ""}
            environment["SKILLQUAY_VAR"] = str(tmp_path / kind)
            migrated.lay(environment)
            answers[kind] = _call(
                environment, "-m", "tests.registry.search.answering", given=json.dumps(QUERIES)
            )
    assert answers["sqlite"] == answers["postgresql"]
    found = [len(json.loads(line)["results"]) for line in answers["sqlite"].splitlines()]
    assert len(found) == 4 * len(QUERIES)
    assert found.count(20) >= len(QUERIES)


_COMMON, _RARE = 7, 40_000  # terms in so many skills, and in two each
_POSTED = f"""
    INSERT INTO registry_posting (term_id, skill_id, weight, field_mask, scope, recommendable_team)
    SELECT term, skill, 1000, 16, 'public', 1
    FROM generate_series(1, {_COMMON}) AS term CROSS JOIN generate_series(1, 2000) AS skill
    UNION ALL SELECT {_COMMON} + each, each % 2000 + side, 1000, 16, 'public', 1
    FROM generate_series(1, {_RARE}) AS each CROSS JOIN generate_series(1, 2) AS side
"""


@pytest.mark.full
@pytest.mark.row("P4", "P9")
def test_postgresql_looks_up_pairs_and_reads_no_other_posting_of_a_common_term(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(bulk, "fetch_all", lambda sql, values: asked.append((sql, values)) or [])
    retrieval.read_missing_postings([1, 2], range(100, 150), ())
    ((sql, values),) = asked
    with _database("postgresql") as database:
        migrated.lay({**os.environ, "DATABASE_URL": database, "SKILLQUAY_VAR": str(tmp_path)})
        with psycopg.connect(
            database,
            autocommit=True,
            cursor_factory=psycopg.ClientCursor,
            options="-c session_replication_role=replica",
        ) as connection:
            connection.execute(_POSTED)  # of terms and skills that need not be there for a replica
            connection.execute("VACUUM ANALYZE registry_posting")
            plan = "\n".join(line for (line,) in connection.execute(f"EXPLAIN {sql}", values))
    assert "one_posting_per_term" in plan
    assert "posting_lookup" not in plan
