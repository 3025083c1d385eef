"""Whatever bytes come in: a package, or Refused with known codes; never another exception, never a crash."""

# ruff: noqa: E501, SIM905
from __future__ import annotations

import contextlib
import json
import os
import random
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.packages.archive.repack import read_repacked, repack
from registry.packages.limits import Limits
from registry.packages.manifest.manifest import manifest_document, manifest_of
from registry.packages.package import Package
from registry.packages.problems import CODES, Refusal
from registry.packages.read_package import read_files, read_upload
from registry.packages.schemas.validate import check_schema, validate, with_defaults
from tests.factories.archives import SKILL, End, Item, make_zip, tar_gz, with_data_descriptor

pytestmark = [pytest.mark.row("P3"), pytest.mark.row("C2")]
LIMITS = Limits(archive=1 << 20, unpacked=1 << 20, file=1 << 19)
TIMES = int(os.environ.get("FUZZ_TIMES", "1"))  # a long look: FUZZ_TIMES=50


def examples(count: int) -> settings:
    """The same ones in every run, unless many are asked for."""
    return settings(max_examples=count * TIMES, derandomize=TIMES == 1, deadline=None)


QUICK = examples(120)
SEEDS = (
    make_zip(Item("SKILL.md", SKILL), with_data_descriptor(Item("a.txt", b"a" * 200, method=8))),
    make_zip(
        Item("x/SKILL.md", SKILL, method=8), Item("x/b/", mode=0o40755), end=End(zip64=True, comment=b"c")
    ),
)
TAR = zlib.decompress(tar_gz(("SKILL.md", SKILL), ("长" * 60, b"x")), 31)


def read(data: bytes, **more: Any) -> Package | None:
    try:
        package = read_upload(data, limits=LIMITS, **more)
    except Refusal as refused:
        documents = [problem.document() for problem in refused.problems]
    else:
        return checked(package)
    assert documents
    assert all(document["code"] in CODES for document in documents)
    json.dumps(documents).encode()
    return None


def checked(package: Package) -> Package:
    json.dumps([problem.document() for problem in package.problems]).encode()
    stored = json.dumps(manifest_document(package.manifest), allow_nan=False)
    assert "\\u0000" not in stored.replace("\\\\", "")
    stored.encode()
    assert manifest_of(json.loads(stored)) == package.manifest
    assert {file.path: file for file in read_repacked(repack(package.files))} == {
        f.path: f for f in package.files
    }
    return package


def test_archives_with_bytes_changed_are_read_or_refused() -> None:
    chance = random.Random(20_261_121)
    for seed in (*SEEDS, TAR):
        for _ in range(400):
            data = bytearray(seed)
            for _ in range(chance.randint(1, 4)):
                data[chance.randrange(len(data))] = chance.choice((0, 1, 0xFF, 0x80, chance.randrange(256)))
            if seed is TAR:
                data = bytearray(zlib.compress(bytes(data), 1, 31))
            read(bytes(data))


def test_archives_with_parts_moved_are_read_or_refused() -> None:
    chance = random.Random(7)
    for seed in SEEDS:
        for _ in range(300):
            a, b, c = sorted(chance.randrange(len(seed)) for _ in range(3))
            read(seed[:a] + seed[b:c] + seed[a:b] + seed[c:])
            read(seed[:a] + seed[b:])
            read(seed[:b] + seed[a:])


@QUICK
@given(st.binary(max_size=300), st.sampled_from((b"", b"PK\3\4", b"\x1f\x8b\x08", b"---\n")))
def test_any_bytes_are_read_or_refused(data: bytes, start: bytes) -> None:
    read(start + data)


@QUICK
@given(st.text(max_size=40), st.binary(max_size=20))
def test_any_path_is_read_or_refused(path: str, data: bytes) -> None:
    with contextlib.suppress(Refusal):
        checked(read_files([("SKILL.md", SKILL), (path, data)], limits=LIMITS))


YAML = st.lists(
    st.one_of(
        st.sampled_from(
            "name: description: version: triggers: security: resources: input_schema: abp: tools: tags: hooks: - a: "
            "b: | > ' \" [ ] { } , & * ! # % @ ` ? : :: ~ --- ... <<: \\ \\u0000 \\ud800 1.10 true null 2024-01-01 "
            "network: entry: permissions: metadata: type: direct protocol: abp &a *a !!str 0x1F 1e999 -1 .inf".split()
        ),
        st.sampled_from(["\n", "\n  ", "\n    ", " ", "\t", "\r\n", "\x85", "\u2028"]),
        st.text(max_size=4),
    ),
    max_size=40,
).map("".join)


@examples(400)
@given(YAML)
def test_any_front_matter_is_read_or_refused(header: str) -> None:
    read(f"---\n{header}\n---\nbody".encode("utf-8", "surrogatepass"), filename="x.md")


JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=5),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)
KEYWORDS = st.sampled_from(
    "type properties items $ref $defs allOf anyOf oneOf not if then else enum const required default pattern format "
    "minimum maxLength additionalProperties patternProperties dependentSchemas contains prefixItems $id $anchor "
    "$schema $dynamicRef unevaluatedProperties propertyNames uniqueItems multipleOf".split()
)
REFERENCES = st.sampled_from(
    ["#", "#/$defs/a", "#a", "#/properties", "object", "string", "(", "^(a+)+$", "date-time"]
)
SCHEMAS = st.recursive(
    st.one_of(st.booleans(), REFERENCES, st.integers(-2, 2), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.dictionaries(st.one_of(KEYWORDS, st.sampled_from(["a", "b"])), inner, max_size=5),
        st.lists(inner, max_size=3),
    ),
    max_leaves=20,
)


@examples(300)
@given(SCHEMAS, JSON)
def test_any_schema_and_value_give_problems_at_most(schema: object, value: object) -> None:
    for problem in check_schema(schema):
        assert problem.document()
    if isinstance(schema, dict):
        for problem in validate(schema, value):
            assert problem.document()
        if isinstance(value, dict):
            with_defaults(schema, value)


@examples(150)
@given(
    st.dictionaries(
        st.sampled_from("tags type abp security resources triggers metadata input_schema paths".split()), JSON
    )
)
def test_fields_of_any_kind_are_read(fields: dict) -> None:
    front = "\n".join(f"{name}: {json.dumps(value)}" for name, value in fields.items())
    read(f"---\nname: x\ndescription: y\n{front}\n---\n".encode("utf-8", "surrogatepass"))
    read(
        f"---\nname: x\ndescription: y\n{front}\n---\n".encode("utf-8", "surrogatepass"), profile="apexbridge"
    )
