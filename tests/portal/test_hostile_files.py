"""Files that a run leaves to harm whoever looks at them: as a page, by their names, unfolded, in numbers."""

from __future__ import annotations

import io
import struct
from urllib.parse import quote

import pytest

from portal.pages.runs.presenters import artifacts
from portal.presenters.content.images import is_drawable
from tests.factories.runs import add_artifact, make_run
from tests.factories.skills import publish_files

pytestmark = [pytest.mark.django_db, pytest.mark.row("P5", "P2")]
HOSTILE = {
    "page.html": b"<script>alert(1)</script>",
    "drawn.svg": b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
    "both.gif": b"GIF89a/*\x01\0<script>alert(1)</script>*/=1;alert(1)",
    "table.xml": b'<!DOCTYPE x [<!ENTITY a "aa">]><x>&a;</x>',
    "code.js": b"alert(1)",
    "book.pdf": b"%PDF-1.7\n",
    "nothing": b"",
}


@pytest.fixture
def run(public, bob, team):
    return make_run(public.latest, bob, team)


@pytest.mark.parametrize("path", sorted(HOSTILE))
@pytest.mark.parametrize("asked", ["", "?raw=1&disposition=inline&content-type=text/html&format=html"])
def test_no_browser_opens_a_file_of_a_run_as_what_it_is(browse, bob, run, path, asked):
    add_artifact(run, path, HOSTILE[path])
    for address in (f"/runs/{run.uid}/artifacts/{path}", f"/api/v1/runs/{run.uid}/artifacts/{path}"):
        answer = browse(bob).get(address + asked, headers={"Accept": "text/html"})
        if asked and address.startswith("/api/"):  # which refuses unknown query parameters
            assert answer.status_code == 400
            continue
        assert answer.status_code == 200
        assert answer["Content-Type"] == "application/octet-stream"
        assert answer["Content-Disposition"] == f'attachment; filename="{path}"'
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert answer["Cross-Origin-Resource-Policy"] == "same-origin"
        assert answer["Cache-Control"].startswith("private")
        assert answer.getvalue() == HOSTILE[path]


@pytest.mark.parametrize("path", sorted(set(HOSTILE) - {"both.gif"}))
def test_what_is_no_picture_is_none_by_its_address_either(browse, bob, run, path):
    add_artifact(run, path, HOSTILE[path])
    assert browse(bob).get(f"/runs/{run.uid}/images/{path}").status_code == 404


def test_what_is_a_picture_and_a_script_is_a_picture_and_nothing_else(browse, bob, run):
    add_artifact(run, "both.gif", HOSTILE["both.gif"])
    answer = browse(bob).get(f"/runs/{run.uid}/images/both.gif")
    assert answer.getvalue() == HOSTILE["both.gif"]
    assert answer["Content-Type"] == "image/gif"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"


@pytest.mark.parametrize(
    ("name", "saved"),
    [
        ("cafe\u202egpj.exe", 'filename="cafe_gpj.exe"'),
        ("a\u200b\u2066b\ufeff.txt", 'filename="a__b_.txt"'),
        ("..\\..\\start.bat", 'filename=".._.._start.bat"'),
        ("..foo/..hidden", 'filename="..hidden"'),
        ('quote"; filename=evil.exe', 'filename="quote\\"; filename=evil.exe"'),
        ("percent%2e%2e%2fx.txt", 'filename="percent%2e%2e%2fx.txt"'),
        ("报告.txt", "filename*=utf-8''%E6%8A%A5%E5%91%8A.txt"),
    ],
)
def test_a_name_says_where_it_ends_and_leads_nowhere(browse, bob, run, name, saved):
    add_artifact(run, name, b"x")
    for address in (f"/runs/{run.uid}/artifacts/", f"/api/v1/runs/{run.uid}/artifacts/"):
        answer = browse(bob).get(address + quote(name))
        assert answer.getvalue() == b"x"
        assert answer["Content-Disposition"] == f"attachment; {saved}"


@pytest.mark.parametrize(
    "path", ["../page.html", "./page.html", "page.html/", "a/../page.html", "%2e%2e/page.html", "PAGE.HTML"]
)
def test_only_its_very_path_leads_to_a_file(browse, bob, run, path):
    add_artifact(run, "page.html", b"x")
    for address in (f"/runs/{run.uid}/artifacts/", f"/api/v1/runs/{run.uid}/artifacts/"):
        assert browse(bob).get(address + path.replace("%", "%25")).status_code == 404


def png(width, height):
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x02\0\0\0"


def gif(width, height, *frame):
    """With a table of colours, a comment, and a frame of its own size."""
    first = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes(6)
    return first + b"\x21\xfe\x03abc\x00" + b"\x2c" + struct.pack("<HHHHB", 0, 0, *frame, 0)


def jpeg(width, height):
    """Behind 70 kB of what a camera says, and a table whose marker is like a frame's."""
    camera = b"\xff\xe1" + struct.pack(">H", 35_002) + bytes(35_000)
    table = b"\xff\xc4" + struct.pack(">H", 4) + b"\xff\xff"
    return b"\xff\xd8" + camera * 2 + table + b"\xff\xc2" + struct.pack(">HBHH", 11, 8, height, width)


def webp(kind, data):
    return b"RIFF\0\0\0\0WEBP" + kind + struct.pack("<I", len(data)) + data


def extended(width, height):
    return webp(b"VP8X", bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"))


def lossless(width, height):
    return webp(b"VP8L", b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little"))


def lossy(width, height):
    return webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height))


PICTURES = {
    "png": (png(5000, 8000), png(5000, 8001)),
    "gif": (gif(5000, 8000, 1, 1), gif(5000, 8001, 1, 1)),
    "frame.gif": (gif(1, 1, 5000, 8000), gif(1, 1, 65535, 65535)),
    "jpg": (jpeg(5000, 8000), jpeg(8001, 5000)),
    "extended.webp": (extended(5000, 8000), extended(2**24, 2**24)),
    "lossless.webp": (lossless(5000, 8000), lossless(16384, 16384)),
    "lossy.webp": (lossy(5000, 8000), lossy(16383, 16383)),
}


@pytest.mark.parametrize("kind", sorted(PICTURES))
def test_a_picture_that_unfolds_to_gigabytes_is_drawn_by_no_page(browse, bob, run, kind):
    small, bomb = PICTURES[kind]
    add_artifact(run, f"small.{kind}", small)
    add_artifact(run, f"bomb.{kind}", bomb)
    drawn = browse(bob).get(f"/runs/{run.uid}/images/small.{kind}")
    assert drawn.getvalue() == small
    assert browse(bob).get(f"/runs/{run.uid}/images/bomb.{kind}").status_code == 404
    assert browse(bob).get(f"/runs/{run.uid}/artifacts/bomb.{kind}").getvalue() == bomb


@pytest.mark.parametrize("kind", sorted(PICTURES))
def test_a_picture_that_is_cut_off_anywhere_is_no_error(kind):
    whole = PICTURES[kind][1]
    for length in [*range(3, 48), len(whole) - 1]:
        assert is_drawable(io.BytesIO(whole[:length])) in (True, False)


@pytest.mark.parametrize("data", [b"\xff\xd8" + b"\0" * 60_000, b"\xff\xd8" + b"\xff\xe1\0\x02" * 20_000])
def test_a_picture_without_an_end_of_its_headers_is_given_up(data):
    assert is_drawable(io.BytesIO(data))


@pytest.mark.row("P1")
def test_a_picture_of_a_package_is_held_to_the_same(browse, bob, team, alice):
    head = b"---\nname: drawn\ndescription: Shows pictures.\nversion: 1.0.0\n---\n# Drawn\n"
    files = {"SKILL.md": head, "assets/a.png": png(10, 10), "assets/b.png": png(65535, 65535)}
    publish_files(files, team=team, user=alice)
    kinds = [
        browse(bob).get(f"/skills/{team.slug}/drawn/1.0.0/raw/assets/{name}.png")["Content-Type"]
        for name in "ab"
    ]
    assert kinds == ["image/png", "application/octet-stream"]


def test_what_a_page_draws_of_files_is_bounded_together(run, monkeypatch):
    monkeypatch.setattr(artifacts, "_MAX_TOTAL_BYTES", 10)
    for name, size in (("a.md", 6), ("b.md", 6), ("c.txt", 4), ("d.txt", 1)):
        add_artifact(run, name, b"x" * size)
    left = artifacts.artifact_rows(run.artifacts.order_by("path"))
    assert [one.content is not None for one in left] == [True, False, True, False]
