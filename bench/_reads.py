"""Measures the reads of a site in a temporary folder next to a trivial view and other registries."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import base64
import http.client
import json
import os
import random
import socket
import statistics
import sys
import threading
import urllib.error
import urllib.request
from datetime import timedelta

import django

django.setup()

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from bench import _load, _registries
from bench._load import Read, Server
from portal.management.commands.up import web_program
from registry.identity import tokens
from registry.identity.actors import Actor
from registry.models import Membership, Role, Scope, Skill, Team, User, Version, Visibility
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish

PACKAGE_BYTES = 20_000
SKILLS = 170  # number of skills; each is read at six URLs
_WARM_UP_S = 3  # of each read of a peer
_TRIVIAL = "trivial view"
_ADDRESSES = (
    "",
    "/versions",
    "/versions/1.0.0",
    "/versions/1.0.0/files",
    "/channels",
    "/versions/1.0.0/archive",
)


def main():
    options = json.loads(sys.argv[1])
    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    os.sched_setaffinity(0, options["load_cores"])
    site = _Site()
    servers, reads = {}, site.reads()
    try:
        servers = {"trivial": _trivial(options), "site": _web(options, site)}
        peers = _registries.start(
            options["peers"],
            home=settings.SKILLQUAY_VAR,
            free_port=_free_port,
            cores=options["server_cores"],
        )
        servers |= {name: registry.server for name, registry in peers.items()}
        theirs = [read for name, registry in peers.items() for read in _peer_reads(name, registry, site.data)]
        for read in theirs:  # node compiles a function after many calls
            _load.measure(read, servers[read.server], seconds=_WARM_UP_S, **_load_arguments(options))
        rounds = _rounds([Read(_TRIVIAL, "trivial", ("/",)), *reads, *theirs], servers, site, options)
        first = _first_reads(reads, servers, site, options)
        rss_mb = servers["site"].rss_mb()
    finally:
        for server in servers.values():
            server.close()
    document = {"database": connection.vendor, "rss_mb": rss_mb, "rounds": rounds, "first": first}
    document |= {name: options[name] for name in ("processes", "loop")}
    print(json.dumps({**document, "peers": _registries.versions(options["peers"])}))


def _peer_reads(name, registry, data):
    """The reads of a package with this content."""
    package = registry.publish("bench", "1.0.0", {"data.bin": data})
    return [
        Read(f"{name} package, signed in", name, (package,), registry.headers),
        Read(f"{name} package, anonymous", name, (package,)),
        Read(f"{name} document, anonymous", name, (registry.document_path("bench"),)),
    ]


class _Site:
    """Teams, their skills, and a member of three teams with a token and a session."""

    def __init__(self):
        dice = random.Random(18)
        self.data = dice.randbytes(PACKAGE_BYTES)
        self.user = User.objects.create_user("bench", password=None)
        self.teams = [Team.objects.create(slug=f"team{n}", name=f"Team {n}") for n in range(4)]
        for team in self.teams[:3]:
            Membership.objects.create(team=team, user=self.user, role=Role.MEMBER)
        self.author = Actor(user=User.objects.create_superuser("author", password=None))
        self.publish(self.teams[0], "own", data=self.data)
        self.publish(self.teams[3], "shared", data=self.data)
        for number in range(SKILLS):
            self.publish(self.teams[number % 4], f"skill-{number}", text=dice.randbytes(40).hex())
        assert not Version.objects.exclude(held_at=None).exists()
        self.token = self._token()
        client = Client()
        client.get(reverse("sign-in"))  # sets the CSRF cookie, which browsers with a session have too
        client.force_login(self.user, backend=settings.AUTHENTICATION_BACKENDS[0])
        self.cookie = "; ".join(f"{name}={cookie.value}" for name, cookie in client.cookies.items())
        self.published = 0

    def publish(self, team, slug, *, data=b"", text="", version="1.0.0"):
        head = f"---\nname: {slug}\ndescription: Reads files, number {slug}.\nversion: {version}\n---\n"
        files = [("SKILL.md", f"{head}# Bench\n{text}\n".encode())]
        if data:
            files.append(("references/data.md", base64.b85encode(data[: len(data) - 1_000])))
        visibility = Visibility.PRIVATE if slug == "own" else Visibility.PUBLIC
        publish(read_files(files), team=team, actor=self.author, visibility=visibility)

    def publish_elsewhere(self):
        """Publishes a version of a skill that no measured request reads."""
        self.published += 1
        self.publish(self.teams[3], "elsewhere", version=f"1.0.{self.published}")

    def change(self):
        """Changes the descriptions of the skills that single requests read."""
        self.published += 1
        for skill in Skill.objects.filter(slug__in=("own", "shared")):
            skill.description = f"Reads files quickly, change {self.published}."
            skill.save(update_fields=["description"])

    def _token(self):
        expires_at = timezone.now() + timedelta(days=1)
        owner = Actor(user=self.user)
        return tokens.issue(self.user, name="bench", scopes=Scope.values, expires_at=expires_at, by=owner)[1]

    def reads(self):
        """The measured reads of the site, signed in and anonymous."""
        token, session = {"Authorization": f"Bearer {self.token}"}, {"Cookie": self.cookie}
        return [
            *self._kinds("team0/own", "signed in", token, session),
            *self._kinds("team3/shared", "anonymous", {}, {}),
        ]

    def _kinds(self, skill, who, token, session):
        api = f"/api/v1/skills/{skill}"
        archive = f"{api}/versions/1.0.0/archive"
        names = {
            "skill document": (api, token),
            "list of 20": ("/api/v1/skills?limit=20", token),
            "package of 20 kB": (archive, token),
            "skill page": (f"/skills/{skill}/", session),
            "catalog page": ("/skills/", session),
        }
        kinds = [Read(f"{name}, {who}", "site", (path,), headers) for name, (path, headers) in names.items()]
        for name, path in (
            ("skill document", api),
            ("list of 20", "/api/v1/skills?limit=20"),
            ("package", archive),
        ):
            kinds.append(
                Read(f"304 of {name}, {who}", "site", (path,), {**token, "If-None-Match": path}, 304)
            )
        many = tuple(
            f"/api/v1/skills/team{n % 4}/skill-{n}{rest}" for n in range(SKILLS) for rest in _ADDRESSES
        )
        return [*kinds, Read(f"{len(many)} addresses, {who}", "site", many, token)]


def _trivial(options):
    port = _free_port()
    argv = [*web_program().argv]
    argv[argv.index("portal.asgi:application")] = "bench._trivial:application"
    argv[argv.index("--port") + 1] = str(port)
    return _start(argv, port, options, "trivial").wait(lambda: _status(port, Read("", "", ("/",))) == 200)


def _web(options, site):
    port = settings.SKILLQUAY_PORT
    reads = [read for read in site.reads() if len(read.paths) == 1 and read.status == 200]
    server = _start(web_program().argv, port, options, "web", web_program().environment)
    return server.wait(lambda: all(_status(port, read) == 200 for read in reads))


def _start(argv, port, options, name, environment=None):
    log = settings.SKILLQUAY_VAR / f"{name}.log"
    argv = [*argv]
    argv[argv.index("--loop") + 1] = options["loop"]
    return Server(argv, port=port, cores=options["server_cores"], log=log, environment=environment)


def _rounds(reads, servers, site, options):
    """The figures of each round by name. Each round starts with another kind."""
    rounds = []
    for number in range(options["rounds"]):
        turn = number * len(reads) // options["rounds"]
        figures = {}
        for read in reads[turn:] + reads[:turn]:
            figures |= _measure(read, servers[read.server], site, options)
        rounds.append({name: figures[name] for read in reads for name in _names(read)})
        _log(f"round {number + 1} of {options['rounds']}")
    return rounds


def _names(read):
    return [read.name, f"{read.name}, one publish a second"] if len(read.paths) > 1 else [read.name]


def _measure(read, server, site, options):
    read = _with_etag(read, server.port)
    as_expected = _warm(read, server.port)
    arguments = _load_arguments(options)
    figures = {read.name: _load.measure(read, server, seconds=options["seconds"], **arguments)}
    figures[read.name]["as_expected"] = as_expected
    for name in _names(read)[1:]:
        with _Publisher(site):
            figures[name] = _load.measure(read, server, seconds=max(options["seconds"], 5), **arguments)
    return figures


def _load_arguments(options):
    folder = str(settings.SKILLQUAY_VAR)
    return {"connections": options["connections"], "cores": options["load_cores"], "folder": folder}


def _with_etag(read, port):
    """The read; if it is conditional, with the ETag of its current answer."""
    if "If-None-Match" not in read.headers:
        return read
    headers = {name: value for name, value in read.headers.items() if name != "If-None-Match"}
    with _open(port, Read("", "", read.paths, headers)) as answer:
        etag = answer.headers["ETag"]
    return Read(read.name, read.server, read.paths, {**headers, "If-None-Match": etag}, 304)


def _warm(read, port):
    """Requests each path, and returns whether all answers have the expected status.

    Raises RuntimeError for an error.
    """
    found = {_status(port, Read("", "", (path,), read.headers)) for path in read.paths}
    if max(found) >= 400:
        raise RuntimeError(f"{read.name} was answered with {found}")
    return found == {read.status}


class _Publisher(threading.Thread):
    """Publishes a version once a second in a team that no measured request reads."""

    def __init__(self, site):
        super().__init__(daemon=True)
        self.site, self.ended = site, threading.Event()

    def run(self):
        while not self.ended.wait(1.0):
            self.site.publish_elsewhere()
        connection.close()

    def __enter__(self):
        self.start()

    def __exit__(self, *error):
        self.ended.set()
        self.join()


def _first_reads(reads, servers, site, options):
    """By name, the median of the CPU milliseconds of first reads after a change, and of requests to the
    trivial view in between. Each server is requested through one connection.
    """
    figures = {}
    ours, trivial = (_SingleRequests(servers[name]) for name in ("site", "trivial"))
    for read in reads:
        if len(read.paths) == 1 and read.status == 200:
            times = []
            for _ in range(options["first"]):
                site.change()
                times.append((ours.cpu_ms(read), trivial.cpu_ms(Read("", "", ("/",)))))
            figures[read.name] = [statistics.median(each) for each in zip(*times, strict=True)]
    return figures


class _SingleRequests:
    """Measures one request at a time, through one connection. Other than under load, the server's code and
    data may have left the processor's caches since the previous one.
    """

    def __init__(self, server):
        self.server = server
        self.client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)

    def cpu_ms(self, read):
        used = self.server.cpu_s()
        self.client.request("GET", read.paths[0], headers=read.headers)
        answer = self.client.getresponse()
        assert answer.read()
        assert answer.status == 200
        return (self.server.cpu_s() - used) * 1000


def _status(port, read):
    try:
        with _open(port, read) as answer:
            answer.read()
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def _open(port, read):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{read.paths[0]}", headers=read.headers)
    return urllib.request.urlopen(request, timeout=30)


def _free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _log(line):
    print(f"  {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
