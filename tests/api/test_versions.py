import hashlib
import io
import zipfile

import pytest

from tests.api.conftest import MAIN_PY, assert_error

pytestmark = [pytest.mark.row("P1", "P3"), pytest.mark.django_db]
VERSION = "skills/docs/summarise/versions/1.0.0"


def test_versions_come_the_highest_first(publish, as_bob):
    for number in ("1.0.0", "1.10.0", "1.9.0", "2.0.0-rc.1"):
        publish({"SKILL.md": f"---\nname: s\ndescription: At {number}.\nversion: {number}\n---\n"})
    first = as_bob.get("skills/docs/s/versions?limit=3").json()
    assert [item["version"] for item in first["items"]] == ["2.0.0-rc.1", "1.10.0", "1.9.0"]
    rest = as_bob.get(f"skills/docs/s/versions?limit=3&cursor={first['next_cursor']}").json()
    assert ([item["version"] for item in rest["items"]], rest["next_cursor"]) == (["1.0.0"], None)
    assert as_bob.get("skills/docs/s/versions/latest").json()["version"] == "1.10.0"


def test_a_version_tells_manifest_body_and_author(version, as_bob):
    document = as_bob.get(VERSION).json()
    assert document["digest"] == version.digest
    assert document["manifest"]["name"] == "summarise"
    assert document["body"].startswith("# Summarise")
    assert document["published_by"] == "alice"
    assert_error(as_bob.get("skills/docs/summarise/versions/9.9.9"), 404, "NOT_FOUND")


def test_the_author_of_a_public_version_is_told_to_nobody_outside(public_version, anonymous):
    assert anonymous.get(VERSION).json()["published_by"] is None


def test_files_are_listed_and_read_one_by_one(version, as_bob):
    first = as_bob.get(f"{VERSION}/files?limit=2").json()
    rest = as_bob.get(f"{VERSION}/files?limit=2&cursor={first['next_cursor']}").json()
    items = first["items"] + rest["items"]
    assert [item["path"] for item in items] == ["SKILL.md", "references/notes.md", "scripts/main.py"]
    answer = as_bob.get(f"{VERSION}/files/scripts/main.py")
    assert answer.content.decode() == MAIN_PY
    assert items[2]["digest"] == "sha256:" + hashlib.sha256(answer.content).hexdigest()
    assert_error(as_bob.get(f"{VERSION}/files/scripts/none.py"), 404, "NOT_FOUND")
    assert_error(as_bob.get(f"{VERSION}/files/../../../etc/passwd"), 404, "NOT_FOUND")


def test_a_strangers_bytes_are_never_rendered(publish, as_bob):
    publish({"SKILL.md": "---\nname: evil\ndescription: Evil.\n---\n", "assets/a.html": "<script>1</script>"})
    answer = as_bob.get("skills/docs/evil/versions/latest/files/assets/a.html")
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"] == 'attachment; filename="a.html"'
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"


def test_the_archive_is_what_its_digest_says(version, as_bob):
    answer = as_bob.get(f"{VERSION}/archive")
    data = answer.getvalue()
    assert answer["X-Digest"] == version.digest == "sha256:" + hashlib.sha256(data).hexdigest()
    assert answer["ETag"] == f'"{version.digest}"'
    assert int(answer["Content-Length"]) == len(data)
    assert answer["Content-Disposition"] == 'attachment; filename="summarise-1.0.0.zip"'
    assert "scripts/main.py" in zipfile.ZipFile(io.BytesIO(data)).namelist()


@pytest.mark.row("D9")
def test_a_download_counts_as_an_install_and_a_look_does_not(version, as_bob):
    look = as_bob("HEAD", f"{VERSION}/archive")
    look.close()
    etag = look["ETag"]
    assert as_bob.get(f"{VERSION}/archive", headers={"If-None-Match": etag}).status_code == 304
    assert as_bob.get("skills/docs/summarise/usage").json()["count"] == 0
    as_bob.get(f"{VERSION}/archive").getvalue()
    assert as_bob.get("skills/docs/summarise/usage").json()["count"] == 1


@pytest.mark.parametrize("path", [f"{VERSION}/archive", f"{VERSION}/files/SKILL.md"])
def test_public_bytes_are_kept_for_ever_and_private_ones_by_nobody_else(publish, path, as_bob, anonymous):
    publish(visibility="public")
    answer = anonymous.get(path)
    assert answer["Cache-Control"] == "public, max-age=31536000, immutable"
    answer.close()
    answer = as_bob.get(path)
    assert answer["Cache-Control"] == "private, max-age=31536000, immutable"
    assert {"Authorization", "Cookie"} <= set(answer["Vary"].split(", "))
    answer.close()


@pytest.mark.parametrize("number", ["1.0.0", "latest"])
@pytest.mark.parametrize("rest", ["archive", "archive?format=portable", "files/SKILL.md", ""])
def test_304_has_the_cache_headers_of_the_full_response(publish, as_bob, anonymous, number, rest):
    """Caches replace the stored headers by those of the 304 response."""
    publish(
        {"SKILL.md": f"---\nname: s\ndescription: S.\nversion: 1.0.0\n---\n{'Text. ' * 200}"},
        visibility="public",
    )
    path = f"skills/docs/s/versions/{number}/{rest}".rstrip("/")
    for api in (as_bob, anonymous):
        full = api.get(path, headers={"Accept-Encoding": "gzip"})
        full.close()
        unchanged = api.get(path, headers={"If-None-Match": full["ETag"]})
        assert (unchanged.status_code, unchanged["Cache-Control"]) == (304, full["Cache-Control"])
        assert set(unchanged.get("Vary", "").split(", ")) == set(full.get("Vary", "").split(", "))


def test_what_is_latest_today_is_asked_for_again_tomorrow(public_version, anonymous):
    answer = anonymous.get("skills/docs/summarise/versions/latest/archive")
    assert answer["Cache-Control"] == "private, no-cache"
    answer.close()


@pytest.mark.parametrize(
    "path", ["skills", "skills/docs/summarise", VERSION, f"{VERSION}/files", "me", "errors"]
)
def test_what_the_reader_has_is_not_sent_again(version, as_bob, path):
    answer = as_bob.get(path)
    assert answer["Cache-Control"] == "private, no-cache"
    again = as_bob.get(path, headers={"If-None-Match": answer["ETag"]})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", answer["ETag"])
    assert as_bob.get(path, headers={"If-None-Match": '"other"'}).status_code == 200


def test_a_use_does_not_change_the_etag_of_a_skill(version, as_bob):
    before = as_bob.get("skills/docs/summarise")["ETag"]
    as_bob.post("usage", {"skill": "docs/summarise"})
    assert as_bob.get("skills/docs/summarise")["ETag"] == before


def test_nothing_of_a_private_skill_is_a_strangers_to_read(version, as_charlie, anonymous):
    for api in (as_charlie, anonymous):
        for path in ("", "/files", "/files/SKILL.md", "/archive"):
            assert_error(api.get(VERSION + path), 404, "NOT_FOUND")
        assert_error(api.get("skills/docs/summarise/versions"), 404, "NOT_FOUND")
