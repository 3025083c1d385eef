"""Deno's modules: deno itself finds what the scripts import, then fills the cache that runs read.

scripts ── deno info, no way out ──► specifiers ── deno cache, the site's registries ──► lock and cache
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from registry.packages.problems import Refused, refuse
from worker.dependencies.attempt import Build
from worker.dependencies.index import Source
from worker.dependencies.keeping import read_made, store_tree
from worker.dependencies.queue import Made, Package, made_like
from worker.dependencies.registries import JSR, NPM, Registries
from worker.sandbox import hosts
from worker.sandbox.runtimes import deno_settings
from worker.unpacking import opened

_REGISTRIES = {"npm": "SKILLQUAY_NPM_REGISTRY", "jsr": "SKILLQUAY_JSR_URL"}
_ELSEWHERE = ("npm", "jsr", "https", "http")
_EMPTY = '{"version": "5"}'
_ENVIRONMENT = {
    "DENO_DIR": "/job/output/deno",
    "DENO_NO_PACKAGE_JSON": "1",
    "DENO_TLS_CA_STORE": "mozilla,system",
    "NPM_CONFIG_REGISTRY": NPM,
    "JSR_URL": JSR,
}
_LOOK = (
    'settings=$1; shift; n=0; for each in "$@"; do n=$((n+1)); deno info --json --no-lock --no-remote '
    '--no-npm --node-modules-dir=none --vendor=false "$settings" "$each" > output/$n.json || exit 1; '
    "done"
)
# Analyses and compiled code are left out: they are not needed, and no two makings are alike in them.
_FILL = (
    "deno cache --allow-import --lock=output/lock/deno.lock --node-modules-dir=none --vendor=false "
    '"$@" && '
    "cd output/deno && rm -rf gen *_cache_v* *-wal *-shm && cp ../lock/deno.lock ."
)
_NAMED = re.compile(r"(@?[^@]+)@([^_]+)(?:_.*)?")


def make_modules(build: Build) -> Made:
    """The lock and the cache; those of another version that asks for the very same are taken as they are."""
    asked = build.asked
    _put_files(build, asked)
    found = _specifiers(build, asked)
    texts = [_text(build, asked["config"]), _text(build, asked["lock"])]
    wants = hashlib.sha256(json.dumps([found, *texts]).encode()).hexdigest()
    if like := made_like(build.hold.row, wants):
        return like
    schemes = {specifier.partition(":")[0] for specifier in found}
    if "http" in schemes:
        plain = next(each for each in found if each.startswith("http:"))
        raise refuse("DEPENDENCIES_FAILED", reason=f"{plain[:200]} is not https")
    named = {kind: _source(kind, required=kind in schemes) for kind in _REGISTRIES}
    _check_hosts([each for each in found if each.startswith("https:")])
    sources = tuple(source for source in named.values() if source)
    build = replace(build, sources=sources, hosts=tuple(settings.SKILLQUAY_DENO_HOSTS))
    return _filled(build, asked, Registries(named["npm"], named["jsr"]), wants)


def _put_files(build: Build, asked: Mapping[str, Any]) -> None:
    """The files that deno may read, of the first version that asked: every one has the same."""
    version = build.hold.row.versions.order_by("pk").first()
    if version is None:
        raise refuse("PACKAGE_MISSING")
    package = opened(version.digest)
    for path in asked["files"]:
        build.order(path, package.read(path))


def _text(build: Build, path: str) -> str:
    return (build.folder / "order" / path).read_text(errors="replace") if path else ""


def _specifiers(build: Build, asked: Mapping[str, Any]) -> list[str]:
    """What the scripts and what they import of the package name from elsewhere, as deno reads it."""
    job = build.job("look")
    scripts = [f"/skill/{path}" for path in asked["scripts"]]
    argv = ("/bin/sh", "-c", _LOOK, "sh", deno_settings(asked["config"]), *scripts)
    build.start(argv, job, None, {}, **_ENVIRONMENT)
    reports = (read_made(job / "output", f"{number}.json") for number in range(1, len(scripts) + 1))
    return sorted({each for report in reports for each in _remote(report)})


def _remote(report: bytes) -> Iterator[str]:
    try:
        named = [str(module["specifier"]) for module in json.loads(report)["modules"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise refuse("DEPENDENCIES_FAILED", reason="deno's report cannot be read") from None
    return (each for each in named if each.partition(":")[0] in _ELSEWHERE)


def _source(kind: str, *, required: bool) -> Source | None:
    """A registry that was not asked for by name may still be, by a module of the other one."""
    if not required and not getattr(settings, _REGISTRIES[kind]):
        return None
    return Source.required(_REGISTRIES[kind], kind)


def _check_hosts(specifiers: list[str]) -> None:
    allowed = hosts.read(settings.SKILLQUAY_DENO_HOSTS)
    for specifier in specifiers:
        parts = urlsplit(specifier)
        if hosts.why_not(hosts.name(parts.hostname or ""), parts.port or 443, allowed):
            raise refuse("DEPENDENCIES_HOST", host=parts.netloc.rpartition("@")[2][:200])


def _filled(build: Build, asked: Mapping[str, Any], registries: Registries, wants: str) -> Made:
    """Fills the cache by the lock that was kept, or the package's own, or none."""
    job = build.job("fill")
    kept = build.hold.row.lock.partition("\n")[2]
    lock = kept or _without_addresses(_text(build, asked["lock"])) or _EMPTY
    for name in ("lock", "deno"):
        (job / "output" / name).mkdir(mode=0o755)
    (job / "output" / "lock" / "deno.lock").write_text(lock)
    words = [deno_settings(asked["config"]), *(["--frozen"] if kept else [])]
    argv = ("/bin/sh", "-c", _FILL, "sh", *words, *(f"/skill/{path}" for path in asked["scripts"]))
    try:
        build.start(argv, job, registries.answer, {}, **_ENVIRONMENT)
    except Refused as no:
        if no.code != "DEPENDENCIES_FAILED" or not registries.wanted:
            raise
        kind = registries.wanted[0]
        raise refuse("DEPENDENCIES_OFF", kind=kind, setting=_REGISTRIES[kind]) from None
    text = read_made(job / "output" / "lock", "deno.lock").decode("utf-8", "replace")
    stored = store_tree(job / "output", "deno", tick=build.tick)
    return Made(f"{wants}\n{text}", _packages(text), stored.digest, stored.size)


def _without_addresses(lock: str) -> str:
    """The site's registry alone is asked, whatever private one a lock was made by."""
    if not lock:
        return ""
    document = json.loads(lock)
    for entry in (document.get("npm") or {}).values():
        entry.pop("tarball", None)
    return json.dumps(document)


def _packages(text: str) -> tuple[Package, ...]:
    lock, found = json.loads(text), []
    for group in ("npm", "jsr"):
        for key, entry in lock.get(group, {}).items():
            if match := _NAMED.fullmatch(key):
                found.append(Package(f"{group}:{match[1]}", match[2], str(entry.get("integrity", ""))))
    found += [Package(url, "", f"sha256:{digest}") for url, digest in lock.get("remote", {}).items()]
    return tuple(found)
