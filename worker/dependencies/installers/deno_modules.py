"""Builds Deno modules: Deno itself finds the imports of the scripts, then fills the cache that runs read.

scripts ── deno info, no network ──► specifiers ── deno cache, the site's registries ──► lock and cache
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

from registry.packages.problems import Refusal
from worker.attempts.errors import PACKAGE_MISSING
from worker.attempts.unpacking import open_package
from worker.dependencies.build_attempt import Build
from worker.dependencies.errors import DEPENDENCIES_DISABLED, DEPENDENCIES_FAILED, DEPENDENCIES_HOST
from worker.dependencies.installers.deno_registries import JSR, NPM, Registries
from worker.dependencies.installers.package_index import Source
from worker.dependencies.queue import BuildResult, InstalledPackage, find_identical_build
from worker.dependencies.store import read_build_file, store_tree
from worker.sandbox.egress import allowed_hosts
from worker.sandbox.runtimes import deno_config_option

_REGISTRIES = {"npm": "SKILLQUAY_NPM_REGISTRY", "jsr": "SKILLQUAY_JSR_URL"}
_REMOTE_SCHEMES = ("npm", "jsr", "https", "http")
_EMPTY_LOCK = '{"version": "5"}'
_ENVIRONMENT = {
    "DENO_DIR": "/job/output/deno",
    "DENO_NO_PACKAGE_JSON": "1",
    "DENO_TLS_CA_STORE": "mozilla,system",
    "NPM_CONFIG_REGISTRY": NPM,
    "JSR_URL": JSR,
}
_INSPECT = (
    'settings=$1; shift; n=0; for each in "$@"; do n=$((n+1)); deno info --json --no-lock --no-remote '
    '--no-npm --node-modules-dir=none --vendor=false "$settings" "$each" > output/$n.json || exit 1; '
    "done"
)
# Deno's analyses and compiled code are removed, because runs don't need them and they differ between builds.
_FILL = (
    "deno cache --allow-import --lock=output/lock/deno.lock --node-modules-dir=none --vendor=false "
    '"$@" && '
    "cd output/deno && rm -rf gen *_cache_v* *-wal *-shm && cp ../lock/deno.lock ."
)
_LOCK_KEY = re.compile(r"(@?[^@]+)@([^_]+)(?:_.*)?")


def build_deno(build: Build) -> BuildResult:
    """Builds the lock and the cache, or reuses those of a build with identical imports, config and package
    lock.

    Raises DEPENDENCIES_FAILED if a script imports over plain HTTP, DEPENDENCIES_HOST if a host is not
    allowed, and DEPENDENCIES_DISABLED if the site lacks a registry. Also raises the refusals of the
    installer.
    """
    spec = build.asked
    _put_files(build, spec)
    specifiers = _specifiers(build, spec)
    texts = [_read_text(build, spec["config"]), _read_text(build, spec["lock"])]
    wants = hashlib.sha256(json.dumps([specifiers, *texts]).encode()).hexdigest()
    if identical := find_identical_build(build.lease.job, wants):
        return identical
    schemes = {specifier.partition(":")[0] for specifier in specifiers}
    if "http" in schemes:
        plain = next(each for each in specifiers if each.startswith("http:"))
        raise DEPENDENCIES_FAILED.refusal(reason=f"{plain[:200]} is not https")
    sources_by_kind = {kind: _source(kind, required=kind in schemes) for kind in _REGISTRIES}
    _check_hosts([each for each in specifiers if each.startswith("https:")])
    sources = tuple(source for source in sources_by_kind.values() if source)
    build = replace(build, sources=sources, hosts=tuple(settings.SKILLQUAY_DENO_HOSTS))
    return _fill_cache(build, spec, Registries(sources_by_kind["npm"], sources_by_kind["jsr"]), wants)


def _put_files(build: Build, spec: Mapping[str, Any]) -> None:
    """Writes the files that Deno may read, from the build's first version. All its versions have the same
    files.

    Raises PACKAGE_MISSING if the build has no version.
    """
    version = build.lease.job.versions.order_by("pk").first()
    if version is None:
        raise PACKAGE_MISSING.refusal()
    package = open_package(version.digest)
    for path in spec["files"]:
        build.add_file(path, package.read(path))


def _read_text(build: Build, path: str) -> str:
    return (build.folder / "order" / path).read_text(errors="replace") if path else ""


def _specifiers(build: Build, spec: Mapping[str, Any]) -> list[str]:
    job = build.create_job_folder("look")
    scripts = [f"/skill/{path}" for path in spec["scripts"]]
    argv = ("/bin/sh", "-c", _INSPECT, "sh", deno_config_option(spec["config"]), *scripts)
    build.run_installer(argv, job, None, {}, **_ENVIRONMENT)
    reports = (read_build_file(job / "output", f"{number}.json") for number in range(1, len(scripts) + 1))
    return sorted({each for report in reports for each in _remote_specifiers(report)})


def _remote_specifiers(report: bytes) -> Iterator[str]:
    try:
        named = [str(module["specifier"]) for module in json.loads(report)["modules"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DEPENDENCIES_FAILED.refusal(reason="deno's report cannot be read") from None
    return (each for each in named if each.partition(":")[0] in _REMOTE_SCHEMES)


def _source(kind: str, *, required: bool) -> Source | None:
    """The site's registry of this kind, or None if its setting is empty.

    If ``required``, raises DEPENDENCIES_DISABLED instead of returning None.
    """
    if not required and not getattr(settings, _REGISTRIES[kind]):
        return None
    return Source.required(_REGISTRIES[kind], kind)


def _check_hosts(specifiers: list[str]) -> None:
    allowed = allowed_hosts.parse_allowlist(settings.SKILLQUAY_DENO_HOSTS)
    for specifier in specifiers:
        try:
            parts = urlsplit(specifier)
            host, port = allowed_hosts.normalize_host(parts.hostname or ""), parts.port or 443
        except ValueError:
            raise DEPENDENCIES_FAILED.refusal(reason=f"{specifier[:200]} has an invalid host") from None
        if allowed_hosts.refusal_code(host, port, allowed):
            raise DEPENDENCIES_HOST.refusal(host=parts.netloc.rpartition("@")[2][:200])


def _fill_cache(build: Build, spec: Mapping[str, Any], registries: Registries, wants: str) -> BuildResult:
    """Fills and stores Deno's cache. Uses the lock of an earlier run of this build, otherwise the package's
    lock.

    Raises DEPENDENCIES_DISABLED if Deno failed after it requested a registry that is not set.
    """
    job = build.create_job_folder("fill")
    kept_lock = build.lease.job.lock.partition("\n")[2]
    lock = kept_lock or _without_addresses(_read_text(build, spec["lock"])) or _EMPTY_LOCK
    for name in ("lock", "deno"):
        (job / "output" / name).mkdir(mode=0o755)
    (job / "output" / "lock" / "deno.lock").write_text(lock)
    words = [deno_config_option(spec["config"]), *(["--frozen"] if kept_lock else [])]
    argv = ("/bin/sh", "-c", _FILL, "sh", *words, *(f"/skill/{path}" for path in spec["scripts"]))
    try:
        build.run_installer(argv, job, registries.answer, {}, **_ENVIRONMENT)
    except Refusal as error:
        if error.code != DEPENDENCIES_FAILED.name or not registries.unset_kinds:
            raise
        kind = registries.unset_kinds[0]
        raise DEPENDENCIES_DISABLED.refusal(kind=kind, setting=_REGISTRIES[kind]) from None
    text = read_build_file(job / "output" / "lock", "deno.lock").decode("utf-8", "replace")
    stored = store_tree(job / "output", "deno", check_stop=build.check_stop)
    return BuildResult(f"{wants}\n{text}", _packages(text), stored.digest, stored.size)


def _without_addresses(lock: str) -> str:
    """The lock without tarball URLs, so that Deno uses only the site's registry; "" if there is no lock."""
    if not lock:
        return ""
    document = json.loads(lock)
    for entry in (document.get("npm") or {}).values():
        entry.pop("tarball", None)
    return json.dumps(document)


def _packages(text: str) -> tuple[InstalledPackage, ...]:
    lock, found = json.loads(text), []
    for group in ("npm", "jsr"):
        for key, entry in lock.get(group, {}).items():
            if match := _LOCK_KEY.fullmatch(key):
                found.append(
                    InstalledPackage(f"{group}:{match[1]}", match[2], str(entry.get("integrity", "")))
                )
    found += [InstalledPackage(url, "", f"sha256:{digest}") for url, digest in lock.get("remote", {}).items()]
    return tuple(found)
