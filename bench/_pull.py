"""Measures the protocols of clients of a site in a temporary folder next to other registries and git."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import base64
import json
import os
import random
import shutil
import subprocess
import sys
import time

import django

django.setup()

from django.conf import settings
from django.core.management import call_command
from django.db import connection

from bench import _load, _registries
from bench._load import Read
from bench._reads import (
    PACKAGE_BYTES,
    _free_port,
    _load_arguments,
    _log,
    _peer_reads,
    _start,
    _status,
    _warm,
    _with_etag,
)
from portal.management.commands.up import web_program
from registry.identity.actors import Actor
from registry.models import Team, User, Visibility
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish

VERSIONS = 20
_ARCHIVE = "/api/v1/skills/bench/pulled/versions/latest/archive"
_TARBALL = f"/npm/@bench/pulled/-/pulled-1.0.{VERSIONS - 1}.tgz"
_PATHS = {
    "zip": _ARCHIVE,
    "npm document": "/npm/@bench/pulled",
    "npm tarball": _TARBALL,
    "well-known index": "/bench/pulled/.well-known/agent-skills/index.json",
    "marketplace": "/bench/marketplace.json",
    "ClawHub list": "/clawhub/api/v1/skills",
    "ClawHub skill": "/clawhub/api/v1/skills/pulled",
    "ClawHub download": f"/clawhub/api/v1/download?slug=pulled&version=1.0.{VERSIONS - 1}",
    "Anthropic list": "/anthropic/v1/skills",
    "OpenAI list": "/openai/v1/skills",
    "APM versions": "/apm/v1/packages/bench/pulled/versions",
    "git references": "/bench/pulled.git/info/refs?service=git-upload-pack",
}
_BACKEND_REFERENCES = "/pulled.git/info/refs?service=git-upload-pack"
_CONDITIONAL = ("zip", "npm document", "npm tarball", "well-known index")


def main():
    options = json.loads(sys.argv[1])
    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    data = _publish()
    reads = [Read(name, "site", (path,)) for name, path in _PATHS.items()]
    reads += [
        Read(f"304 of {name}", "site", (_PATHS[name],), {"If-None-Match": "*"}, 304) for name in _CONDITIONAL
    ]
    servers = {}
    try:
        servers["site"] = _web(options, reads)
        peers = _registries.start(
            options["peers"], home=settings.SKILLQUAY_VAR, free_port=_free_port, cores=options["server_cores"]
        )
        servers |= {name: registry.server for name, registry in peers.items()}
        theirs = [read for name, registry in peers.items() for read in _peer_reads(name, registry, data)]
        servers["git"] = _git_backend(options)
        theirs.append(Read("git http-backend document, anonymous", "git", (_BACKEND_REFERENCES,)))
        rounds = [_round(number, [*reads, *theirs], servers, options) for number in range(options["rounds"])]
        clones = _clones(servers, options["clones"])
    finally:
        for server in servers.values():
            server.close()
    found = {"database": connection.vendor, "peers": _registries.versions(options["peers"])}
    print(json.dumps({**found, "rounds": rounds, "clones": clones}))


def _publish():
    """Publishes VERSIONS versions of a public skill, and returns the data of its package."""
    dice = random.Random(20)
    actor = Actor(user=User.objects.create_superuser("bench", password=None))
    team = Team.objects.create(slug="bench", name="Bench")
    data = dice.randbytes(PACKAGE_BYTES)
    for number in range(VERSIONS):
        head = f"---\nname: pulled\ndescription: Pulled by clients.\nversion: 1.0.{number}\n---\n# Pulled\n"
        text = base64.b85encode(data[: PACKAGE_BYTES - 1_000])
        files = [("SKILL.md", head.encode()), ("references/data.md", text)]
        publish(read_files(files), team=team, actor=actor, visibility=Visibility.PUBLIC)
    return data


def _web(options, reads):
    program = web_program()
    server = _start(program.argv, settings.SKILLQUAY_PORT, options, "web", program.environment)
    return server.wait(lambda: _status(settings.SKILLQUAY_PORT, reads[0]) == 200)


def _git_backend(options):
    """git's http-backend with a bare clone of the site's repository."""
    folder, port = settings.SKILLQUAY_VAR / "git", _free_port()
    source = f"http://127.0.0.1:{settings.SKILLQUAY_PORT}/bench/pulled.git"
    subprocess.run(["git", "clone", "-q", "--bare", source, str(folder / "pulled.git")], check=True)
    server = _start(
        [sys.executable, "-m", "bench._git_backend", str(folder), str(port)], port, options, "git"
    )
    refs = Read("", "git", (_BACKEND_REFERENCES,))
    return server.wait(lambda: _status(port, refs) == 200)


def _round(number, reads, servers, options):
    """The figures of a round by name. Each round starts with another kind."""
    turn = number * len(reads) // options["rounds"]
    figures = {}
    for read in reads[turn:] + reads[:turn]:
        server = servers[read.server]
        prepared = _with_etag(read, server.port)
        _warm(prepared, server.port)
        arguments = _load_arguments(options)
        figures[read.name] = _load.measure(prepared, server, seconds=options["seconds"], **arguments)
    _log(f"round {number + 1} of {options['rounds']}")
    return figures


def _clones(servers, count):
    """The milliseconds of each clone, in turns, by server."""
    addresses = {
        "site": f"http://127.0.0.1:{servers['site'].port}/bench/pulled.git",
        "git http-backend": f"http://127.0.0.1:{servers['git'].port}/pulled.git",
    }
    times = {name: [] for name in addresses}
    for number in range(count + 1):
        for name, address in addresses.items():
            target = settings.SKILLQUAY_VAR / "clone"
            shutil.rmtree(target, ignore_errors=True)
            began = time.perf_counter()
            subprocess.run(["git", "clone", "-q", address, str(target)], check=True, env=_git_environment())
            if number:  # the first clone of each warms up
                times[name].append((time.perf_counter() - began) * 1000)
    return times


def _git_environment():
    return {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1"}


if __name__ == "__main__":
    main()
