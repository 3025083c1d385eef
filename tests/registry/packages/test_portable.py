"""What is exported in the open format passes its reference validator and reads back as the same skill."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest
import skills_ref
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.packages.archive.repack import repack
from registry.packages.authoring.metadata_fields import PREFIX, as_text, restore_fields
from registry.packages.authoring.new_skill import LANGUAGES, TEMPLATES, NewSkill, create_files
from registry.packages.authoring.portable import make_portable
from registry.packages.limits import Limits
from registry.packages.manifest.yaml_reader import YamlReader
from registry.packages.manifest.yaml_writer import scalar
from registry.packages.read_package import read_files, read_folder, read_upload
from tests.examples.tries import EXAMPLES, slugs

pytestmark = pytest.mark.row("C2", "D1", "E4", "P7")
STARTED = [f"{kind.name} {language}" for kind in TEMPLATES for language in LANGUAGES]
ODD = """---
name: Odd Skill 一
displayName: "x --- y"
licence: MIT
description: "{long}"
version: "1.0"
type: direct
allowedTools: ["Read file", "Bash(git add:*, git commit:*)"]
compatibility: "{long}"
tags: [a, "true", "1"]
ttl: 5
unknown: {{deep: ["'", "a: b", null, 1.5]}}
metadata:
  author: Ann
  count: 3
  more: [x]
---

body --- as it is\r
"""


@cache
def _package(name):
    if name in slugs():
        return read_folder(EXAMPLES / name)
    kind, language = name.split()
    return read_files(
        [(f.path, f.data) for f in create_files(NewSkill(kind, "my-skill", "标题: 一", language=language))]
    )


def _text(files):
    return {file.path: file.data for file in make_portable(files.files, files.manifest)}


def _valid(package, at):
    for path, data in _text(package).items():
        target = at / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return skills_ref.validate(at / package.manifest.slug)


def _alike(manifest):
    """The manifest without the number that the open format keeps below metadata."""
    metadata = {key: value for key, value in manifest.metadata.items() if key != "version"}
    return replace(manifest, metadata=metadata)


@pytest.mark.parametrize("name", [*slugs(), *STARTED])
def test_the_reference_validator_has_nothing_to_say(name, tmp_path):
    assert _valid(_package(name), tmp_path) == []


@pytest.mark.parametrize("name", [*slugs(), *STARTED])
def test_what_is_exported_reads_back_as_the_same_skill(name):
    package = _package(name)
    archive = repack(make_portable(package.files, package.manifest))
    again = read_upload(archive)
    assert _alike(again.manifest) == _alike(package.manifest)
    assert (again.profile, again.body, again.ok) == (package.profile, package.body, True)
    assert again.paths == package.paths
    assert repack(make_portable(again.files, again.manifest)) == archive


def test_odd_names_long_texts_and_values_that_are_no_texts_come_through(tmp_path):
    text = ODD.format(long="very " * 300)
    package = read_files([("odd-one/SKILL.md", text.encode()), ("odd-one/scripts/execute.py", b"")])
    assert _valid(package, tmp_path) == []
    again = read_upload(repack(make_portable(package.files, package.manifest)))
    assert _alike(again.manifest) == _alike(package.manifest)
    assert again.manifest.metadata == {"author": "Ann", "count": 3, "more": ["x"], "version": "1.0"}
    assert again.manifest.extra == {"unknown": {"deep": ["'", "a: b", None, 1.5]}}
    assert again.manifest.allowed_tools == ("Read file", "Bash(git add:*, git commit:*)")
    assert again.body == "\nbody --- as it is\r\n"


def test_a_skill_without_front_matter_gets_some(tmp_path):
    package = read_files([("plain-note/SKILL.md", b"# Title\n\nSays something.\n")])
    assert _valid(package, tmp_path) == []
    found = skills_ref.read_properties(tmp_path / "plain-note")
    assert (found.name, found.description) == ("plain-note", "Says something.")


def test_other_readers_find_the_version_and_the_tools_as_plain_texts(tmp_path):
    package = _package("data-scripts")
    assert _valid(package, tmp_path) == []
    found = skills_ref.read_properties(tmp_path / "data-scripts")
    assert found.metadata["version"] == package.manifest.version
    assert all(isinstance(value, str) for value in found.metadata.values())


def test_a_carried_field_never_takes_the_place_of_one_that_is_said():
    values = {"type": "direct", "metadata": {f"{PREFIX}type": "static", f"{PREFIX}tags": '["a"]'}}
    lines = {("metadata",): 2, ("metadata", f"{PREFIX}type"): 3, ("metadata", f"{PREFIX}tags"): 4}
    found, places = restore_fields(values, lines, Limits())
    assert found == {"type": "direct", "tags": ["a"]}
    assert places[("tags",)] == 4


@pytest.mark.parametrize(
    "text", ["[" * 5000, '{"a": 1, "a": 2}', '"\\ud800"', "1e999", "[&a 1, *a]", "-" * 300, '{"a"']
)
def test_a_carried_text_that_is_no_good_json_does_no_harm(text):
    values = {"metadata": {f"{PREFIX}tags": text}}
    found, _ = restore_fields(values, {("metadata", f"{PREFIX}tags"): 1}, Limits())
    json.dumps(found, allow_nan=False).encode()


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.text(st.characters(codec="utf-8", exclude_characters="\0")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8", exclude_characters="\0")), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(_VALUES)
def test_any_value_is_carried_through_text_and_yaml(value):
    written = f"metadata:\n  {PREFIX}x: {scalar(as_text(value))}\n"
    reader = YamlReader(Limits())
    values = reader.read(written)
    assert "---" not in written
    assert restore_fields(values, reader.lines, Limits())[0] == {"x": value}
