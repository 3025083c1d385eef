"""What a package may name as a dependency, and what is refused with file, line and remedy."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.packages.dependencies.python import _find_blocks, read_python
from registry.packages.dependencies.read import is_dependency_input, read_dependencies
from registry.packages.package import PackageFile
from registry.packages.read_package import read_files
from tests.checks import not_none

pytestmark = pytest.mark.row("C6")

SKILL = b"---\nname: needy\ndescription: For tests.\n---\n# Needy\n"
STRICT = SKILL.replace(b"name: needy", b"name: needy\ntype: direct")
DIGEST = "sha512-" + "A" * 86 + "=="


def _python(text, *, script="import six\n"):
    return (PackageFile("scripts/a.py", script.encode()), PackageFile("requirements.txt", text.encode()))


def _node(entries, dependencies=None, *, lock_version=3, **more):
    wanted = {"name": "x", "dependencies": {"smile": "^1.0.0"} if dependencies is None else dependencies}
    locked = {"lockfileVersion": lock_version, "packages": {"": wanted, **entries}}
    return (
        PackageFile("scripts/a.mjs", b"import 'smile'\n"),
        PackageFile("package.json", json.dumps(wanted | more).encode()),
        PackageFile("package-lock.json", json.dumps(locked).encode()),
    )


def _entry(**more):
    address = "https://registry.example/npm/smile/-/smile-1.0.0.tgz"
    return {"version": "1.0.0", "resolved": address, "integrity": DIGEST} | more


def _codes(files):
    return [(each.code, each.path, each.line) for each in read_dependencies(files).problems]


def test_requirements_are_names_extras_versions_markers_and_hashes():
    text = '# ours\n\nSix[a]>=1.0 ; python_version > "3"  # why\npyyaml==6.0 \\\n  --hash=sha256:' + "a" * 64
    found = read_dependencies(_python(text))
    assert [each.line for each in found.python] == [
        "pyyaml==6.0 --hash=sha256:" + "a" * 64,
        'six[a]>=1.0; python_version > "3"',
    ]
    assert found.problems == ()


def _deno(script, **files):
    given = {"scripts/a.ts": script, **files}
    return read_dependencies(tuple(PackageFile(path, text.encode()) for path, text in given.items()))


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ('import x from "npm:x@1";', "npm:x@1"),
        ("export * from 'jsr:@a/b@^1/c';", "jsr:@a/b@^1/c"),
        ('const x = await import( "https://h.example/x.ts" );', "https://h.example/x.ts"),
        ('import /* why */ "npm:@a/b";', "npm:@a/b"),
        ('// @deno-types="npm:@types/x"', "npm:@types/x"),
        ('/// <reference types="npm:@types/y" />', "npm:@types/y"),
    ],
)
def test_typescript_that_imports_from_elsewhere_is_seen(line, seen):
    found = _deno(f"// first\n{line}\n").deno
    assert found.specifiers == (seen,)
    assert (found.scripts, found.config, found.lock) == (("scripts/a.ts",), "", "")


@pytest.mark.parametrize(
    "text",
    [
        'import { a } from "./lib.ts";\nawait fetch("https://h.example/x");',
        "// downloaded from https://h.example/x.ts\n",
        'const about = "see npm:x";',
    ],
)
def test_addresses_that_are_no_imports_prepare_nothing(text):
    assert _deno(text).deno is None


def test_deno_json_and_its_lock_are_read_where_they_lie():
    config, lock = '{"imports": {"x": "npm:x@1"}}', '{"version": "5"}'
    found = _deno(
        'import "x";', **{"scripts/deno.jsonc": config, "scripts/deno.lock": lock, "package.json": "{}"}
    )
    assert (found.deno.config, found.deno.lock) == ("scripts/deno.jsonc", "scripts/deno.lock")
    assert found.deno.specifiers == ("npm:x@1",)
    assert "package.json" not in found.deno.files


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"deno.lock": "[]"}, "DEPENDENCY_INVALID"),
        ({"deno.lock": '{"version": "9"}'}, "DEPENDENCY_INVALID"),
        ({"deno.json": " " * 70_000 + "{}"}, "DEPENDENCY_FILE_LARGE"),
        ({f"scripts/s{n}.ts": "" for n in range(60)}, "DENO_SCRIPTS_TOO_MANY"),
    ],
    ids=["no-object", "newer", "large", "many"],
)
def test_what_deno_could_not_be_given_is_a_problem(files, code):
    found = _deno('import "npm:x";', **files)
    assert [each.code for each in found.problems] == [code]
    assert found.deno is None


def test_the_blocks_of_all_scripts_and_the_list_make_one_environment():
    block = '# /// script\n# requires-python = ">=3.9"\n# dependencies = ["b", "a<2"]\n# ///\n'
    files = (*_python("c\n", script=block), PackageFile("scripts/d.py", block.replace('"b"', '"e"').encode()))
    found = read_dependencies(files)
    assert [each.line for each in found.python] == ["a<2", "b", "c", "e"]
    assert found.requires_python == (">=3.9",)


def test_comments_end_lines_and_go_on_where_the_line_does():
    text = "six \\ # why\n >=1 # more\n#all\na#b\n" + " " * 60_000 + "\n"
    found = read_dependencies(_python(text))
    assert [each.line for each in found.python] == []
    assert [each.params["text"] for each in found.problems] == ["a#b"]
    text = text.replace("a#b", "a #b")
    assert [each.line for each in read_dependencies(_python(text)).python] == ["a", "six>=1"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("https://host.example/x.whl", "DEPENDENCY_ELSEWHERE"),
        ("git+https://host.example/x", "DEPENDENCY_ELSEWHERE"),
        ("name @ https://host.example/x.whl", "DEPENDENCY_ELSEWHERE"),
        ("name@file:///etc/passwd", "DEPENDENCY_ELSEWHERE"),
        ("./local", "DEPENDENCY_ELSEWHERE"),
        ("../x.whl", "DEPENDENCY_ELSEWHERE"),
        ("/tmp/x.whl", "DEPENDENCY_ELSEWHERE"),
        (r"C:\x.whl", "DEPENDENCY_ELSEWHERE"),
        ("six===/../../skill", "DEPENDENCY_ELSEWHERE"),
        ("six===../x.whl", "DEPENDENCY_ELSEWHERE"),
        ("-e .", "DEPENDENCY_OPTION"),
        ("--index-url https://evil.example/simple", "DEPENDENCY_OPTION"),
        ("--extra-index-url=https://evil.example", "DEPENDENCY_OPTION"),
        ("-r other.txt", "DEPENDENCY_OPTION"),
        ("-c limits.txt", "DEPENDENCY_OPTION"),
        ("--find-links https://evil.example", "DEPENDENCY_OPTION"),
        ("six --global-option=x", "DEPENDENCY_OPTION"),
        ("six \\\n --config-settings x", "DEPENDENCY_OPTION"),
        ("--pre", "DEPENDENCY_OPTION"),
        ("two words", "DEPENDENCY_INVALID"),
        ("six==", "DEPENDENCY_INVALID"),
        ("six\0", "DEPENDENCY_INVALID"),
        ("six" + " " * 60_000 + "x", "DEPENDENCY_INVALID"),
        ("six; " + "(" * 30_000, "DEPENDENCY_INVALID"),
    ],
)
def test_what_comes_from_elsewhere_is_refused_at_its_line(line, code):
    assert _codes(_python(f"six\n{line}\n")) == [(code, "requirements.txt", 2)]
    assert read_dependencies(_python(f"six\n{line}\n")).python == ()


def test_a_refused_line_keeps_the_package_from_being_published():
    files = [("SKILL.md", SKILL), ("scripts/a.py", b"import x\n"), ("requirements.txt", b"six\n-e .\n")]
    problem = next(each for each in read_files(files).problems if each.code == "DEPENDENCY_OPTION")
    assert (problem.severity, problem.line) == ("error", 2)


def test_a_block_is_refused_at_the_line_of_its_dependency():
    listed = '# dependencies = [\n#   "six",\n#   "x @ https://h.example/x.whl",\n# ]\n'
    script = f"import os\n# /// script\n{listed}# ///\n"
    assert _codes((PackageFile("scripts/a.py", script.encode()),)) == [
        ("DEPENDENCY_ELSEWHERE", "scripts/a.py", 5)
    ]


BEGUN = "# /// script\n# x\n"
PIECES = ["# /// script", "# /// other", "# ///", "#", "# a = 1", "#b", "", "code", "# /// script "]
PEP_723 = re.compile(r"(?m)^# /// (?P<type>[a-zA-Z0-9-]+)$\s(?P<content>(^#(| .*)$\s)+)^# ///$")


@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_blocks_are_found_where_the_specification_finds_them(lines):
    text = "\n".join(lines)
    wanted = [
        (text.count("\n", 0, match.start()) + 1, match["content"].removesuffix("\n"))
        for match in PEP_723.finditer(text)
        if match["type"] == "script"
    ]
    assert list(_find_blocks(lines)) == wanted


def test_blocks_that_are_begun_and_never_ended_are_none():
    assert not read_dependencies((PackageFile("scripts/a.py", (BEGUN * 13_000).encode()),))


@pytest.mark.parametrize(
    "line",
    [
        "dependencies = " + "[" * 5000,
        "a = " + "{a=" * 5000,
        "a = " + "9" * 5000,
        "a." * 15_000 + "b = 1",
        "a = 2021-13-45",
    ],
    ids=["lists", "tables", "digits", "parts", "date"],
)
def test_a_block_that_would_break_its_reader_is_said_to_be_none(line):
    files = (PackageFile("scripts/a.py", f"# /// script\n# {line}\n# ///\n".encode()),)
    assert _codes(files) == [("DEPENDENCY_INVALID", "scripts/a.py", 1)]


def test_there_is_an_end_to_what_blocks_say_together():
    block = '# /// script\n# dependencies = ["six"]\n# ' + " " * 1000 + "\n# ///\n"
    files = [PackageFile(f"scripts/s{number:02}.py", block.encode()) for number in range(40)]
    assert _limits(files) == [("DEPENDENCY_FILE_LARGE", 32_768)]
    assert _codes(files[:20]) == []
    heads = [PackageFile(f"scripts/s{number}.py", BEGUN.encode() * 13_000) for number in range(10)]
    assert _limits(heads) == [("DEPENDENCY_FILE_LARGE", 2_097_152)]


def _limits(files):
    return [(problem.code, problem.params["limit"]) for problem in read_python(files).problems]


@pytest.mark.parametrize("block", ["# dependencies = [", '# dependencies = "six"', "# dependencies = [1]"])
def test_a_block_that_is_no_list_is_said_to_be_none(block):
    files = (PackageFile("scripts/a.py", f"# /// script\n{block}\n# ///\n".encode()),)
    assert _codes(files) == [("DEPENDENCY_INVALID", "scripts/a.py", 1)]


def test_there_is_an_end_to_how_many_may_be_named():
    assert [code for code, _, _ in _codes(_python("\n".join(f"p{n}" for n in range(101))))] == [
        "DEPENDENCIES_TOO_MANY"
    ]
    assert _codes(_python("#" * 70_000))[0][0] == "DEPENDENCY_FILE_LARGE"


def test_lists_that_no_script_needs_are_nothing_of_ours():
    only_text = (
        PackageFile("requirements.txt", b"-e .\n"),
        PackageFile("assets/requirements.txt", b"-e .\n"),
    )
    assert _codes(only_text) == []
    assert _codes((PackageFile("package.json", b"{}"), PackageFile("scripts/a.py", b""))) == []


def test_a_lock_says_what_is_installed():
    found = read_dependencies(_node({"node_modules/smile": _entry(hasInstallScript=True)}))
    assert found.problems == ()
    assert [(each.name, each.version, each.archive) for each in not_none(found.node).packages] == [
        ("smile", "1.0.0", "smile/-/smile-1.0.0.tgz")
    ]
    assert "resolved" not in json.dumps(not_none(found.node).entries)


@pytest.mark.parametrize(
    "entry",
    [
        _entry(resolved="git+ssh://git@host.example/x.git#1"),
        _entry(resolved="http://registry.example/smile/-/smile-1.0.0.tgz"),
        _entry(resolved="https://evil.example/other/-/other-1.0.0.tgz"),
        _entry(resolved="https://u:p@registry.example/smile/-/smile-1.0.0.tgz"),
        _entry(resolved="file:../../etc"),
        _entry(link=True),
        _entry(name="other"),
        _entry(inBundle=True),
        _entry(version="file:x"),
        "text",
    ],
)
def test_an_entry_from_elsewhere_is_refused(entry):
    assert [code for code, _, _ in _codes(_node({"node_modules/smile": entry}))] == ["DEPENDENCY_ELSEWHERE"]


@pytest.mark.parametrize(
    ("files", "code"),
    [
        (_node({"../../../etc": _entry()}), "DEPENDENCY_ELSEWHERE"),
        (_node({"packages/own": _entry()}), "DEPENDENCY_ELSEWHERE"),
        (_node({"node_modules/smile": _entry(integrity="sha1-abc")}), "DEPENDENCY_INVALID"),
        (_node({}, lock_version=1), "DEPENDENCY_INVALID"),
        (_node({}, {"smile": "git+https://host.example/x"}), "DEPENDENCY_ELSEWHERE"),
        (_node({}, {"smile": "file:../x"}), "DEPENDENCY_ELSEWHERE"),
        (_node({}, {"smile": "npm:file:../x"}), "DEPENDENCY_ELSEWHERE"),
        (_node({}, {"smile": "owner/repository"}), "DEPENDENCY_ELSEWHERE"),
        (_node({})[:2], "DEPENDENCY_LOCK_MISSING"),
        (_node({f"node_modules/p{n}": _entry() for n in range(1001)}), "DEPENDENCIES_TOO_MANY"),
    ],
)
def test_a_lock_that_is_none_is_refused(files, code):
    assert [each for each, _, _ in _codes(files)] == [code]


@pytest.mark.parametrize(
    "overrides",
    [
        {"smile": "npm:https://host.example/x.tgz"},
        {"smile": {".": "git+https://host.example/x"}},
        {"smile": {"grin": {"deep": "file:../x"}}},
        {"smile": "$grin/../x"},
    ],
)
def test_overrides_lead_nowhere_else(overrides):
    files = _node({"node_modules/smile": _entry()}, overrides=overrides)
    assert [code for code, _, _ in _codes(files)] == ["DEPENDENCY_ELSEWHERE"]


def test_overrides_are_kept_for_npm_which_checks_the_lock_by_them():
    overrides = {"grin": "2.1.0", "smile": {".": "$smile", "grin": "^2"}}
    found = read_dependencies(_node({"node_modules/smile": _entry()}, overrides=overrides))
    assert found.problems == ()
    assert not_none(found.node).manifest["overrides"] == overrides


@pytest.mark.parametrize(
    "wanted",
    ["npm:@real/smile@^1.0.0", "npm:@real/smile", "npm:@real/smile@>=1 <2", "npm:@real/smile@latest"],
)
def test_alias_installs_the_package_that_its_archive_names(wanted):
    address = "https://registry.example/@real/smile/-/smile-1.0.0.tgz"
    locked = {"node_modules/smile-cjs": _entry(name="@real/smile", resolved=address)}
    found = read_dependencies(_node(locked, {"smile-cjs": wanted}, overrides={"grin": wanted}))
    assert found.problems == ()
    assert [(each.name, each.archive) for each in not_none(found.node).packages] == [
        ("@real/smile", "@real/smile/-/smile-1.0.0.tgz")
    ]
    assert not_none(found.node).entries["node_modules/smile-cjs"]["name"] == "@real/smile"


@pytest.mark.parametrize("name", ["../smile", "smile/-/x", 5, "", "a/b"])
def test_alias_of_an_invalid_name_is_refused(name):
    files = _node({"node_modules/other": _entry(name=name)})
    assert [code for code, _, _ in _codes(files)] == ["DEPENDENCY_ELSEWHERE"]


def test_optional_packages_alone_are_installed_too():
    wanted = {"optionalDependencies": {"smile": "^1.0.0"}}
    found = read_dependencies(_node({"node_modules/smile": _entry(optional=True)}, {}, **wanted))
    assert [each.name for each in not_none(found.node).packages] == ["smile"]


def test_two_registries_in_one_lock_are_refused():
    other = _entry(resolved="https://evil.example/grin/-/grin-1.0.0.tgz")
    assert [
        code for code, _, _ in _codes(_node({"node_modules/smile": _entry(), "node_modules/grin": other}))
    ] == ["DEPENDENCY_ELSEWHERE"]


def test_a_missing_lock_is_a_warning_except_under_the_strict_profile():
    files = [("scripts/a.js", b"require('x')\n"), ("package.json", b'{"dependencies": {"x": "1"}}')]

    def severity(skill):
        found = read_files([("SKILL.md", skill), *files]).problems
        return next(each.severity for each in found if each.code == "DEPENDENCY_LOCK_MISSING")

    assert (severity(SKILL), severity(STRICT)) == ("warning", "error")


def test_programs_that_skill_md_shows_have_dependencies_as_scripts_have():
    shown = (
        "\n    python tool.py\n    python tools/other.py\n    node web/page.mjs\n    deno run ts/face.ts\n"
    )
    head = b'# /// script\n# dependencies = ["six"]\n# ///\n'
    _script, manifest, lock = _node({"node_modules/smile": _entry()})
    files = {
        "SKILL.md": SKILL + shown.encode(),
        "requirements.txt": b"a\n",
        "tool.py": head,
        "tools/other.py": b"",
        "tools/requirements.txt": b"b\n",
        "unshown.py": head.replace(b"six", b"c"),
        "unshown/requirements.txt": b"d\n",
        "web/page.mjs": b"",
        "web/package.json": manifest.data,
        "web/package-lock.json": lock.data,
        "ts/face.ts": b'import "npm:smile@1";',
        "ts/unshown.ts": b"",
    }
    kept = tuple(PackageFile(path, data) for path, data in files.items() if is_dependency_input(path))
    found = read_dependencies(kept)
    assert [each.line for each in found.python] == ["a", "b", "six"]
    assert [each.name for each in not_none(found.node).packages] == ["smile"]
    assert not_none(found.deno).scripts == ("ts/face.ts",)
    unshown = read_dependencies(tuple(each for each in kept if each.path != "SKILL.md"))
    assert not unshown
    assert not unshown.problems
