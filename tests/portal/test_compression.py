"""Responses are compressed if that is worth it and safe; static files have hashed names."""

from __future__ import annotations

import asyncio
import gzip
import io
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import brotli
import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.test import Client, RequestFactory

from portal.delivery import static_files
from portal.delivery.compression import CompressionMiddleware
from portal.streaming.waiting import WaitMiddleware
from portal.templatetags import skillquay_fragments
from portal.templatetags.skillquay_fragments import MAX_BYTES

pytestmark = [pytest.mark.django_db, pytest.mark.row("P9")]
TEXT = b"some text that repeats itself; " * 40


def compressed(response, accepted="gzip"):
    request = RequestFactory().get("/", headers={"accept-encoding": accepted})
    return CompressionMiddleware(lambda _: response)(request)


@pytest.mark.parametrize(
    ("accepted", "coding", "decode"),
    [("gzip, deflate, br", "br", brotli.decompress), ("gzip, deflate", "gzip", gzip.decompress)],
)
@pytest.mark.parametrize("path", ["/skills/", "/nowhere/", "/api/v1/skills", "/api/schema/"])
def test_pages_and_documents_are_compressed(browse, public, path, accepted, coding, decode):
    plain = browse().get(path)
    answer = browse().get(path, headers={"accept-encoding": accepted})
    assert answer.status_code == plain.status_code
    assert answer["Content-Encoding"] == coding
    assert "Accept-Encoding" in answer["Vary"]
    assert int(answer["Content-Length"]) == len(answer.content) < len(plain.content)
    assert len(decode(answer.content)) == len(plain.content)


def test_a_client_without_compression_gets_plain_text_that_caches_tell_apart(browse, public):
    answer = browse().get("/skills/")
    assert "Content-Encoding" not in answer
    assert "Accept-Encoding" in answer["Vary"]


@pytest.mark.parametrize(
    "response",
    [
        HttpResponse(TEXT[:499]),
        HttpResponse(TEXT, content_type="text/event-stream; charset=utf-8"),
        HttpResponse(TEXT, content_type="application/octet-stream"),
        HttpResponse(TEXT, content_type="application/zip"),
        HttpResponse(TEXT, headers={"Content-Disposition": "attachment; filename=a.txt"}),
        HttpResponse(TEXT, status=206, headers={"Content-Range": "bytes 0-1239/5000"}),
        StreamingHttpResponse([TEXT]),
        FileResponse(io.BytesIO(TEXT), content_type="application/json"),
    ],
    ids=["short", "events", "bytes", "archive", "download", "range", "stream", "file"],
)
def test_what_is_short_streamed_or_downloaded_stays_as_it_is(response):
    assert "Content-Encoding" not in compressed(response)


def test_an_encoded_response_is_not_encoded_again():
    answer = compressed(HttpResponse(TEXT, headers={"Content-Encoding": "br"}))
    assert (answer["Content-Encoding"], answer.content) == ("br", TEXT)


def test_a_head_has_the_headers_of_the_get(browse, public):
    for accepted in ("gzip", "identity"):
        get, head = (
            method("/api/v1/skills", headers={"accept-encoding": accepted})
            for method in (browse().get, browse().head)
        )
        assert head.content == b""
        for header in ("Content-Encoding", "ETag", "Vary"):
            assert head.get(header) == get.get(header)


@pytest.mark.parametrize("accepted", ["gzip", "br", "identity"])
def test_the_etag_of_each_encoding_matches_in_every_encoding(browse, public, accepted):
    path = f"/api/v1/skills/{public.team.slug}/{public.slug}"
    tag = browse().get(path, headers={"accept-encoding": accepted})["ETag"]
    assert tag.startswith('"')
    assert tag.endswith(f'-{accepted}"') == (accepted != "identity")
    for other in ("gzip", "br", "identity"):
        for sent in (tag, f"W/{tag}", f'"a", {tag}'):
            answer = browse().get(path, headers={"accept-encoding": other, "if-none-match": sent})
            assert (answer.status_code, answer.content, answer["ETag"]) == (304, b"", tag)
            assert {"Accept-Encoding", "Authorization", "Cookie"} <= set(answer["Vary"].split(", "))
    assert browse().get(path, headers={"if-none-match": "*"}).status_code == 304
    assert browse().get(path, headers={"if-none-match": '"another-gzip"'}).status_code == 200


@pytest.mark.parametrize("accepted", ["gzip", "identity"])
def test_the_etag_of_a_compressed_response_guards_a_change(browse, alice, public, accepted):
    path, browser = f"/api/v1/skills/{public.team.slug}/{public.slug}", browse(alice)
    tag = browser.get(path, headers={"accept-encoding": accepted})["ETag"]
    changes = [
        browser.patch(
            path,
            {"visibility": "site"},
            content_type="application/json",
            headers={"if-match": sent},
        )
        for sent in ('"another"', f"W/{tag}", tag, tag)
    ]
    assert [answer.status_code for answer in changes] == [412, 412, 200, 412]


def test_equal_pages_differ_in_length_so_that_it_tells_nothing(browse, public):
    answers = [browse().get("/skills/", headers={"accept-encoding": "gzip"}) for _ in range(8)]
    assert len({len(answer["x-noise"]) for answer in answers}) > 1


def test_csrf_tokens_differ_in_each_response(browse):
    browser, field = browse(), r'name="csrfmiddlewaretoken" value="([^"]+)"'
    tokens = {
        token for _ in range(2) for token in re.findall(field, browser.get("/sign-in/").content.decode())
    }
    assert len(tokens) >= 2


def test_a_wait_reads_the_plain_document_of_a_run():
    accepted = []

    async def app(scope, receive, send):
        accepted.append(dict(scope["headers"]).get(b"accept-encoding"))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b'{"status": "succeeded"}'})

    async def receive():
        return {"type": "http.disconnect"}

    async def send(message):
        pass

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/api/v1/runs",
        "query_string": b"wait=5",
        "headers": [(b"accept-encoding", b"gzip")],
    }
    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, WaitMiddleware(app)(scope, receive, send)).result()
    assert accepted == [None]


@pytest.fixture(autouse=True)
def _own_fragments(monkeypatch):
    """Kept HTML has the addresses of static files as they were; those of a site change only at its start."""
    monkeypatch.setattr(skillquay_fragments, "STORE", skillquay_fragments.FragmentStore(MAX_BYTES))


@pytest.fixture
def collected(settings, tmp_path, monkeypatch):
    """A browser of a site with collected static files."""
    settings.SKILLQUAY_VAR, settings.STATIC_ROOT = tmp_path, tmp_path / "static"
    fresh = static_files.StaticFilesStorage()
    monkeypatch.setattr(staticfiles_storage, "_wrapped", fresh)
    assert static_files.collect_static_files()
    monkeypatch.setattr(staticfiles_storage, "_wrapped", static_files.StaticFilesStorage())
    return Client()


def test_static_files_have_hashed_names_compressed_copies_and_a_year(collected):
    page = collected.get("/sign-in/").content.decode()
    addresses = re.findall(r'(?:src|href)="(/static/[^"]+)"', page)
    assert len(addresses) >= 3
    for address in addresses:
        assert re.search(r"\.[0-9a-f]{12}\.(css|js|svg)$", address)
        plain = b"".join(collected.get(address))
        for coding, decode in (("br", brotli.decompress), ("gzip", gzip.decompress)):
            with closing(collected.get(address, headers={"accept-encoding": coding})) as answer:
                assert set(answer["Cache-Control"].split(", ")) == {"public", "max-age=31536000", "immutable"}
                assert (answer["Content-Encoding"], answer["Vary"]) == (coding, "Accept-Encoding")
                assert decode(b"".join(answer)) == plain
                again = {"accept-encoding": coding, "if-none-match": answer["ETag"]}
            assert collected.get(address, headers=again).status_code == 304


def test_the_api_pages_use_collected_files(collected):
    page = collected.get("/api/docs/").content.decode()
    for name in ("swagger-ui-bundle", "swagger-ui"):
        address = re.search(rf'"(/static/[^"]+/{name}\.[0-9a-f]{{12}}\.(?:js|css))"', page)
        assert address
        with closing(collected.get(address[1], headers={"accept-encoding": "br"})) as answer:
            assert answer["Content-Encoding"] == "br"


def test_files_are_collected_only_after_a_change(collected, monkeypatch):
    assert not static_files.collect_static_files()
    assert staticfiles_storage.url("skillquay.css") != "/static/skillquay.css"
    monkeypatch.setattr(static_files, "UNUSED", ("rest_framework/*", "drf_spectacular_sidecar/*"))
    assert static_files.StaticFilesStorage().url("skillquay.css") == "/static/skillquay.css"
    assert static_files.collect_static_files()


def test_without_collected_files_pages_use_plain_names(browse):
    assert '"/static/skillquay.css"' in browse().get("/sign-in/").content.decode()
    with closing(browse().get("/static/skillquay.css")) as answer:
        assert "immutable" not in answer["Cache-Control"]
