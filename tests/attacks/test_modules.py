"""Packages whose TypeScript imports hostile modules: refused by digest, by host, by size, or contained."""

from __future__ import annotations

import gzip
import io
import json
import tarfile

import pytest

from registry.identity.actors import Actor
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish
from tests.servers.package_index import PackageIndex, integrity, npm_archive
from tests.skipping import require_network
from worker.dependencies import build
from worker.dependencies.store import unpack_archive
from worker.models import DependencyBuild
from worker.protocols.call import Request
from worker.service.inline import request_and_execute

pytestmark = [
    pytest.mark.matrix(at_most=5),
    pytest.mark.slow("runs hostile scripts in a sandbox"),
    pytest.mark.attack,
    pytest.mark.row("C6", "C8"),
    pytest.mark.django_db(transaction=True),
]

OF_NPM = 'import evil from "npm:evil@1";\nexport const execute = () => evil;\n'
OF_JSR = 'import { evil } from "jsr:@bad/evil@1";\nexport const execute = () => evil;\n'


@pytest.fixture
def registry(settings):
    require_network()
    with PackageIndex.serving(settings) as index:
        settings.SKILLQUAY_NPM_REGISTRY, settings.SKILLQUAY_JSR_URL = f"{index.root}/npm", f"{index.root}/jsr"
        yield index


@pytest.fixture
def prepared(registry, team, alice):
    """``prepared(script, files…)``: the preparation of a skill with that execute.ts."""

    def prepared(script=OF_NPM, **files):
        head = "---\nname: victim\ndescription: For tests.\nversion: 1.0.0\n---\n# Victim\n"
        given = {"SKILL.md": head, "scripts/execute.ts": script, **files}
        package = read_files([(path, text.encode()) for path, text in given.items()])
        publish(package, team=team, actor=Actor(user=alice), visibility="private")
        build.build_waiting()
        return DependencyBuild.objects.get()

    return prepared


def _archive(*members):
    """An npm archive of members as they are given: name, content, or a link's target."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for name, content, link in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            if link:
                member.type, member.linkname, member.size = tarfile.SYMTYPE, link, 0
            archive.addfile(member, io.BytesIO(content))
    return held.getvalue()


def _names(row):
    return [
        str(path.relative_to(unpack_archive(row.digest))) for path in unpack_archive(row.digest).rglob("*")
    ]


def _output(row, alice):
    request = Request(inputs={})
    run = request_and_execute(actor=Actor(user=alice), version=row.versions.get(), request=request)
    assert run.status == "succeeded", (run.failure_code, run.message)
    return run.result["output"]


MANIFEST = ("package/package.json", b'{"name": "evil", "version": "1.0.0", "main": "i.js"}', "")
INNOCENT = ("package/i.js", b"module.exports = 'innocent'", "")


@pytest.mark.parametrize(
    "member",
    [
        ("package/../../../../escaped.js", b"x", ""),
        ("/tmp/escaped.js", b"x", ""),
        ("package/escaped", b"", "/etc"),
        ("package/../../grin/9.9.9/escaped.js", b"x", ""),
    ],
    ids=["upwards", "absolute", "link", "another-package"],
)
def test_a_path_that_leads_out_of_an_archive_writes_nothing_outside(registry, prepared, member):
    registry.npm("evil", {}, data=_archive(MANIFEST, INNOCENT, member, ("package/escaped/in.js", b"x", "")))
    row = prepared()
    if row.state == "ready":
        own = [name for name in _names(row) if "escaped" in name and "/evil/1.0.0/" not in name]
        assert own == [], row.log
        assert not any(path.is_symlink() for path in unpack_archive(row.digest).rglob("*"))
    else:
        assert row.problem["code"] == "DEPENDENCIES_FAILED", row.log


def test_an_archive_that_swells_is_cut_at_its_limit(registry, prepared, settings):
    settings.SKILLQUAY_DEPENDENCIES_MB = 4
    registry.npm("evil", {"i.js": "/" * (40 << 20)})
    row = prepared()
    assert (row.state, row.problem["code"]) == ("failed", "DEPENDENCIES_TOO_LARGE"), row.log


def test_an_archive_without_end_is_cut_where_it_is_read(registry, prepared, settings):
    settings.SKILLQUAY_DEPENDENCIES_MB = 1
    registry.npm("evil", {}, data=gzip.compress(b"", 0) + bytes(4 << 20))
    row = prepared()
    assert (row.state, row.problem["code"]) == ("failed", "DEPENDENCIES_TOO_LARGE"), row.log


def test_other_bytes_than_the_registry_says_are_refused(registry, prepared):
    registry.npm("evil", {"i.js": "1"}, digest=integrity(b"something else"))
    row = prepared()
    assert (row.state, row.problem["code"]) == ("failed", "DEPENDENCIES_CHANGED"), row.log


def test_other_bytes_than_the_lock_of_the_package_says_are_refused(registry, prepared):
    registry.npm("evil", {"index.js": "1"})
    entry = {"integrity": integrity(b"what the author had")}
    lock = {"version": "5", "specifiers": {"npm:evil@1": "1.0.0"}, "npm": {"evil@1.0.0": entry}}
    row = prepared(**{"deno.lock": json.dumps(lock)})
    assert (row.state, row.problem["code"]) == ("failed", "DEPENDENCIES_CHANGED"), row.log


def test_a_file_of_jsr_that_is_not_what_its_manifest_says_is_refused(registry, prepared):
    registry.jsr(
        "@bad/evil", {"/mod.ts": "export const evil = 1"}, checksums={"/mod.ts": "sha256-" + "0" * 64}
    )
    row = prepared(OF_JSR)
    assert (row.state, row.problem["code"]) == ("failed", "DEPENDENCIES_CHANGED"), row.log


def test_a_version_without_a_digest_that_holds_is_not_offered(registry, prepared):
    registry.npm("evil", {"i.js": "1"}, digest="sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=")
    row = prepared()
    assert (row.state, row.problem["code"]) == ("failed", "DEPENDENCIES_FAILED"), row.log
    assert not any(path.endswith(".tgz") for path, _ in registry.requests)


def test_install_scripts_never_run(registry, prepared, alice):
    text = "require('fs').writeFileSync('/job/output/owned', 'x')"
    files = {"index.js": "exports.ran = require('fs').existsSync(__dirname + '/ran')", "install.js": text}
    run = dict.fromkeys(("preinstall", "install", "postinstall", "prepare"), "touch ran; node install.js")
    registry.npm("evil", files, scripts=run, hasInstallScript=True)
    row = prepared(**{"deno.json": json.dumps({"nodeModulesDir": "auto", "allowScripts": ["npm:evil"]})})
    assert row.state == "ready", (row.problem, row.log)
    assert not any(name.endswith(("owned", "/ran")) for name in _names(row))
    assert _output(row, alice) == {"ran": False}


@pytest.mark.parametrize("where", ["{root}/more.tgz", "git+https://example.org/x", "file:/etc", "x/y"])
def test_a_dependency_that_names_an_address_is_not_fetched(registry, prepared, where):
    registry.npm("evil", {"index.js": "1"}, dependencies={"more": where.format(root=registry.root)})
    row = prepared()
    assert not any("more" in path for path, _ in registry.requests)
    assert [each["name"] for each in row.packages] in ([], ["npm:evil"]), row.log


def test_the_settings_of_a_package_lead_to_no_other_registry(registry, prepared):
    registry.npm("evil", {"index.js": "module.exports = 1"})
    more = {".npmrc": "registry=http://elsewhere.example/\n", "scripts/.npmrc": "registry=http://10.0.0.1/\n"}
    row = prepared(**more)
    assert row.state == "ready", (row.problem, row.log)


def test_an_archive_at_an_inner_address_is_not_dialled(registry, prepared, settings):
    data = npm_archive({"package/package.json": '{"name": "evil", "version": "1.0.0"}'})
    registry.npm("evil", {}, data=data)
    page = json.loads(registry.files["/npm/evil"])
    page["versions"]["1.0.0"]["dist"]["tarball"] = "http://169.254.169.254/latest/meta-data.tgz"
    registry.files["/npm/evil"] = json.dumps(page).encode()
    row = prepared()
    assert (row.state, row.problem["code"]) == ("failed", "DEPENDENCIES_OFFLINE"), row.log


def test_a_registry_that_moves_its_archive_to_an_inner_host_is_not_followed(registry, prepared):
    registry.npm("evil", {"index.js": "1"})
    registry.redirects["/npm/evil/-/evil-1.0.0.tgz"] = "http://10.0.0.1/evil.tgz"
    row = prepared()
    assert (row.state, row.problem["code"]) == ("failed", "DEPENDENCIES_OFFLINE"), row.log


def test_a_script_that_is_found_at_publish_is_read_and_never_run(registry, prepared):
    registry.npm("evil", {"index.js": "require('fs').writeFileSync('/job/output/deno/owned', '')"})
    owns = 'Deno.writeTextFileSync("/job/output/deno/owned", "x");\n' + OF_NPM
    row = prepared(owns)
    assert row.state == "ready", (row.problem, row.log)
    assert "owned" not in _names(row)
