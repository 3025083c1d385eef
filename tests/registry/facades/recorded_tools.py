"""The recorded requests of MCP hosts and of the SDKs of Anthropic and OpenAI; see ``recorded_exchanges``."""

from __future__ import annotations

from typing import Any

from tests.factories.archives import zip_of
from tests.registry.facades.recorded_exchanges import Exchange, Form, Raw, Unread

URI = "skill://docs/pdf-tools/SKILL.md"
KEPT = {"ttlMs": int, "cacheScope": "private", "resultType": "complete"}
CAPABILITIES = {
    "tools": {"listChanged": False},
    "resources": {"listChanged": False, "subscribe": False},
    "extensions": {"io.modelcontextprotocol/skills": {}},
}
SERVER = {
    "capabilities": CAPABILITIES,
    "serverInfo": {"name": str, "version": str},
    "instructions": str,
}
TOOL = {"name": str, "description": str, "inputSchema": {"type": "object", "properties": dict}}
ENTRY = {
    "uri": str,
    "frontmatter": {"name": str, "description": str, "metadata": {"version": str}},
    "resources": [{"uri": str, "digest": str, "size": int}],
}
OWN_SCHEMA = Unread("hosts read the tool's outputSchema, which is the server's own: objects, not paths")
LOADED = {
    "content": [{"type": "text", "text": str}],
    "structuredContent": {"id": str, "content": str, "files": OWN_SCHEMA},
    "isError": False,
    "resultType": "complete",
}
FILE = {"contents": [{"uri": "skill://docs/pdf-tools/scripts/hello.py", "mimeType": str, "text": str}]}
_PROTOCOL = "io.modelcontextprotocol/"
_PYTHON = {
    f"{_PROTOCOL}protocolVersion": "2026-07-28",
    f"{_PROTOCOL}clientInfo": {"name": "mcp", "version": "0.1.0"},
    f"{_PROTOCOL}clientCapabilities": {"extensions": {f"{_PROTOCOL}skills": {}}},
    f"{_PROTOCOL}logLevel": "debug",
}
_CODE_INFO = {
    "name": "claude-code",
    "title": "Claude Code",
    "version": "2.1.329",
    "description": "Anthropic's agentic coding tool",
    "websiteUrl": "https://claude.com/claude-code",
}
_CODE = {
    f"{_PROTOCOL}protocolVersion": "2026-07-28",
    f"{_PROTOCOL}clientInfo": _CODE_INFO,
    f"{_PROTOCOL}clientCapabilities": {
        "roots": {"listChanged": True},
        "elicitation": {"form": {}, "url": {}},
    },
}
_ACCEPT = {"Accept": "application/json, text/event-stream", "User-Agent": "python-httpx2/2.16.2"}


def _rpc(
    uid: object, method: str, result: Any, *, meta: Any = _PYTHON, token: bool = False, **params: Any
) -> Exchange:
    """A request of protocol 2026-07-28."""
    name = {"tools/call": "name", "resources/read": "uri"}.get(method)
    headers = {**_ACCEPT, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    headers |= {"Mcp-Name": params[name]} if name else {}
    body = {"jsonrpc": "2.0", "id": uid, "method": method, "params": {**params, "_meta": meta}}
    answer = {"jsonrpc": "2.0", "id": uid, "result": result}
    return Exchange(f"POST /mcp {method} 200", "/mcp", answer, body, token=token, headers=headers)


_DISCOVERED = {**SERVER, **KEPT, "supportedVersions": ["2026-07-28"]}
_CALL = {**_PYTHON, "progressToken": 3}
_INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "mcp", "version": "0.1.0"},
}
_OLD = {**_ACCEPT, "MCP-Protocol-Version": "2025-11-25"}
MCP = [
    _rpc(1, "server/discover", _DISCOVERED),
    _rpc(2, "tools/list", {"tools": [TOOL], **KEPT}),
    # Without a token, a short name means a canonical skill only; the recorded site had one name per skill.
    _rpc(
        3, "tools/call", LOADED, meta=_CALL, token=True, name="skills_load", arguments={"name": "pdf-tools"}
    ),
    _rpc(4, "skills/list", {"skills": [ENTRY], **KEPT}),
    _rpc(5, "skills/get", {"skill": ENTRY, **KEPT}, uri=URI),
    _rpc(6, "resources/read", {**FILE, **KEPT}, uri="skill://docs/pdf-tools/scripts/hello.py"),
    Exchange(
        "POST /mcp initialize 200",
        "/mcp",
        {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-11-25", **SERVER}},
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _INITIALIZE},
        headers=_ACCEPT,
    ),
    Exchange(
        "POST /mcp notifications/initialized 202",
        "/mcp",
        None,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        headers=_OLD,
    ),
    _rpc("server-discover-probe-1", "server/discover", _DISCOVERED, meta=_CODE, token=True),
    _rpc(0, "tools/list", {"tools": [TOOL], **KEPT}, meta=_CODE, token=True),
]

TEXT = "csv-clean/SKILL.md"
FILES = {TEXT: b"---\nname: csv-clean\ndescription: Clean CSV files.\n---\n# x\n"}
SCRIPT = {"csv-clean/scripts/a.py": b"print(1)\n"}
ZIP = Raw("", b"PK\3\4")
_ARCHIVE = {"csv-clean.zip": zip_of({**FILES, "csv-clean/scripts/a.py": b"print(2)\n"})}
_DELETE = {"Accept": "application/json", "Content-Type": "application/json"}
_BINARY = {"Accept": "application/binary"}
_ID = {"skill": r'"id": ?"(skill_[^"]+)"'}
_VERSION_ID = {"version": r'"id": ?"(skver_[^"]+)"'}
OF_OPENAI = Unread("the recorded server served both SDKs with one answer; only OpenAI's has this field")
OF_ANTHROPIC = Unread("the recorded server served both SDKs with one answer; only Anthropic's has this field")


def _sdk(recorded: str, path: str, answer: Any, body: Any = None, saves: Any = None, **more: Any) -> Exchange:
    """A request with the token, in one of the two recorded bases."""
    return Exchange(recorded, path, answer, body, saves or {}, True, **more)


_A, _B = "/anthropic/v1/skills", {"anthropic-version": "2026-10-21", "Accept": "application/json"}
SKILL = {
    "id": str,
    "type": "skill",
    "source": {"type": "custom"},
    "display_name": str,
    "display_title": str,
    "latest_version_id": str,
    "latest_version": str,
    "created_at": str,
    "updated_at": str,
}
VERSION = {
    "id": str,
    "type": "skill_version",
    "skill_id": str,
    "name": str,
    "directory": str,
    "description": str,
    "version": str,
    "created_at": str,
}
PAGE = {"object": OF_OPENAI, "has_more": False, "next_page": None}
_MISSING = {"type": "error", "error": {"type": "not_found_error", "message": str}, "request_id": str}
_VERSION_DELETED = {"id": str, "type": "skill_version_deleted"}
_VERSION_DELETED |= {"object": OF_OPENAI, "deleted": OF_OPENAI, "version": OF_OPENAI}
_SKILL_DELETED = {"id": str, "type": "skill_deleted", "object": OF_OPENAI, "deleted": OF_OPENAI}
_FIELDS = {"display_name": "CSV Clean"}
ANTHROPIC = [
    _sdk(
        "POST /v1/skills form display_name,files[] 200",
        _A,
        SKILL,
        Form(_FIELDS, FILES | SCRIPT, "files[]"),
        _ID,
        headers=_B,
    ),
    _sdk(
        "POST /v1/skills/*/versions form files[] 200",
        f"{_A}/<skill>/versions",
        VERSION,
        Form({}, _ARCHIVE, "files[]"),
        _VERSION_ID,
        headers=_B,
    ),
    _sdk(
        "GET /v1/skills 200",
        _A,
        {**PAGE, "data": [SKILL], "first_id": OF_OPENAI, "last_id": OF_OPENAI},
        headers=_B,
    ),
    _sdk("GET /v1/skills/*/versions 200", f"{_A}/<skill>/versions", {**PAGE, "data": [VERSION]}, headers=_B),
    _sdk("GET /v1/skills/* 200", f"{_A}/<skill>", SKILL, headers=_B),
    _sdk("GET /v1/skills/*/versions/* 200", f"{_A}/<skill>/versions/<version>", VERSION, headers=_B),
    _sdk(
        "GET /v1/skills/*/versions/*/content 200",
        f"{_A}/<skill>/versions/<version>/content",
        ZIP,
        headers=_B | _BINARY,
    ),
    _sdk(
        "DELETE /v1/skills/*/versions/* 200",
        f"{_A}/<skill>/versions/<version>",
        _VERSION_DELETED,
        headers=_B | _DELETE,
    ),
    _sdk("DELETE /v1/skills/* 200", f"{_A}/<skill>", _SKILL_DELETED, headers=_B | _DELETE),
    _sdk("GET /v1/skills/* 404", f"{_A}/nope", _MISSING, headers=_B),
]

_O, _C, _R = "/openai/v1/skills", {"Accept": "application/json"}, "/openai/v1/skills/*"
ROW = {
    "id": str,
    "object": "skill",
    "created_at": int,
    "default_version": str,
    "latest_version": str,
    "name": str,
    "description": str,
}
RELEASE = {
    "id": str,
    "object": "skill.version",
    "created_at": int,
    "skill_id": str,
    "version": str,
    "name": str,
    "description": str,
}
ROWS = {"object": "list", "has_more": False, "next_page": OF_ANTHROPIC}
_RELEASE_DELETED = {"id": str, "object": "skill.version.deleted", "deleted": True, "version": str}
OPENAI = [
    _sdk(f"POST {_O} form files 200", _O, ROW, Form({}, _ARCHIVE, "files"), _ID, headers=_C),
    _sdk(
        f"POST {_R}/versions form files[] 200",
        f"{_O}/<skill>/versions",
        RELEASE,
        Form({}, FILES, "files[]"),
        headers=_C,
    ),
    _sdk(f"GET {_O} 200", _O, {**ROWS, "data": [ROW], "first_id": str, "last_id": str}, headers=_C),
    _sdk(f"GET {_R}/versions 200", f"{_O}/<skill>/versions", {**ROWS, "data": [RELEASE]}, headers=_C),
    _sdk(f"GET {_R}/content 200", f"{_O}/<skill>/content", ZIP, headers=_BINARY),
    _sdk(f"GET {_R}/versions/*/content 200", f"{_O}/<skill>/versions/0.1.0/content", ZIP, headers=_BINARY),
    _sdk(
        f"DELETE {_R}/versions/* 200",
        f"{_O}/<skill>/versions/0.1.1",
        {**_RELEASE_DELETED, "type": OF_ANTHROPIC},
        headers=_DELETE,
    ),
    _sdk(
        f"DELETE {_R} 200",
        f"{_O}/<skill>",
        {"id": str, "object": "skill.deleted", "deleted": True, "type": OF_ANTHROPIC},
        headers=_DELETE,
    ),
]
