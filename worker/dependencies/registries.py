"""What deno asks for as it loads modules: npm's and JSR's addresses, answered by the site's registries.

Pages of npm are given on with what a resolver reads and nothing else: no scripts, no address but ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote, urljoin

from worker.dependencies.index import Source
from worker.sandbox.egress import PORT
from worker.sandbox.policy import Reply

NPM, JSR = f"http://127.0.0.1:{PORT}/npm/", f"http://127.0.0.1:{PORT}/jsr/"  # as deno is told, at runs too
_NAME = re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]{0,99}/)?[a-z0-9~_-][a-z0-9._~-]{0,199}", re.IGNORECASE)
_ARCHIVE = re.compile(rf"{_NAME.pattern}/-/[^/?#%\\\0]{{1,255}}\.tgz", re.IGNORECASE)
_MODULE = re.compile(r"@[a-z0-9-]{1,100}/[a-z0-9-]{1,100}/([A-Za-z0-9._+-]{1,100})((?:/[^/?#%\\\0]{1,255})*)")
_SHA512 = re.compile(r"sha512-[A-Za-z0-9+/]{86}==")
_KEPT = (
    *("name", "version", "dependencies", "optionalDependencies", "peerDependencies"),
    *("peerDependenciesMeta", "os", "cpu", "bin", "deprecated"),
)
_TYPES = {
    ".ts": "application/typescript",
    ".mts": "application/typescript",
    ".tsx": "text/tsx",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".jsx": "text/jsx",
    ".json": "application/json",
    ".wasm": "application/wasm",
}


@dataclass
class Registries:
    """``npm`` or ``jsr`` None where the site names none: asking for it is then what went wrong."""

    npm: Source | None
    jsr: Source | None
    wanted: list[str] = field(default_factory=list)  # of what was asked though the site names none
    archives: dict[str, str] = field(default_factory=dict)  # addresses by the paths that were given for them

    def answer(self, target: str) -> Reply:
        path = unquote(target)
        if path.startswith("/npm/"):
            return self._of_npm(path.removeprefix("/npm/"))
        return self._of_jsr(path.removeprefix("/jsr/")) if path.startswith("/jsr/") else Reply(404)

    def _of_npm(self, path: str) -> Reply:
        if self.npm is None:
            return self._none("npm")
        if _ARCHIVE.fullmatch(path):  # of a page, or of a lock, which names none
            return self.npm.file(self.archives.get(path) or self.npm.url + quote(path, safe="@/"))
        return self._page(self.npm, path) if _NAME.fullmatch(path) else Reply(404)

    def _page(self, npm: Source, name: str) -> Reply:
        """The page of a package, its archives by our paths; a version without a sha512 digest is left out."""
        found = npm.wanted(quote(name, safe="@"), "application/json")
        if found is None:
            return Reply(404)
        try:
            document = json.loads(found.body)
            rows = {number: row for number, row in document["versions"].items() if _is_whole(row)}
            versions = {number: self._given(row, found.url) for number, row in rows.items()}
            page = {"name": name, "dist-tags": document.get("dist-tags") or {}, "versions": versions}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return Reply(404)
        body = json.dumps(page).encode()
        return Reply(200, iter([body]), "application/json", len(body))

    def _given(self, row: Mapping[str, Any], page: str) -> dict[str, Any]:
        archive = f"{row['name']}/-/{row['name'].rpartition('/')[2]}-{row['version']}.tgz"
        self.archives[archive] = urljoin(page, row["dist"]["tarball"])
        dist = {"tarball": NPM + archive, "integrity": row["dist"]["integrity"]}
        return {**{name: row[name] for name in _KEPT if name in row}, "dist": dist}

    def _of_jsr(self, path: str) -> Reply:
        if self.jsr is None:
            return self._none("jsr")
        match = _MODULE.fullmatch(path)
        if not match or any(part in (".", "..") for part in path.split("/")):
            return Reply(404)
        if not match[2]:  # meta.json of a package, or of a version
            found = self.jsr.wanted(path, "application/json")
            return Reply(200, iter([found.body]), "application/json") if found else Reply(404)
        suffix = path[path.rfind(".") :]
        return self.jsr.file(self.jsr.url + quote(path), _TYPES.get(suffix, "text/plain"))

    def _none(self, kind: str) -> Reply:
        self.wanted.append(kind)
        return Reply(404)


def _is_whole(row: Mapping[str, Any]) -> bool:
    integrity = row["dist"].get("integrity")
    return isinstance(row["dist"].get("tarball"), str) and bool(_SHA512.fullmatch(str(integrity)))
