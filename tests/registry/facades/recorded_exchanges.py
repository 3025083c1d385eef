"""The recorded requests of real clients, one row per shape, in Skillquay's addresses. No names, only shapes.

``recorded`` is the shape in the recording: method, path with names as ``*``, query, body, status. Addresses
and bodies contain values of earlier answers as ``<name>``. An answer contains each key of the recorded one
with its JSON type: a class is a type, a text is itself, None is any value, ``Unread`` may be absent.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

HOST = "http://127.0.0.1:8000"


class Exchange(NamedTuple):
    recorded: str
    path: str
    answer: Any
    body: Any = None  # a dict is JSON, ``Form`` is multipart
    saves: dict[str, str] = {}  # names with patterns to search in the answer
    token: bool = False
    status: int = 0  # if it differs from the recorded one
    headers: dict[str, str] = {}
    after: str = ""  # what a person does first


class Form(NamedTuple):
    fields: dict[str, str]
    files: dict[str, bytes]
    field: str


class Raw(NamedTuple):
    """An answer that is not JSON: its type and its first bytes."""

    kind: str
    start: bytes = b""


class Unread(NamedTuple):
    reason: str


def skill_md(name: str, description: str, number: str) -> bytes:
    head = f"---\nname: {name}\ndescription: {description}\nmetadata:\n  version: {number}\n---\n"
    return f"{head}\n# {name}\n\nRun `scripts/hello.py`.\n".encode()


def pdf_files(number: str, text: str) -> dict[str, bytes]:
    description = "Extract text from PDF files. Use when the user mentions PDFs."
    script = f"print('{text}')\n".encode()
    named = {"SKILL.md": skill_md("pdf-tools", description, number)}
    return {**named, "references/REF.md": b"# ref\n", "scripts/hello.py": script}


# The recorded files, byte by byte: the fingerprints of clients must match those of the site.
PUBLISHED = (
    pdf_files("1.0.0", "hi"),
    pdf_files("1.1.0", "hi 1.1"),
    {"SKILL.md": skill_md("git-flow", "Follow team git conventions.", "0.1.0")},
)
PDF_FINGERPRINT = "86a46b1066e3e321f188df80896e9f2fb5348d1a487e857a6209077d437652a7"
ZED = {
    "SKILL.md": b"---\nname: zed\ndescription: t\n---\n",
    "references/b.md": b"r\n",
    "scripts/A.py": b"print(1)\n",
}
ZED_FINGERPRINT = "022204a7a46dd5c859fad584ad360534c76dacd996d2ea589d6a1ab92c7bc123"
ZIP, MARKDOWN, TEXT = Raw("application/zip", b"PK\3\4"), Raw("text/markdown", b"---\n"), Raw("text/plain")

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
INDEXED = {"name": str, "type": str, "description": str, "url": str, "digest": str, "version": str}
INDEX = {"$schema": SCHEMA, "skills": [INDEXED]}
FILE_INDEX = {"skills": [{"name": str, "description": str, "files": [str]}]}
FOUND = {"query": str, "skills": [{"id": str, "name": str, "source": str, "installs": int}]}
ANY = {"Accept": "*/*"}
SKILL, ARCHIVE = "/docs/pdf-tools", "/api/v1/skills/docs/pdf-tools/versions/1.0.0/archive"
_AGENTS, _FILES = "/.well-known/agent-skills", "/.well-known/skills/index.json"
_UNIT = r'"url": ?"http://127.0.0.1:8000([^"]+pdf-tools[^"]*)"'

WELL_KNOWN = [
    Exchange(f"GET {_AGENTS}/index.json 200", f"{_AGENTS}/index.json", INDEX, saves={"zip": _UNIT}),
    Exchange(f"GET {_FILES} 200", _FILES, FILE_INDEX),
    Exchange("GET /dl/*/*.zip 200", "<zip>", ZIP),
    Exchange(f"GET {_AGENTS}/*/SKILL.md 200", f"{_AGENTS}/git-flow/SKILL.md", MARKDOWN),
    Exchange(f"GET /s/*{_AGENTS}/index.json 200", f"{SKILL}{_AGENTS}/index.json", INDEX),
    Exchange(f"GET /s/*{_FILES} 200", f"{SKILL}{_FILES}", FILE_INDEX),
    Exchange(f"GET /s/*@*{_AGENTS}/index.json 200", f"{SKILL}@pdf-tools{_AGENTS}/index.json", INDEX),
    Exchange(f"GET /s/*@*{_FILES} 200", f"{SKILL}@pdf-tools{_FILES}", FILE_INDEX),
    Exchange("GET /api/search?limit&q 200", "/api/search?q=pdf&limit=10", FOUND),
    # Archives have an index too, so that clients can install from their address; the recorded site had none.
    Exchange(f"GET /dl/*/*.zip{_AGENTS}/index.json 404", f"{ARCHIVE}{_AGENTS}/index.json", INDEX, status=200),
    Exchange(f"GET /dl/*/*.zip{_FILES} 404", f"{ARCHIVE}{_FILES}", FILE_INDEX, status=200),
]

API = "/clawhub/api/v1"
JSON = {"Accept": "application/json"}
OWNER = {"handle": str, "displayName": str, "image": None}
RESULT: dict[str, Any] = {"slug": str, "displayName": str, "summary": str, "version": str, "score": float}
RESULT = {**RESULT, "ownerHandle": str, "downloads": int, "updatedAt": int, "owner": OWNER}
ROW = {"version": str, "createdAt": int, "changelog": str}
VERSION = {**ROW, "license": None}
STATS = {"downloads": int, "stars": int, "versions": int}
CLAW = {"slug": str, "displayName": str, "summary": str, "tags": {"latest": str}, "stats": STATS}
CLAW = {**CLAW, "createdAt": int, "updatedAt": int}
DETAIL = {"skill": CLAW, "latestVersion": VERSION, "owner": OWNER, "moderation": None}
LISTED_STATS = {
    **STATS,
    "versions": Unread("explore prints downloads and stars; a count per row costs a query"),
}
LISTED = {"items": [{**CLAW, "stats": LISTED_STATS, "latestVersion": VERSION}], "nextCursor": None}
FILE = {"path": str, "size": int, "sha256": str, "contentType": str}
FILES = {"version": {**VERSION, "files": [FILE]}, "skill": {"slug": str, "displayName": str}}
USER = {"user": {"handle": str, "displayName": str, "image": None, "role": "user"}}
MATCHED = {"match": {"version": "1.0.0"}, "latestVersion": {"version": str}}
UNMATCHED = {"match": None, "latestVersion": {"version": str}}
DONE = {"ok": True}
PUBLICATION = {"ok": True, "skillId": str, "versionId": str, "publicationStatus": "published"}
CHECKED = {"schema": "clawhub.skill.verify.v1", "ok": True, "decision": "pass", "reasons": list, "slug": str}
CHECKED |= {"displayName": str, "pageUrl": str, "publisherHandle": str, "publisherDisplayName": None}
CHECKED |= {"publisherProfileUrl": None, "version": str, "resolvedFrom": "latest", "tag": "latest"}
CHECKED |= {"createdAt": int, "card": None, "artifact": {"sha256": str}, "provenance": None}
CHECKED |= {"security": None, "signature": None}
DISCOVERY = {"apiBase": f"{HOST}/clawhub", "authBase": HOST}
LOGIN = {"device_code": str, "user_code": str, "verification_uri": str, "expires_in": int, "interval": int}
_CODE = {"device": r'"device_code": ?"([^"]+)"', "code": r'"user_code": ?"([^"]+)"'}
_GRANT = {"device_code": "<device>", "grant_type": "urn:ietf:params:oauth:grant-type:device_code"}
_SCOPE = {"scope": "read write", "site_url": HOST}


def _payload(slug: str, number: str, **more: Any) -> dict[str, Any]:
    fields = {"slug": slug, "displayName": "My Skill", "version": number, "changelog": "first"}
    return {**fields, "acceptLicenseTerms": True, "tags": ["latest"], **more}


def _form(number: str, text: str) -> Form:
    """The recorded form, except that SKILL.md contains the slug, not the recorded ``my-skill-0.20.0``."""
    head = b"---\nname: my-skill-0-20-0\ndescription: test\n---\n# x\n"
    files = {"SKILL.md": head, "scripts/a.py": f"print({text})\n".encode()}
    return Form({"payload": json.dumps(_payload("my-skill-0-20-0", number))}, files, "files")


def _sent(path: str, **more: str) -> dict[str, Any]:
    data = ZED[path]
    sha256 = hashlib.sha256(data).hexdigest()
    return {"path": path, "size": len(data), "sha256": sha256, "contentType": "text/markdown", **more}


def _upload(path: str, name: str) -> list[Exchange]:
    """Two requests per file: the address, then the bytes."""
    address = {
        name: r'"uploadUrl": ?"http://127.0.0.1:8000([^"]+)"',
        f"{name}_ticket": r'"uploadTicket": ?"([^"]+)"',
    }
    wanted = "POST /api/v1/skills/-/upload-url {contentType,path,sha256,size} 200"
    place = {"uploadUrl": str, "uploadTicket": str}
    kind = {**ANY, "Content-Type": "text/markdown"}
    stored = {f"{name}_id": r'"storageId": ?"([^"]+)"'}
    return [
        Exchange(wanted, f"{API}/skills/-/upload-url", place, _sent(path), address, token=True),
        Exchange(
            "POST /upload/* 200", f"<{name}>", {"storageId": str}, ZED[path], stored, True, headers=kind
        ),
    ]


_UPLOADED = [
    _sent(path, storageId=f"<{name}_id>", uploadTicket=f"<{name}_ticket>")
    for path, name in zip(ZED, "abc", strict=True)
]
_RESOLVE = "GET /api/v1/resolve?hash&ownerHandle&slug"
_ZED = f"{API}/resolve?slug=zed&ownerHandle=docs&hash={ZED_FINGERPRINT}"
_ROOT = {"rootId": "a4", "label": "…/proj/skills", "skills": [{"slug": "pdf-tools", "version": "1.0.0"}]}
_INSTALL = {"event": "install", "slug": "pdf-tools", "ownerHandle": "docs", "version": "1.0.0"}
_STAR = f"{API}/stars/pdf-tools"
_PUBLISH = "{acceptLicenseTerms,changelog,displayName,files,ownerHandle,slug,tags,version}"
_TELEMETRY = "/api/cli/telemetry/install"

CLAWHUB = [
    Exchange("GET /.well-known/clawhub.json 200", "/.well-known/clawhub.json", DISCOVERY),
    Exchange("POST /api/cli/device/code {scope,site_url} 200", "/api/cli/device/code", LOGIN, _SCOPE),
    Exchange(
        "POST /api/cli/device/code {label,scope,site_url} 200",
        "/api/cli/device/code",
        LOGIN,
        {**_SCOPE, "label": "CLI device login"},
        _CODE,
    ),
    Exchange(
        "POST /api/cli/device/token {device_code,grant_type} 200",
        "/api/cli/device/token",
        {"access_token": str, "token_type": "bearer", "scope": str},
        _GRANT,
        after="approve",
    ),
    Exchange("GET /api/v1/search?limit&q 200", f"{API}/search?q=pdf&limit=25", {"results": [RESULT]}),
    Exchange("GET /api/v1/skills?limit&sort 200", f"{API}/skills?limit=5&sort=createdAt", LISTED),
    Exchange("GET /api/v1/skills/* 200", f"{API}/skills/pdf-tools", DETAIL),
    Exchange(
        "GET /api/v1/download?slug&version 200",
        f"{API}/download?slug=pdf-tools&version=1.1.0",
        ZIP,
        headers=ANY,
    ),
    Exchange("GET /api/v1/skills/*/versions/* 200", f"{API}/skills/pdf-tools/versions/1.1.0", FILES),
    Exchange(
        "GET /api/v1/skills/*/versions?limit 200",
        f"{API}/skills/pdf-tools/versions?limit=25",
        {"items": [ROW], "nextCursor": None},
    ),
    Exchange(
        "GET /api/v1/skills/*/file?path&version 200",
        f"{API}/skills/pdf-tools/file?path=scripts%2Fhello.py&version=1.1.0",
        Raw("text/plain", b"print('hi 1.1')\n"),
        headers={"Accept": "text/plain"},
    ),
    Exchange("GET /api/v1/whoami 200", f"{API}/whoami", USER, token=True),
    Exchange(
        f"POST {_TELEMETRY} {{roots}} 200", f"/clawhub{_TELEMETRY}", DONE, {"roots": [_ROOT]}, token=True
    ),
    Exchange(
        "GET /api/v1/resolve?hash&slug 200",
        f"{API}/resolve?slug=pdf-tools&hash={PDF_FINGERPRINT}",
        MATCHED,
        token=True,
    ),
    Exchange(
        "POST /api/v1/skills form payload,files 200",
        f"{API}/skills",
        PUBLICATION,
        _form("1.0.0", "1"),
        token=True,
    ),
    Exchange(
        "POST /api/v1/skills form payload,files 409", f"{API}/skills", TEXT, _form("1.0.0", "2"), token=True
    ),
    Exchange(
        "POST /api/v1/stars/* {} 200",
        _STAR,
        {"ok": True, "starred": True, "alreadyStarred": False},
        {},
        token=True,
    ),
    Exchange(
        "DELETE /api/v1/stars/* 200",
        _STAR,
        {"ok": True, "unstarred": True, "alreadyUnstarred": False},
        token=True,
    ),
    Exchange("GET /api/v1/skills/*/verify 200", f"{API}/skills/pdf-tools/verify", CHECKED, token=True),
    Exchange("DELETE /api/v1/skills/* 200", f"{API}/skills/my-skill-0-20-0", DONE, token=True),
    Exchange(
        "GET /api/v1/download?ownerHandle&slug&version 200",
        f"{API}/download?slug=pdf-tools&ownerHandle=docs&version=1.1.0",
        ZIP,
        token=True,
        headers=ANY,
    ),
    Exchange(
        "GET /api/v1/skills/*/versions/*?ownerHandle 200",
        f"{API}/skills/pdf-tools/versions/1.0.0?ownerHandle=docs",
        FILES,
        token=True,
    ),
    Exchange(
        "GET /api/v1/skills/*?ownerHandle 200", f"{API}/skills/pdf-tools?ownerHandle=docs", DETAIL, token=True
    ),
    Exchange(
        f"{_RESOLVE} 200",
        f"{API}/resolve?slug=pdf-tools&ownerHandle=docs&hash={PDF_FINGERPRINT}",
        MATCHED,
        token=True,
    ),
    Exchange(f"{_RESOLVE} 404", _ZED, TEXT, token=True),
    *(exchange for path, name in zip(ZED, "abc", strict=True) for exchange in _upload(path, name)),
    Exchange(
        f"POST /api/v1/skills {_PUBLISH} 200",
        f"{API}/skills",
        PUBLICATION,
        _payload("zed", "1.0.0", ownerHandle="docs", files=_UPLOADED),
        token=True,
    ),
    Exchange(f"{_RESOLVE} 200", _ZED, MATCHED, token=True),
    Exchange(
        f"{_RESOLVE} 200", f"{API}/resolve?slug=zed&ownerHandle=docs&hash={'0' * 64}", UNMATCHED, token=True
    ),
    Exchange(
        f"POST {_TELEMETRY} {{event,ownerHandle,slug,version}} 200",
        f"/clawhub{_TELEMETRY}",
        DONE,
        _INSTALL,
        token=True,
    ),
]

_GIT = {"User-Agent": "git/2.39.5", "Accept": "*/*", "Pragma": "no-cache", "Git-Protocol": "version=2"}
_FETCH = {"User-Agent": "git/2.39.5", "Accept": "application/x-git-upload-pack-result"}
_FETCH |= {"Content-Type": "application/x-git-upload-pack-request"}
REFS = Raw("application/x-git-upload-pack-advertisement", b"001e# service=git-upload-pack\n0000")
PACK = Raw("application/x-git-upload-pack-result", b"0008NAK\n")
SHALLOW = Raw("application/x-git-upload-pack-result", b"0034shallow ")
_HEADS = {"head": "([0-9a-f]{40}) refs/heads/main", "old": "(?s)([0-9a-f]{40}) refs/tags/v1"}
_WANT = "0076want <head> multi_ack_detailed no-done side-band-64k ofs-delta agent=git/2.39.5\n"
_DEEPEN = (_WANT + "000cdeepen 10000").encode()
_CLONE = (_WANT + "0032want <old>\n00000009done\n").encode()
_REFS, _POST = "info/refs?service=git-upload-pack", "git-upload-pack"


def _git(
    recorded: str, path: str, body: bytes = _DEEPEN, answer: Raw = SHALLOW, *, token: bool = False
) -> list[Exchange]:
    get, post = f"GET {recorded}/info/refs?service 200", f"POST {recorded}/{_POST} 200"
    return [
        Exchange(get, f"{path}/{_REFS}", REFS, None, _HEADS, token, headers=_GIT),
        Exchange(post, f"{path}/{_POST}", answer, body, {}, token, headers=_FETCH),
    ]


SOURCE = {"source": "url", "url": str}
PLUGIN = {"name": str, "description": str, "version": str, "source": SOURCE}
_NODE = {"Accept": "application/json, text/plain, */*", "User-Agent": "Claude-Code-Plugin-Manager"}
_PRIVATE = "/private/git/skill/*.git"
GIT = [
    *_git("/git/skill/*.git", "/docs/pdf-tools.git", _CLONE, PACK),
    *_git("/git/all.git", "/all.git"),
    Exchange(
        "GET /marketplace.json 200",
        "/marketplace.json",
        {"name": str, "owner": {"name": str}, "plugins": [PLUGIN]},
        headers=_NODE,
    ),
    *_git("/git/plugin/*.git", "/docs/pdf-tools.plugin.git"),
    Exchange("GET /dl/*/*.zip/info/refs?service 404", f"{ARCHIVE}/{_REFS}", None, headers=_GIT),
    Exchange("GET /marketplace.json/info/refs?service 404", f"/marketplace.json/{_REFS}", None, headers=_GIT),
    Exchange(f"GET {_PRIVATE}/info/refs?service 401", f"/docs/private-notes.git/{_REFS}", None, headers=_GIT),
    *_git(_PRIVATE, "/docs/private-notes.git", token=True),
]

_REQUESTS = {"User-Agent": "python-requests/2.34.2", "Accept": "application/json"}
_ARCHIVE = {**_REQUESTS, "Accept": "application/gzip, application/zip"}
_APM, _PUT = "/apm/v1/packages", {**_REQUESTS, "Content-Type": "application/zip"}
RELEASE = {"version": str, "digest": str, "published_at": str, "size_bytes": int}
APM = [
    Exchange(
        f"GET {_APM}/*/*/versions 200",
        f"{_APM}/docs/pdf-tools/versions",
        {"package": "docs/pdf-tools", "versions": [RELEASE]},
        headers=_REQUESTS,
    ),
    Exchange(
        f"GET {_APM}/*/*/versions/*/download 200",
        f"{_APM}/docs/pdf-tools/versions/1.0.0/download",
        ZIP,
        headers=_ARCHIVE,
    ),
    Exchange(
        f"PUT {_APM}/*/*/versions/* 401",
        f"{_APM}/docs/new-skill/versions/0.1.0",
        {"title": "Unauthorized", "status": int},
        b"PK\3\4",
        headers=_PUT,
    ),
]
