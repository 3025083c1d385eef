"""Whatever an archive says it holds, reading it takes bounded memory: measured in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from registry.packages.problems import CODES
from tests.conftest import ROOT
from tests.factories.archives import SKILL, End, Item, make_zip, with_data_descriptor, zip_of
from tests.registry.packages.test_refuse_archives import TARS, ZIPS, quoted_overlap

pytestmark = [pytest.mark.row("P3"), pytest.mark.row("C1")]
MOST = 160  # megabytes above what the process takes by itself; 50 of them may be the package
BOMB = 150 << 20  # bytes that a few kilobytes unpack to
READ = """
import json, pathlib, resource, sys
from registry.packages.problems import Refusal
from registry.packages.read_package import read_path
from registry.packages.schemas.validate import check_schema, validate
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
base, rows = peak(), []
for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    try:
        found = read_path(path)
        codes = [one.code for one in found.problems if one.severity == "error"]
    except Refusal as refused:
        codes = [one.code for one in refused.problems]
    rows.append([path.name, codes[:3], peak() - base])
print(json.dumps(rows))
"""


def zeros(size: int, window: int) -> bytes:
    stream = zlib.compressobj(1, zlib.DEFLATED, window)
    piece = bytes(1 << 20)
    return b"".join(stream.compress(piece) for _ in range(size >> 20)) + stream.flush()


def front(text: str) -> bytes:
    return zip_of({"SKILL.md": f"---\nname: a\ndescription: b\n{text}\n---\n# A\n"})


def bombs() -> dict[str, bytes]:
    packed, tar = zeros(BOMB, -15), zeros(BOMB, 31)
    aliases = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]" for n in range(12))
    honest = Item("a.bin", b"", 8, packed=packed, size=BOMB, crc=0)
    small = Item("a.bin", b"", 8, packed=packed, size=1000, crc=0)
    nine = zeros(9 << 20, -15)
    files = (Item(f"{n}.bin", b"", 8, packed=nine, size=9 << 20, crc=0) for n in range(40))
    return {
        "bomb that says so.zip": make_zip(Item("SKILL.md", SKILL), honest),
        "bomb that says it is small.zip": make_zip(Item("SKILL.md", SKILL), small),
        "streamed bomb.zip": make_zip(Item("SKILL.md", SKILL), with_data_descriptor(small)),
        "bomb in forty files.zip": make_zip(Item("SKILL.md", SKILL), *files),
        "bomb.tar.gz": tar,
        "bomb of bombs.tar.gz": zlib.compress(tar, 1, 31),
        "overlapping.zip": quoted_overlap(),
        "a directory of lies.zip": make_zip(
            Item("SKILL.md", SKILL), end=End(zip64=True, zip64_count=1 << 40)
        ),
        "aliases.zip": front(aliases),
        "brackets.zip": front("x: " + "[" * 60_000),
        "braces.zip": front("x: " + "{a: " * 15_000),
        "many values.zip": front("x: [" + "1, " * 20_000 + "]"),
        "many fields.zip": front("\n".join(f"f{n}: 1" for n in range(6_000))),
        "a schema of choices.zip": front(
            "type: direct\ninput_schema: {type: object, allOf: [" + "{anyOf: [{}, {}]}, " * 1_500 + "]}"
        ),
        "headings.md": b"---\nname: a\ndescription: b\ntype: direct\n---\n" + b"# \n" * 70_000,
        "fences.md": b"---\nname: a\ndescription: b\ntype: direct\n---\n" + b"```ts\n" * 40_000,
    }


@pytest.mark.full
def test_no_archive_takes_more_memory_than_a_package_may(tmp_path: Path) -> None:
    made = {f"zip {name}": data for name, (data, _) in ZIPS.items()}
    made |= {f"tar {name}": data for name, (data, _) in TARS.items()}
    made |= bombs()
    assert len(made) >= 120
    for name, data in made.items():
        (tmp_path / name.replace("/", " ")).write_bytes(data)
    ended = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    rows = json.loads(ended.stdout)
    assert len(rows) == len(made)
    assert all(code in CODES for _, codes, _ in rows for code in codes)
    assert max(peak for _, _, peak in rows) < MOST, rows
    fine = {"zip large file", "headings.md", "fences.md"}
    refused = {name for name, codes, _ in rows if codes}
    assert {name for name in bombs() if name.endswith(("zip", "gz"))} - refused <= {"many fields.zip"} | fine
