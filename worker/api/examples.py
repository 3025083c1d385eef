"""The examples of the documentation of runs and inputs."""

from registry.api.examples import answers, asks, page

_HOST = "https://skills.example"
_UID = "01kajq3s5d8m6v9x2c4b7n1p0z"
_DIGEST = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_AT = "2026-11-20T09:30:00.000000Z"

ASKED = {"skill": "docs/summarise", "inputs": {"text_path": {"input": _UID}, "sentences": 5}}
RUN = {
    "id": _UID,
    "skill": "docs/summarise",
    "version": "1.2.0",
    "digest": _DIGEST,
    "protocol": "script",
    "status": "succeeded",
    "failure_code": "",
    "success": True,
    "outputs": {"sentences": 5},
    "output": None,
    "format": "",
    "answer": None,
    "metadata": {},
    "token_usage": None,
    "message": "",
    "error": None,
    "warnings": [],
    "stdout": '{"sentences": 5}\n',
    "stderr": "",
    "steps": [],
    "artifacts": [
        {
            "path": "summary.md",
            "size": 412,
            "digest": _DIGEST,
            "url": f"{_HOST}/api/v1/runs/{_UID}/artifacts/summary.md",
        }
    ],
    "memory_writes": [],
    "messages": [],
    "context": None,
    "cached": False,
    "cached_from": None,
    "parent": None,
    "children": [],
    "attempt": 1,
    "duration_ms": 91.5,
    "sandbox": {"tier": "bwrap", "enforcement": {}},
    "network": [],
    "permission": {"by": "safe", "rule": None, "name": None},
    "approval": None,
    "waits_for": [],
    "erased_at": None,
}
SUMMARY = {
    "id": _UID,
    "skill": "docs/summarise",
    "version": "1.2.0",
    "digest": _DIGEST,
    "status": "succeeded",
    "failure_code": "",
    "attempt": 1,
    "duration_ms": 91.5,
    "created_at": _AT,
    "started_at": _AT,
    "finished_at": _AT,
    "readable": True,
    "team": "docs",
    "caller": "alice",
    "protocol": "script",
    "entry": "scripts/main.py",
    "progress": 100,
    "message": "",
    "request_id": "req-7",
    "waits_for": [],
    "url": f"{_HOST}/api/v1/runs/{_UID}",
}
LOG = {
    "attempt": 1,
    "offset": 0,
    "pieces": [{"stream": "stderr", "offset": 0, "text": "50% complete\n"}],
    "next_offset": 13,
    "ended": True,
}
ARTIFACTS = {"items": RUN["artifacts"]}
INPUT = {
    "id": _UID,
    "name": "report.txt",
    "size": 1834,
    "digest": _DIGEST,
    "created_at": _AT,
    "expires_at": _AT,
    "use_as": {"input": _UID},
}
EVENTS = 'id: 1\nevent: status\ndata: {"status":"running"}\n\n'

__all__ = [
    "ARTIFACTS",
    "ASKED",
    "EVENTS",
    "INPUT",
    "LOG",
    "RUN",
    "SUMMARY",
    "answers",
    "asks",
    "page",
]

COMPARISON = {
    "before": _UID,
    "after": "01kajq7w2r4t6y8u0i1o3p5a7s",
    "facts": [{"name": "version", "before": "1.1.0", "after": "1.2.0", "same": False}],
    "inputs": {
        "changes": [{"kind": "changed", "place": "/sentences", "before": "5", "after": "8"}],
        "more": False,
    },
    "output": {"changes": [], "more": False},
    "steps": [
        {
            "name": "execute",
            "kind": "platform",
            "before": {"status": "succeeded", "duration_ms": 80.2},
            "after": {"status": "succeeded", "duration_ms": 96.0},
        }
    ],
    "artifacts": [
        {
            "path": "summary.md",
            "kind": "changed",
            "before": {"size": 412, "digest": _DIGEST},
            "after": {"size": 530, "digest": _DIGEST},
        }
    ],
    "log": {"too_large": False, "removed": 0, "added": 0, "lines": []},
    "url": f"{_HOST}/runs/{_UID}/compare/01kajq7w2r4t6y8u0i1o3p5a7s/",
}
