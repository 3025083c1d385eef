"""Name, slug and description of a manifest."""

from __future__ import annotations

import pytest

from tests.registry.packages.manifests import read

pytestmark = pytest.mark.row("C2")


NAMES = {
    ("name: PDF Miner", ""): ("PDF Miner", "pdf-miner"),
    ("name: Crème Brûlée", ""): ("Crème Brûlée", "creme-brulee"),
    ("name: 天气查询", "weather.zip"): ("天气查询", "weather"),
    ("name: 天气查询", "weather (1).tar.gz"): ("天气查询", "weather"),
    ("name: a__b--c", ""): ("a__b--c", "a-b-c"),
    ("description: y", "my-skill.md"): ("my-skill", "my-skill"),
    ("name: " + "a" * 80, ""): ("a" * 80, "a" * 64),
    ("name: 5", ""): ("5", "5"),
}


@pytest.mark.row("C2", "E1")
@pytest.mark.parametrize("case", NAMES)
def test_the_slug_is_ascii_and_apart_from_the_name(case: tuple[str, str]) -> None:
    found = read(case[0], filename=case[1]).manifest
    assert (found.name, found.slug) == NAMES[case]


@pytest.mark.row("C2")
def test_a_wholly_chinese_name_has_a_slug_that_never_changes_and_is_its_own() -> None:
    slugs = [read(f"name: {name}\ndescription: {text}").manifest.slug for name, text in CHINESE]
    assert slugs[0] == slugs[1] == "skill-144cd52b"
    assert len(set(slugs)) == 3
    assert slugs[2].startswith("pdf-")


CHINESE = (("天气查询", "a"), ("天气查询", "b"), ("PDF 处理", "a"), ("PDF 合并", "a"))


@pytest.mark.row("D1")
def test_neither_description_nor_text_is_an_error() -> None:
    package = read("name: x", "# Only a title\n")
    assert [one.code for one in package.problems] == ["DESCRIPTION_MISSING"]
    assert not package.ok


@pytest.mark.parametrize("field", ["name", "displayName"])
def test_names_longer_than_can_be_kept_are_errors(field: str) -> None:
    front = {"name": "x", "description": "y", field: "长" * 201}
    package = read("\n".join(f"{name}: {value}" for name, value in front.items()))
    assert [one.code for one in package.problems if one.severity == "error"] == ["NAME_TOO_LONG"]


def test_neither_name_nor_place_is_an_error() -> None:
    assert [one.code for one in read("description: x", filename="SKILL.md").problems] == ["NAME_MISSING"]
