"""The figures of docs/explanation/architecture.md: small files, small functions, no vague names."""

from __future__ import annotations

import re
from statistics import median

import pytest

from tests.architecture.sources import MODULES, ROOT, SOURCES, imports_of, source_of

LONGEST_FILE = 400
ONE_FILE = {"registry/facades/command_line/skillquay.py"}  # people download it as one file
LONGEST_FUNCTION = 50
MEDIAN_FUNCTION = 8
VAGUE = {"utils", "helpers", "common", "misc", "manager", "data", "info", "handle", "process"}


def _functions():
    for path in MODULES.values():
        for line, name, lines in source_of(path).functions:
            yield f"{path.relative_to(ROOT)}:{line} {name}", lines


@pytest.mark.row("P9")
def test_files_are_small():
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in SOURCES}
    long = {path: n for path, n in lengths.items() if n > LONGEST_FILE and "migrations" not in path}
    assert set(long) <= ONE_FILE


@pytest.mark.row("P9")
def test_functions_are_small():
    lengths = dict(_functions())
    assert {name: n for name, n in lengths.items() if n > LONGEST_FUNCTION} == {}
    assert median(lengths.values()) <= MEDIAN_FUNCTION


@pytest.mark.row("P9")
def test_no_module_has_a_vague_name():
    assert [str(path) for path in SOURCES if VAGUE & set(path.relative_to(ROOT).with_suffix("").parts)] == []


CLIENTS = {
    "socket",
    "ssl",
    "http.client",
    "urllib.request",
    "urllib3",
    "requests",
    "httpx",
    "httpx2",
    "openai",
    "anthropic",
    "pydantic_ai",
    "aiohttp",
    "boto3",
    "botocore.session",
    "dulwich.porcelain",
    "smtplib",
    "ftplib",
    "xmlrpc",
}
DOORS = {  # who may import one of them, and why
    "registry/http_client": "the one door out",
    "registry/storage/s3.py": "the site's own storage, which its operator names",
    "worker/sandbox": "sockets between the sandbox's own processes, and attacks that try to get out",
    "worker/executors/agent_loop/loop.py": "a model's clients, which have the one door out for a transport",
    "registry/facades/command_line/skillquay.py": "runs on other machines; the site only serves it",
    "worker/core/host.py": "the name of this host",
    "portal/management/commands/up.py": "tries the port that it will listen on",
}


def _client(imported):
    return next((c for c in CLIENTS if imported == c or imported.startswith(c + ".")), None)


@pytest.mark.row("P9")
def test_only_one_door_leads_out():
    """Everything that somebody else's address may reach goes through registry.http_client.fetch."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {imported}"
        for path in SOURCES
        if not str(path.relative_to(ROOT)).startswith(tuple(DOORS))
        for line, imported in imports_of(path)
        if _client(imported)
    ]
    assert wrong == []


@pytest.mark.row("P9")
def test_programs_are_told_moments_in_one_way():
    told = re.compile(r'(?:_at|now\(\)|_at"\])\.isoformat\(')
    lines = {
        f"{path.relative_to(ROOT)}:{number}"
        for path in SOURCES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if told.search(line)
    }
    assert lines == set()
