"""The examples of the documentation, one a document, put together by the operations that speak of them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample

_HOST = "https://skills.example"
_DIGEST = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_AT = "2026-11-20T09:30:00.000000Z"
_VERSION_URL = f"{_HOST}/api/v1/skills/docs/summarise/versions/1.2.0"

SKILL = {
    "id": "01kajq3s5d8m6v9x2c4b7n1p0z",
    "skill": "docs/summarise",
    "team": "docs",
    "slug": "summarise",
    "name": "Summarise",
    "description": "Summarises a document in five sentences.",
    "type": "direct",
    "domain": "writing",
    "category": "text",
    "tags": ["text", "summary"],
    "visibility": "site",
    "source": "upload",
    "deprecated_at": None,
    "deprecation": "",
    "gone": "",
    "version": "1.2.0",
    "digest": _DIGEST,
    "created_at": _AT,
    "updated_at": _AT,
    "url": f"{_HOST}/api/v1/skills/docs/summarise",
    "page": f"{_HOST}/skills/docs/summarise/",
}
SKILL_DETAIL = {**SKILL, "successor": None, "channels": {"stable": "1.2.0"}, "canonical": None}
VERSION_SUMMARY = {
    "id": "01kajq3s5d8m6v9x2c4b7n1p10",
    "skill": "docs/summarise",
    "version": "1.2.0",
    "digest": _DIGEST,
    "size": 1834,
    "profile": "agentskills",
    "changelog": "Reads PDF too.",
    "created_at": _AT,
    "yanked_at": None,
    "yank_reason": "",
    "deprecated_at": None,
    "deprecation": "",
    "successor": "",
    "held": False,
    "url": _VERSION_URL,
    "files_url": f"{_VERSION_URL}/files",
    "archive_url": f"{_VERSION_URL}/archive",
}
VERSION = {
    **VERSION_SUMMARY,
    "version_as_written": "1.2",
    "published_by": "alice",
    "provenance": {"repository": "https://git.example/skills.git", "path": "skills/summarise"},
    "manifest": {"name": "summarise", "description": "Summarises a document in five sentences."},
    "body": "# Summarise\n",
    "problems": [],
    "preparation": "none",
    "channels": ["stable"],
    "notices": [],
}
FILE = {
    "path": "scripts/main.py",
    "size": 412,
    "digest": _DIGEST,
    "is_text": True,
    "executable": True,
    "url": f"{_VERSION_URL}/files/scripts/main.py",
}
COMPARISON = {
    "skill": "docs/summarise",
    "before": "1.1.0",
    "after": "1.2.0",
    "same_permissions": False,
    "breaking": False,
    "asks_more": {"hosts": ["api.example.org"]},
    "abilities": [{"about": "hosts", "gained": ["api.example.org"], "lost": [], "more": True}],
    "input_schema": [{"place": "/pages", "effect": "compatible", "reason": "It is new."}],
    "output_schema": [],
    "tools": [],
    "manifest": [{"name": "tags", "before": "text", "after": "text, pdf", "gained": ["pdf"], "lost": []}],
    "files": [
        {
            "kind": "added",
            "path": "scripts/pages.py",
            "before": None,
            "after": {"path": "scripts/pages.py", "size": 412, "digest": _DIGEST},
        }
    ],
}
CANONICAL: dict[str, Any] = {
    "name": "_canonical_summarise",
    "slug": "summarise",
    "pinned": {"skill": "docs/summarise", "version": "1.2.0", "digest": _DIGEST},
    "unavailable": "",
    "follows": "latest",
    "since": _AT,
    "mirror": None,
    "mirror_problems": [],
    "waiting": None,
    "url": f"{_HOST}/api/v1/canonical/summarise",
    "text_url": f"{_HOST}/api/v1/canonical/summarise/text",
    "archive_url": f"{_HOST}/api/v1/skills/_canonical_/summarise/versions/latest/archive",
}
CANONICAL_CHANGE = {
    "id": "01kajq3s5d8m6v9x2c4b7n1p16",
    "deed": "set",
    "at": _AT,
    "by": "root",
    "before": "docs/summarise@1.1.0",
    "before_digest": _DIGEST,
    "after": "docs/summarise@1.2.0",
    "after_digest": _DIGEST,
    "reason": "Reviewed by us.",
}
PROPOSAL = {
    "slug": "summarise",
    "before": {**CANONICAL["pinned"], "version": "1.1.0"},
    "after": CANONICAL["pinned"],
    "asks_more": {"hosts": ["api.example.org"]},
    "affected": [{"caller": "bob", "teams": ["docs"], "count": 12, "last_kind": "load", "last_used_at": _AT}],
    "comparison": COMPARISON,
}
USAGE = {"skill": "docs/summarise", "count": 42, "last_used_at": _AT, "score": 38.2}
USAGE_DETAIL = {
    **USAGE,
    "days": 0.957,
    "factor": 0.909583,
    "half_life_days": 7,
    "floor": 0.1,
    "hold_seconds": 60,
    "kinds": {"load": 30, "install": 4, "run": 8},
    "by_version": [{"version": "1.2.0", "load": 30, "install": 4, "run": 8}],
    "by_day": [{"day": "2026-11-20", "load": 3, "install": 0, "run": 1}],
}
PUBLISHED = {
    "ok": True,
    "created": True,
    "skill": "docs/summarise",
    "version": "1.2.0",
    "digest": _DIGEST,
    "problems": [],
    "url": _VERSION_URL,
}
FARES = {"profiles": [{"profile": "agentskills", "own": True, "ok": True, "problems": []}]}
MIGRATED = {
    "ok": True,
    "status": "migrated",
    "slug": "summarise",
    "profile": "apexbridge",
    "changes": ["The code in SKILL.md became scripts/execute.ts."],
    "diff": "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -5,0 +6,2 @@\n+resources:\n+  entry: ./scripts/execute.ts\n",
    "digest": _DIGEST,
    "archive": "UEsDBBQ=",
    "problems": [],
}
SEARCH = {
    "query": "summary",
    "none": False,
    "results": [
        {
            "skill": "docs/summarise",
            "version": "1.2.0",
            "score": 12.5,
            "tier": "tags",
            "reasons": [
                {"kind": "word", "field": "tags", "text": "summary", "start": 0, "end": 7, "share": 1.0}
            ],
        }
    ],
}
FACETS = {"team": [{"value": "docs", "count": 3}], "tag": [{"value": "text", "count": 2}]}
MATCH = {
    "query": "summarise this report for me",
    "none": False,
    "results": [
        {
            "skill": "docs/summarise",
            "version": "1.2.0",
            "score": 0.83,
            "tier": "lexical",
            "reasons": [
                {
                    "kind": "word",
                    "field": "name",
                    "text": "summarise",
                    "start": 0,
                    "end": 9,
                    "share": 1.0,
                }
            ],
            "name": "Summarise",
            "description": "Summarises a document in a few sentences.",
            "can": {"load": True, "run": True},
            "needs": {"approval": False, "secret": False, "files": True, "network": False},
            "input_schema": None,
        }
    ],
}
SOURCE = {
    "id": "01kajq3s5d8m6v9x2c4b7n1p20",
    "team": "docs",
    "kind": "git",
    "location": "https://git.example/skills.git",
    "options": {"branch": "main"},
    "visibility": "",
    "interval_s": 86400,
    "next_at": _AT,
    "seen": "5f1d3c0e6b0c4f8f9d1f1a5b3f0f2c1d9b8a7e60",
    "created_at": _AT,
    "url": f"{_HOST}/api/v1/sources/01kajq3s5d8m6v9x2c4b7n1p20",
}
DRIFT = {
    "now": "c0ffee3d0b6c4f8f9d1f1a5b3f0f2c1d9b8a7e61",
    "imported": SOURCE["seen"],
    "is_ahead": True,
    "published_over": ["docs/summarise"],
}
IMPORT_SUMMARY = {
    "id": "01kajq3s5d8m6v9x2c4b7n1p21",
    "source": SOURCE,
    "status": "running",
    "found": 40,
    "done": 30,
    "counts": {"published": 28, "unchanged": 0, "skipped": 2, "refused": 0},
    "problems": [],
    "created_at": _AT,
    "started_at": _AT,
    "finished_at": None,
    "url": f"{_HOST}/api/v1/imports/01kajq3s5d8m6v9x2c4b7n1p21",
}
IMPORT = {
    **IMPORT_SUMMARY,
    "rows": [
        {
            "path": "skills/summarise",
            "outcome": "published",
            "skill": "docs/summarise",
            "version": "1.2.0",
            "digest": _DIGEST,
            "problems": [],
        }
    ],
    "next_cursor": None,
}
ME = {
    "id": "01kajq3s5d8m6v9x2c4b7n1p11",
    "username": "alice",
    "is_administrator": False,
    "teams": [{"team": "docs", "name": "Docs", "role": "owner"}],
    "token": {"name": "laptop", "scopes": ["read", "run"], "team": None, "expires_at": _AT},
}
CHANGES = {"items": [SKILL], "position": "WyJjaGFuZ2VzIl0", "more": False}
CODE = {
    "code": "VERSION_EXISTS",
    "message": "%(skill)s %(version)s is already published, with other content.",
    "remedy": "Published versions never change: raise the version and publish again.",
    "severity": "error",
    "status": 409,
    "retryable": False,
}


def page(item: dict[str, Any]) -> dict[str, Any]:
    return {"items": [item], "next_cursor": None}


def answers(value: Any, *statuses: str) -> OpenApiExample:
    """The example of an answer."""
    return OpenApiExample("Answer", value=value, response_only=True, status_codes=list(statuses or ("200",)))


def asks(value: Any) -> OpenApiExample:
    """The example of a request's body."""
    return OpenApiExample("Request", value=value, request_only=True)
