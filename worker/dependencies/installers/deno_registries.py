"""Serves npm and JSR to Deno in the sandbox, from the site's registries.

npm metadata is reduced to the fields that a resolver reads, without scripts and with URLs of this server
only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote, urljoin

from worker.dependencies.installers.package_index import Source
from worker.sandbox.egress.proxy import PORT
from worker.sandbox.policy import HttpReply

NPM, JSR = (
    f"http://127.0.0.1:{PORT}/npm/",
    f"http://127.0.0.1:{PORT}/jsr/",
)  # set in Deno's configuration, also during runs
_NAME = re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]{0,99}/)?[a-z0-9~_-][a-z0-9._~-]{0,199}", re.IGNORECASE)
_ARCHIVE = re.compile(rf"{_NAME.pattern}/-/[^/?#%\\\0]{{1,255}}\.tgz", re.IGNORECASE)
_MODULE = re.compile(r"@[a-z0-9-]{1,100}/[a-z0-9-]{1,100}/([A-Za-z0-9._+-]{1,100})((?:/[^/?#%\\\0]{1,255})*)")
_SHA512 = re.compile(r"sha512-[A-Za-z0-9+/]{86}==")
_MANIFEST_FIELDS = (
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
    """Answers Deno's requests from the site's registries. A registry that the site does not have is None."""

    npm: Source | None
    jsr: Source | None
    unset_kinds: list[str] = field(default_factory=list)  # registries that were requested but are not set
    archives: dict[str, str] = field(default_factory=dict)  # the site registry's URLs by served path

    def answer(self, target: str) -> HttpReply:
        path = unquote(target)
        if path.startswith("/npm/"):
            return self._of_npm(path.removeprefix("/npm/"))
        return self._of_jsr(path.removeprefix("/jsr/")) if path.startswith("/jsr/") else HttpReply(404)

    def _of_npm(self, path: str) -> HttpReply:
        if self.npm is None:
            return self._none("npm")
        # The path comes from metadata, or was built from a lock, which has no URLs.
        if _ARCHIVE.fullmatch(path):
            return self.npm.file(self.archives.get(path) or self.npm.url + quote(path, safe="@/"))
        return self._page(self.npm, path) if _NAME.fullmatch(path) else HttpReply(404)

    def _page(self, npm: Source, name: str) -> HttpReply:
        """The metadata of a package, with archive URLs of this server; omits versions without a SHA-512."""
        found = npm.find_page(quote(name, safe="@"), "application/json")
        if found is None:
            return HttpReply(404)
        try:
            document = json.loads(found.body)
            rows = {number: row for number, row in document["versions"].items() if _has_archive(row)}
            versions = {number: self._served_row(row, found.url) for number, row in rows.items()}
            page = {"name": name, "dist-tags": document.get("dist-tags") or {}, "versions": versions}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return HttpReply(404)
        body = json.dumps(page).encode()
        return HttpReply(200, iter([body]), "application/json", len(body))

    def _served_row(self, row: Mapping[str, Any], page: str) -> dict[str, Any]:
        archive = f"{row['name']}/-/{row['name'].rpartition('/')[2]}-{row['version']}.tgz"
        self.archives[archive] = urljoin(page, row["dist"]["tarball"])
        dist = {"tarball": NPM + archive, "integrity": row["dist"]["integrity"]}
        return {**{name: row[name] for name in _MANIFEST_FIELDS if name in row}, "dist": dist}

    def _of_jsr(self, path: str) -> HttpReply:
        if self.jsr is None:
            return self._none("jsr")
        match = _MODULE.fullmatch(path)
        if not match or any(part in (".", "..") for part in path.split("/")):
            return HttpReply(404)
        if not match[2]:  # meta.json of a package, or of a version
            found = self.jsr.find_page(path, "application/json")
            return HttpReply(200, iter([found.body]), "application/json") if found else HttpReply(404)
        suffix = path[path.rfind(".") :]
        return self.jsr.file(self.jsr.url + quote(path), _TYPES.get(suffix, "text/plain"))

    def _none(self, kind: str) -> HttpReply:
        self.unset_kinds.append(kind)
        return HttpReply(404)


def _has_archive(row: Mapping[str, Any]) -> bool:
    integrity = row["dist"].get("integrity")
    return isinstance(row["dist"].get("tarball"), str) and bool(_SHA512.fullmatch(str(integrity)))
