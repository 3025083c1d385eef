"""An old package of document C becomes a conforming one, and a conforming one stays as it is."""

# ruff: noqa: SIM905
from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.packages.migrate.code import PLACEHOLDER, execute_block
from registry.packages.migrate.diff import unified_diff
from registry.packages.migrate.migration import Migration, migrate
from registry.packages.package import Package, PackageFile
from registry.packages.problems import Refusal
from registry.packages.read_package import read_front_matter
from tests.checks import not_none
from tests.examples.running import run
from tests.factories.old_packages import MAIN, METADATA, OLD, documented_packages, old_package
from worker.protocols.call import Request

pytestmark = pytest.mark.row("C14")
HELPERS = {
    "preference-recorder": "const processPreference = (content: string) => ({ content });\n",
    "data-processor": """const validateData = (data: unknown[]) => data.filter((x) => typeof x === 'number');
const cleanData = (data: number[]) => [...new Set(data)];
const analyzeData = (data: number[]) => ({ count: data.length });\n""",
    "user-profile-updater": """const validateUpdates = (updates: Record<string, unknown>) => updates;
const applyUpdates = async (_: string, updates: object) => ({ ...updates, oldValues: { name: 'A' } });\n""",
}
CALLS: dict[str, dict[str, Any]] = {
    "preference-recorder": {"preference": "拿铁", "category": "drink", "importance": 4},
    "data-processor": {"data": [1, 1, "x", 2]},
    "user-profile-updater": {"updates": {"name": "B"}},
}
PRINTED = [*CALLS, "weather-vcp", "weather-abp"]


def text_of(found: Migration, path: str = "SKILL.md") -> str:
    return next(file.data.decode() for file in found.after if file.path == path)


def values_of(found: Migration) -> dict:
    return dict(read_front_matter(found.after).values)


@pytest.mark.row("C8")
@pytest.mark.parametrize("name", PRINTED)
def test_every_package_that_the_document_prints_becomes_a_conforming_one(shared: Path, name: str) -> None:
    before = old_package(documented_packages(shared)[name])
    assert not before.ok
    found = migrate(before)
    assert (found.package.profile, found.package.ok) == ("apexbridge", True)
    assert {one.code for one in found.package.problems} <= {"SECTION_MISSING", "NETWORK_WITHOUT_HOSTS"}
    assert found.package.manifest.resources.entry == "scripts/execute.ts"
    again = migrate(found.package)
    assert (again.has_changes, again.diff(), again.changes) == (False, "", ())


@pytest.mark.row("C8", "C10", "C11")
@pytest.mark.parametrize("name", CALLS)
def test_what_was_migrated_runs_with_the_helpers_that_it_calls(
    shared: Path, name: str, tmp_path: Path
) -> None:
    found = migrate(old_package(documented_packages(shared)[name]))
    tmp_path.chmod(0o755)
    ran = run(_with(found.package, HELPERS[name]), Request(inputs=CALLS[name]), tmp_path)
    assert (ran.outcome.failure_code, ran.outcome.success) == ("", True), ran.ended
    assert len(ran.outcome.memory_writes) == (name != "data-processor")
    assert len(ran.outcome.steps) == {"preference-recorder": 0, "data-processor": 3}.get(name, 2)


@pytest.mark.row("C8")
def test_a_placeholder_says_that_it_is_one(shared: Path, tmp_path: Path) -> None:
    found = migrate(old_package(documented_packages(shared)["weather-vcp"]))
    assert text_of(found, "scripts/execute.ts") == PLACEHOLDER
    tmp_path.chmod(0o755)
    ran = run(found.package, Request(), tmp_path)
    assert ran.outcome.success is False
    assert "placeholder" in ran.outcome.message


def _with(package: Package, helpers: str) -> Package:
    files = []
    for file in package.files:
        more = helpers.encode() if file.path == "scripts/execute.ts" else b""
        files.append(PackageFile(file.path, more + file.data))
    return Package(tuple(files), package.manifest, package.body, package.profile, package.problems)


def test_the_front_matter_keeps_its_order_its_comments_and_what_it_says() -> None:
    found = migrate(old_package())
    text = text_of(found)
    assert text.startswith(OLD[: OLD.index("---\n# Old one")])
    assert list(values_of(found)) == [
        *("name", "description", "version", "type", "capabilities", "tags", "triggers"),
        *("input_schema", "output_schema", "security", "resources"),
    ]
    assert values_of(found)["resources"] == {"entry": "./scripts/execute.ts"}


def test_the_block_becomes_the_entry_and_the_rest_of_the_text_stays() -> None:
    found = migrate(old_package())
    block = not_none(execute_block(OLD))
    assert text_of(found, "scripts/execute.ts") == block.source
    body = OLD[OLD.index("# Old one") :]
    fence = f"```typescript\n{block.source}```\n"
    assert text_of(found).endswith(
        body.replace(fence, "The code is in [scripts/execute.ts](scripts/execute.ts).\n")
    )
    assert {"path": "scripts/execute.ts"} in [change.params for change in found.changes]


def test_migration_overwrites_no_file_of_the_author() -> None:
    files = {"scripts/execute.ts": MAIN, "METADATA.yml": METADATA, "METADATA.yml.legacy": "mine"}
    found = migrate(old_package(**files))
    assert text_of(found, "scripts/execute.ts") == MAIN
    assert text_of(found, "METADATA.yml.legacy") == "mine"
    assert text_of(found, "METADATA.yml.legacy.2").startswith(METADATA)


def test_the_input_schema_is_made_of_the_list_of_parameters() -> None:
    assert values_of(migrate(old_package()))["input_schema"] == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "The city"},
            "days": {"type": "integer", "description": "How many, default 7", "default": 7},
            "unit": {"type": "string", "description": "温度单位"},
        },
        "required": ["city"],
    }


def test_an_abp_tool_gives_both_schemas(shared: Path) -> None:
    values = values_of(migrate(old_package(documented_packages(shared)["weather-abp"])))
    assert values["input_schema"]["required"] == ["location"]
    assert values["input_schema"]["properties"]["unit"]["default"] == "celsius"
    assert values["output_schema"] == {"type": "object", "description": "天气信息"}
    assert values["capabilities"] == ["getWeather"]
    assert values["triggers"]["event_types"] == ["abp.tool_request"]


@pytest.mark.row("C6")
def test_permissions_become_security(shared: Path) -> None:
    values = values_of(migrate(old_package(documented_packages(shared)["weather-vcp"])))
    assert "permissions" not in values
    assert values["security"] == {"timeout_ms": 300_000, "network": "allowlist", "filesystem": "none"}


@pytest.mark.row("C6")
def test_permissions_next_to_security_keep_their_hosts() -> None:
    written = "security: {timeout_ms: 1000}\npermissions: {network: [api.example.com]}\n"
    before = old_package(OLD.replace("type: direct\n", f"type: direct\n{written}"))
    found = migrate(before)
    assert found.has_changes
    assert found.package.manifest.security == before.manifest.security
    assert found.package.manifest.security.network_allowlist == ("api.example.com",)


def test_the_front_matter_wins_and_metadata_fills_what_is_empty() -> None:
    found = migrate(
        old_package(
            OLD.replace("type: direct\n", "type: direct\ntags:\n"),
            **{"METADATA.yml": METADATA + "tags: [t]\n"},
        )
    )
    values = values_of(found)
    assert (values["name"], values["version"]) == ("old-one", "1.0.0")
    assert (values["displayName"], values["tags"], values["custom"]) == ("Old one!", ["t"], "kept")
    assert values["inputSchema"] == {"type": "object", "properties": {"city": {"type": "string"}}}
    assert "input_schema" not in values
    assert values["security"]["network_allowlist"] == ["api.example.com"]
    assert text_of(found, "METADATA.yml.legacy").startswith(METADATA)
    assert "METADATA.yml" not in {file.path for file in found.after}
    assert "rename from METADATA.yml\nrename to METADATA.yml.legacy\n" in found.diff()


def test_metadata_alone_makes_a_front_matter() -> None:
    front = "name: bare\ndescription: Bare.\ntype: service\nversion: 1.10\n"
    found = migrate(old_package("# Bare\r\n\r\nText.\r\n", **{"METADATA.yml": front}))
    assert found.package.ok
    assert found.package.manifest.version == "1.10.0"
    assert text_of(found).startswith("---\r\nname: bare\r\n")
    assert text_of(found).endswith("---\r\n\r\n# Bare\r\n\r\nText.\r\n")


@pytest.mark.row("C2")
def test_metadata_is_read_before_a_migration_too_with_its_own_lines() -> None:
    found = old_package("Text.\n", **{"METADATA.yml": "name: bare\ntype: direct\nversion: soon\n"})
    assert (found.manifest.name, found.profile) == ("bare", "apexbridge")
    assert ("VERSION_INVALID", "METADATA.yml", 3) in [(p.code, p.path, p.line) for p in found.problems]
    assert any(p.code == "METADATA_USED" for p in found.problems)
    broken = old_package("---\nname: a\ndescription: b\n---\n", **{"METADATA.yml": "a: [\n"})
    assert broken.ok
    assert [(p.code, p.severity, p.path) for p in broken.problems] == [
        ("FRONT_MATTER_INVALID", "warning", "METADATA.yml")
    ]
    with pytest.raises(Refusal) as refused:
        migrate(broken)
    assert refused.value.problems[0].path == "METADATA.yml"


ENTRIES = {
    ("scripts/execute.ts", "scripts/main.ts", "scripts/index.ts"): "scripts/execute.ts",
    ("scripts/main.ts", "scripts/index.ts"): "scripts/main.ts",
    ("scripts/index.ts", "scripts/other.ts"): "scripts/index.ts",
    ("scripts/own.ts",): "scripts/own.ts",
}


@pytest.mark.row("C7")
@pytest.mark.parametrize("paths", ENTRIES)
def test_the_entry_is_the_first_of_the_usual_names(paths: tuple[str, ...]) -> None:
    text = OLD[: OLD.index("## Code")]
    found = migrate(old_package(text, **dict.fromkeys(paths, MAIN)))
    assert found.package.manifest.resources.entry == ENTRIES[paths]
    assert {file.path for file in found.after} == {"SKILL.md", *paths}


@pytest.mark.row("C7")
def test_an_entry_that_leads_out_is_refused() -> None:
    text = OLD.replace("type: direct\n", "type: direct\nresources: {entry: ../evil.ts}\n")
    with pytest.raises(Refusal) as refused:
        migrate(old_package(text, **{"scripts/main.ts": MAIN}))
    (found,) = refused.value.problems
    assert (found.code, found.path, found.line) == ("ENTRY_UNSAFE", "SKILL.md", 7)


def test_resources_get_their_entry_where_they_stand() -> None:
    text = OLD.replace("type: direct\n", "resources:\n  references: [./references/a.md]\ntype: direct\n")
    found = migrate(old_package(text, **{"references/a.md": "a"}))
    assert values_of(found)["resources"] == {
        "entry": "./scripts/execute.ts",
        "references": ["./references/a.md"],
    }
    assert list(values_of(found)).index("resources") == 3


ODD_FRONTS = {
    "flow": "{name: a, description: 'b: c', version: '1.0', type: direct}\n",
    "unquoted": "name: a\ndescription: use when: asked\ntype: direct\nversion: 1.0\n",
    "long": "name: a\ntype: direct\ndescription: >\n  one\n\n  two\nversion: 1.0.0\n# the end\n",
}


@pytest.mark.parametrize("kind", ODD_FRONTS)
def test_odd_front_matter_says_the_same_afterwards(kind: str) -> None:
    before = old_package(f"---\n{ODD_FRONTS[kind]}---\n{OLD[OLD.index('# Old') :]}")
    found = migrate(before)
    assert found.package.ok
    for name in ("name", "description", "version_as_written", "type"):
        said = getattr(before.manifest, name) or "1.0.0"
        assert getattr(found.package.manifest, name) == said


SAME = {
    "prompt": "---\nname: a\ndescription: b\n---\nA prompt.\n",
    "prompt with typescript": "---\nname: a\ndescription: b\n---\n```ts\nconst a = 1;\n```\n",
}


@pytest.mark.parametrize("kind", SAME)
def test_what_is_no_old_package_stays_as_it_is(kind: str) -> None:
    before = old_package(SAME[kind], **{"scripts/execute.py": "print(1)\n", "scripts/main.ts": "main();\n"})
    found = migrate(before)
    assert (found.has_changes, found.package) == (False, before)


def test_what_migration_cannot_mend_is_left_to_the_author() -> None:
    found = migrate(old_package(OLD, **{"tool.py": "print(1)\n"}))
    assert not found.package.ok
    assert [one.code for one in found.package.problems if one.severity == "error"] == ["CODE_OUTSIDE_SCRIPTS"]


def test_field_with_a_misspelled_name_is_not_set_to_another_value() -> None:
    found = migrate(old_package(OLD.replace("version: 1.0.0", "versoin: 2.3.0")))
    assert "version" not in values_of(found)
    assert not found.package.ok  # the author must rename the field first


def test_a_block_that_only_declares_execute_is_exported() -> None:
    found = migrate(old_package(OLD.replace("export async", "async")))
    assert text_of(found, "scripts/execute.ts").endswith("}\n\nexport { execute };\n")


def test_a_static_skill_gets_no_placeholder() -> None:
    found = migrate(old_package("---\nname: a\ndescription: b\ntype: static\n---\nRead.\n"))
    assert found.package.ok
    assert [file.path for file in found.after] == ["SKILL.md"]


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from("tags triggers resources security abp permissions keywords input_schema".split()),
        st.recursive(
            st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=6)),
            lambda inner: st.one_of(
                st.lists(inner, max_size=3),
                st.dictionaries(st.sampled_from(["entry", "tools", "network", "a: b"]), inner, max_size=3),
            ),
            max_leaves=6,
        ),
    ),
    st.text(max_size=30),
)
def test_whatever_an_old_package_says_it_is_migrated_or_refused(fields: dict, body: str) -> None:
    front = "".join(f"{name}: {json.dumps(value)}\n" for name, value in fields.items())
    text = f"---\nname: a\ntype: direct\n{front}---\n{body}"
    with contextlib.suppress(Refusal):
        found = migrate(old_package(text))
        assert found.diff() or not found.has_changes
        if found.package.ok:
            assert not migrate(found.package).has_changes


@pytest.mark.parametrize("lines", [100, 5_000])
def test_a_diff_is_one_that_can_be_applied(lines: int) -> None:
    old = "".join(f"{n % 90}\n" for n in range(lines))
    new = "first\n" + "".join(f"{n % 91}\n" for n in range(lines)) + "last"
    diff = unified_diff((PackageFile("a", old.encode()),), (PackageFile("a", new.encode()),))
    assert _applied(old, diff) == new


def _applied(old: str, diff: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a").write_text(old)
        subprocess.run(["patch", "-s", "-p1"], cwd=folder, input=diff, text=True, check=True)
        return Path(folder, "a").read_text()
