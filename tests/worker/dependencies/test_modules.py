"""Modules of deno: found by deno, kept in a cache by lock, read by runs that reach nobody."""

from __future__ import annotations

import json

import pytest

from registry.identity.actors import Actor
from registry.packages.problems import Refusal
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish
from tests.servers.package_index import PackageIndex, make_certificate
from tests.skipping import require_network
from worker.attempts import unpacking
from worker.dependencies import build
from worker.dependencies.installers import deno_modules
from worker.dependencies.store import unpack_archive
from worker.models import DependencyBuild, ModuleLoad, RunStatus
from worker.module_loads import load_modules
from worker.service.inline import execute_here

pytestmark = [
    pytest.mark.matrix(at_most=8),
    pytest.mark.row("C8", "C6", "P9"),
    pytest.mark.django_db(transaction=True),
]

EXECUTE = """
import { hello } from "jsr:@std/hello@^1";
import { face } from "./lib/face.ts";
export function execute(parameters: { who: string }) {
  let writes = true;
  try { Deno.writeTextFileSync("/deno/x", "x"); } catch { writes = false; }
  return { output: { said: hello(parameters.who) + face, writes }, status: "success" };
}
"""
FACE = 'const smile = await import("npm:smile@1");\nexport const face: string = smile.default;\n'
HELLO = 'import smile from "npm:smile@^1.0.0";\nexport { hello } from "./hello.ts";\n'


@pytest.fixture
def registry(settings):
    require_network()
    with PackageIndex.serving(settings) as index:
        index.npm(
            "smile", {"index.js": "module.exports = require('grin').face"}, dependencies={"grin": "^2.0.0"}
        )
        index.npm("grin", {"index.js": "exports.face = ' :-)'"}, "2.1.0")
        said = "export const hello = (who: string): string => `hello ${who}`;"
        index.jsr("@std/hello", {"/mod.ts": HELLO, "/hello.ts": said})
        settings.SKILLQUAY_NPM_REGISTRY = f"{index.root}/npm".replace("//", "//reader:s3cret@")
        settings.SKILLQUAY_JSR_URL = f"{index.root}/jsr/"
        yield index


@pytest.fixture
def typescript(team, alice):
    """``typescript(script, number, files…)``: a version of docs/typed, with what lies beside it."""

    def typescript(script=EXECUTE, number="1.0.0", **files):
        head = f"---\nname: typed\ndescription: For tests.\nversion: {number}\n---\n# Typed\n"
        given = {"SKILL.md": head, "scripts/execute.ts": script, "scripts/lib/face.ts": FACE, **files}
        package = read_files([(path, text.encode()) for path, text in given.items()])
        return publish(package, team=team, actor=Actor(user=alice), visibility="private").version

    return typescript


def _output(run):
    assert run.status == RunStatus.SUCCEEDED, (run.failure_code, run.message, run.result)
    return run.result["output"]


def _made():
    build.build_waiting()
    row = DependencyBuild.objects.latest("pk")
    assert row.state == "ready", (row.problem, row.log)
    return row


def test_modules_are_made_once_and_read_again_without_a_network_on_a_second_machine(
    registry, typescript, queue_run, settings, tmp_path
):
    version = typescript()
    row = _made()
    assert [(each["name"], each["version"]) for each in row.packages] == [
        ("npm:grin", "2.1.0"),
        ("npm:smile", "1.0.0"),
        ("jsr:@std/hello", "1.0.0"),
    ]
    assert all(each["hash"] for each in row.packages)
    assert row.platform.startswith("deno-2")
    assert "Basic cmVhZGVyOnMzY3JldA==" in {given for path, given in registry.requests if "/npm/" in path}
    assert {given for path, given in registry.requests if "/jsr/" in path} == {None}
    assert "s3cret" not in row.log + row.lock

    registry.stop()
    assert load_modules.load_waiting() == 1
    assert ModuleLoad.objects.get().state == "passed"
    settings.SKILLQUAY_NPM_REGISTRY = settings.SKILLQUAY_JSR_URL = ""
    other = tmp_path / "second-machine"
    other.mkdir()
    (other / "blobs").symlink_to(f"{settings.SKILLQUAY_VAR}/blobs")
    settings.SKILLQUAY_VAR = other
    unpacking._opened.clear()
    run = execute_here(queue_run(version, {"who": "you"}))
    assert _output(run) == {"said": "hello you :-)", "writes": False}


def test_another_version_that_imports_the_same_shares_what_was_made_without_asking(registry, typescript):
    typescript()
    first = _made()
    registry.requests.clear()
    typescript(EXECUTE + "// another comment\n", "1.1.0")
    second = _made()
    assert second.pk != first.pk
    assert (second.digest, second.packages) == (first.digest, first.packages)
    assert registry.requests == []


def test_an_import_map_of_deno_json_holds_with_names_that_are_ours(registry, typescript, queue_run):
    config = {"imports": {"hi": "jsr:@std/hello@1", "@/": "./scripts/lib/"}, "nodeModulesDir": "auto"}
    script = EXECUTE.replace("jsr:@std/hello@^1", "hi").replace("./lib/", "@/")
    version = typescript(script, **{"deno.json": json.dumps(config)})
    assert json.loads(DependencyBuild.objects.get().spec)["config"] == "deno.json"
    _made()
    assert _output(execute_here(queue_run(version, {"who": "x"})))["said"] == "hello x :-)"


def test_the_lock_of_a_package_decides_which_versions_are_taken(registry, typescript, queue_run):
    typescript()
    lock = _made().lock.partition("\n")[2]
    registry.npm("grin", {"index.js": "exports.face = ' newer'"}, "2.9.0")
    version = typescript(number="1.1.0", **{"deno.lock": lock})
    assert {each["name"]: each["version"] for each in _made().packages}["npm:grin"] == "2.1.0"
    assert _output(execute_here(queue_run(version, {"who": "x"})))["said"] == "hello x :-)"
    plain = typescript(EXECUTE.replace("^1", "1"), number="1.2.0")
    assert {each["name"]: each["version"] for each in _made().packages}["npm:grin"] == "2.9.0"
    assert _output(execute_here(queue_run(plain, {"who": "x"})))["said"] == "hello x newer"


def test_what_was_swept_is_made_again_by_the_lock_that_was_kept(registry, typescript, queue_run):
    version = typescript()
    row = _made()
    registry.npm("grin", {"index.js": "exports.face = ' newer'"}, "2.9.0")
    DependencyBuild.objects.update(state="unused", digest="", size=0)
    assert _output(execute_here(queue_run(version, {"who": "x"})))["said"] == "hello x :-)"
    assert DependencyBuild.objects.get().lock == row.lock


def test_a_script_without_modules_of_others_is_not_prepared(typescript, queue_run):
    script = EXECUTE.replace("jsr:@std/hello@^1", "./lib/hello.ts")
    hello = "// see https://example.org\nexport const hello = (who: string) => `hi ${who}`;"
    version = typescript(
        script, **{"scripts/lib/face.ts": "export const face = '';", "scripts/lib/hello.ts": hello}
    )
    assert not DependencyBuild.objects.exists()
    assert _output(execute_here(queue_run(version, {"who": "x"})))["said"] == "hi x"


@pytest.mark.parametrize(
    ("setting", "kind"), [("SKILLQUAY_NPM_REGISTRY", "npm"), ("SKILLQUAY_JSR_URL", "jsr")]
)
def test_a_registry_that_the_site_does_not_name_is_named_by_its_setting(
    registry, typescript, settings, setting, kind
):
    setattr(settings, setting, "")
    typescript()
    build.build_waiting()
    problem = DependencyBuild.objects.get().problem
    assert problem["code"] == "DEPENDENCIES_DISABLED"
    assert problem["params"] == {"kind": kind, "setting": setting}


def test_a_module_of_another_may_need_the_registry_that_nobody_named(registry, typescript, settings):
    settings.SKILLQUAY_NPM_REGISTRY = ""
    typescript(
        'import { hello } from "jsr:@std/hello@1"; export const execute = () => hello("x");',
        **{"scripts/lib/face.ts": ""},
    )
    build.build_waiting()
    assert DependencyBuild.objects.get().problem["params"]["setting"] == "SKILLQUAY_NPM_REGISTRY"


def test_a_registry_that_does_not_answer_is_said_to_be_offline(registry, typescript):
    registry.stop()
    typescript()
    build.build_waiting()
    row = DependencyBuild.objects.get()
    assert (row.problem["code"], row.problem["params"]["setting"]) in {
        ("DEPENDENCIES_OFFLINE", setting) for setting in deno_modules._REGISTRIES.values()
    }, row.log


class SecureIndex(PackageIndex):
    """``authority`` is the text of the certificate that builds must accept."""

    authority = ""

    @property
    def host(self):
        return f"modules.example:{self.server.server_address[1]}"


@pytest.fixture
def secure(tmp_path, monkeypatch):
    """An HTTPS server for ``modules.example`` with a certificate that builds accept."""
    authority, key, cert = make_certificate(tmp_path, "modules.example")
    index = SecureIndex((key, cert))
    index.authority = authority.read_text()
    monkeypatch.setattr("worker.dependencies.build_attempt.resolve_host", lambda _host, _port: ["127.0.0.1"])
    monkeypatch.setitem(deno_modules._ENVIRONMENT, "DENO_CERT", "/skill/scripts/authority.json")
    yield index
    index.stop()


def _importing(typescript, secure, path="/mod.ts"):
    script = f'import {{ word }} from "https://{secure.host}{path}";\nexport const execute = () => word;\n'
    return typescript(script, **{"scripts/authority.json": secure.authority, "scripts/lib/face.ts": ""})


def test_https_modules_come_from_hosts_that_the_site_names(registry, secure, typescript, settings, queue_run):
    settings.SKILLQUAY_DENO_HOSTS = [secure.host]
    secure.files["/mod.ts"] = b'export { word } from "./word.ts";'
    secure.files["/word.ts"] = b'export const word: string = "from afar";'
    version = _importing(typescript, secure)
    row = _made()
    assert [each["name"] for each in row.packages] == [
        f"https://{secure.host}/{n}.ts" for n in ("mod", "word")
    ]
    secure.stop()
    assert _output(execute_here(queue_run(version))) == "from afar"


def test_https_modules_of_other_hosts_are_refused_by_name_and_nobody_is_asked(registry, secure, typescript):
    _importing(typescript, secure)
    build.build_waiting()
    problem = DependencyBuild.objects.get().problem
    assert (problem["code"], problem["params"]) == ("DEPENDENCIES_HOST", {"host": secure.host})
    assert secure.requests == []


@pytest.mark.parametrize("specifier", ["https://[", "https://[x]/a.ts", "https://a.example:x/a.ts"])
def test_an_invalid_module_address_fails_the_build(specifier):
    with pytest.raises(Refusal) as refused:
        deno_modules._check_hosts([specifier])
    assert refused.value.code == "DEPENDENCIES_FAILED"


def test_a_redirect_to_a_host_that_is_not_named_is_refused(registry, secure, typescript, settings):
    settings.SKILLQUAY_DENO_HOSTS = [secure.host]
    secure.redirects["/mod.ts"] = "https://elsewhere.example/mod.ts"
    _importing(typescript, secure)
    build.build_waiting()
    row = DependencyBuild.objects.get()
    assert row.problem["code"] == "DEPENDENCIES_HOST", row.log
    assert row.problem["params"] == {"host": "elsewhere.example"}


def test_modules_over_a_plain_line_are_refused(registry, typescript):
    typescript('import "http://modules.example/x.ts"; export const execute = () => 1;')
    build.build_waiting()
    assert DependencyBuild.objects.get().problem["code"] == "DEPENDENCIES_FAILED"
    assert registry.requests == []


def test_compiled_caches_are_not_kept_so_that_like_makings_are_alike(registry, typescript):
    typescript()
    row = _made()
    kept = {path.name for path in unpack_archive(row.digest).iterdir()}
    assert kept == {"deno.lock", "npm", "remote"}
