import io
import json
import tarfile

import pytest

from registry.models import Skill, Version
from tests.api.conftest import SKILL_MD, archive, assert_error

pytestmark = [pytest.mark.row("P3"), pytest.mark.django_db]


def form(parts, boundary="b0undary"):
    """A multipart body: ``(field, file name or None, bytes)`` for each part."""
    lines = []
    for field, name, data in parts:
        named = f'; filename="{name}"' if name is not None else ""
        lines.append(
            f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"{named}\r\n\r\n'.encode()
        )
        lines.append(data + b"\r\n")
    return b"".join(lines) + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def tar_gz():
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        member = tarfile.TarInfo("summarise/SKILL.md")
        member.size = len(SKILL_MD.encode())
        tar.addfile(member, io.BytesIO(SKILL_MD.encode()))
    return buffer.getvalue()


CUT_OFF = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\nhalf'


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (archive(), "application/zip"),
        (archive(folder="summarise/"), "application/octet-stream"),
        (tar_gz(), "application/gzip"),
        (SKILL_MD.encode(), "text/markdown"),
        form([("package", "s.zip", archive())]),
        form([("files", "top/SKILL.md", SKILL_MD.encode()), ("files", "top/scripts/main.py", b"print(1)\n")]),
    ],
    ids=["zip", "wrapped zip", "tar.gz", "SKILL.md", "form with zip", "form with folder"],
)
def test_every_way_of_upload_publishes_the_version(as_bob, body, kind):
    answer = as_bob.post("packages?team=docs", body, kind=kind)
    assert answer.status_code == 201, answer.content
    document = answer.json()
    assert (document["skill"], document["version"], document["created"]) == ("docs/summarise", "1.0.0", True)
    assert answer["Location"] == document["url"]
    assert Version.objects.get().digest == document["digest"]


def test_a_folder_keeps_its_folders(as_bob):
    body, kind = form(
        [
            ("files", "top/SKILL.md", SKILL_MD.encode()),
            ("files", "top/scripts/main.py", b"print(1)\n"),
            ("files", "top/scripts/deep/er.py", b"print(2)\n"),
        ]
    )
    assert as_bob.post("packages?team=docs", body, kind=kind).status_code == 201
    paths = list(Version.objects.get().files.order_by("path").values_list("path", flat=True))
    assert paths == ["SKILL.md", "scripts/deep/er.py", "scripts/main.py"]


@pytest.mark.parametrize("name", ["../SKILL.md", "/etc/SKILL.md", "a/../../SKILL.md", "C:\\\\x\\\\SKILL.md"])
def test_a_folder_does_not_climb_out_of_itself(as_bob, name):
    body, kind = form([("files", name, SKILL_MD.encode())])
    assert as_bob.post("packages?team=docs", body, kind=kind).status_code == 422
    assert not Version.objects.exists()


def test_the_same_bytes_are_published_already_and_others_are_refused(as_bob):
    as_bob.post("packages?team=docs", archive(), kind="application/zip")
    again = as_bob.post("packages?team=docs", archive(), kind="application/zip")
    assert (again.status_code, again.json()["created"]) == (200, False)
    other = archive({"SKILL.md": SKILL_MD + "More.\n"})
    assert_error(as_bob.post("packages?team=docs", other, kind="application/zip"), 409, "VERSION_EXISTS")


def test_a_dry_run_tells_everything_and_writes_nothing(as_bob):
    good = as_bob.post("packages?team=docs&dry_run=1", archive(), kind="application/zip").json()
    assert (good["ok"], good["created"], good["version"]) == (True, True, "1.0.0")
    broken = archive({"SKILL.md": "---\nname: x\ntype: direct\n---\n", "run.py": "1"})
    bad = as_bob.post("packages?team=docs&dry_run=1", broken, kind="application/zip")
    assert bad.status_code == 200
    assert not bad.json()["ok"]
    assert len([p for p in bad.json()["problems"] if p["severity"] == "error"]) > 1
    assert not Skill.objects.exists()


def test_an_upload_that_the_gate_stops_is_refused_with_every_problem(as_bob):
    broken = archive({"SKILL.md": "---\nname: x\ntype: direct\n---\n", "run.py": "1"})
    answer = as_bob.post("packages?team=docs", broken, kind="application/zip")
    assert answer.status_code == 422
    assert len(answer.json()["problems"]) > 1
    assert not Skill.objects.exists()


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"PK\x03\x04 not a zip", "application/zip", 422),
        (b"\x1f\x8b not gzip", "application/gzip", 422),
        (b"plain", "application/zip", 422),
        (b"\xff\xfe\x00", "text/markdown", 422),
        (b"", "application/zip", 400),
        (b"{}", "application/json", 415),
        (b"a=b", "application/x-www-form-urlencoded", 415),
        (b"nothing", "multipart/form-data", 400),
        (b"nothing", "multipart/form-data; boundary=x", 400),
        (b"--x\r\n", "multipart/form-data; boundary=x", 400),
        (CUT_OFF, "multipart/form-data; boundary=x", 400),
        (form([("package", "x.zip", b"")])[0], form([])[1], 422),
        (form([("team", None, b"docs")])[0], form([])[1], 400),
        (form([("what", None, b"x"), ("package", "x.zip", archive())])[0], form([])[1], 400),
    ],
)  # fmt: skip
def test_a_body_that_holds_no_package_is_refused(as_bob, body, kind, status):
    answer = as_bob.post("packages?team=docs", body, kind=kind)
    assert answer.status_code == status, answer.content
    assert answer.json()["code"]
    assert not Skill.objects.exists()


def test_a_body_over_the_limit_is_not_read(as_bob, settings):
    settings.SKILLQUAY_MAX_ARCHIVE_BYTES = 100
    assert_error(as_bob.post("packages?team=docs", archive(), kind="application/zip"), 413, "BODY_TOO_LARGE")


def test_the_team_may_be_left_away_by_who_is_on_one(as_bob, as_charlie, alice):
    from registry.models import Membership, Team

    assert (
        as_bob.post("packages?dry_run=1", archive(), kind="application/zip").json()["skill"]
        == "docs/summarise"
    )
    Membership.objects.create(team=Team.objects.create(slug="second"), user=alice)
    from tests.api.conftest import session_api

    answer = session_api(alice).post("packages?dry_run=1", archive(), kind="application/zip")
    assert_error(answer, 400, "QUERY_INVALID")


def test_a_stranger_publishes_nowhere(team, as_charlie, anonymous):
    for path in ("packages?team=docs", "packages?team=docs&dry_run=1", "packages?team=nobody"):
        assert_error(as_charlie.post(path, archive(), kind="application/zip"), 404, "NOT_FOUND")
        assert_error(anonymous.post(path, archive(), kind="application/zip"), 401, "SIGN_IN_REQUIRED")


def test_visibility_is_a_maintainers_to_choose(as_bob, as_alice):
    path = "packages?team=docs&visibility=public"
    assert_error(as_bob.post(path, archive(), kind="application/zip"), 403, "FORBIDDEN")
    assert not Skill.objects.exists()
    assert as_alice.post(path, archive(), kind="application/zip").status_code == 201
    assert Skill.objects.get().visibility == "public"


def test_a_forms_fields_stand_in_for_parameters(as_alice):
    body, kind = form(
        [("team", None, b"docs"), ("visibility", None, b"site"), ("package", "s.zip", archive())]
    )
    assert as_alice.post("packages", body, kind=kind).status_code == 201
    assert Skill.objects.get().visibility == "site"


def test_an_upload_with_a_key_happens_once_whatever_boundary_is_drawn(as_bob):
    key = {"Idempotency-Key": "one"}
    first_body, first_kind = form([("package", "s.zip", archive())], "first")
    second_body, second_kind = form([("package", "s.zip", archive())], "second")
    first = as_bob.post("packages?team=docs", first_body, kind=first_kind, headers=key)
    second = as_bob.post("packages?team=docs", second_body, kind=second_kind, headers=key)
    assert (first.status_code, second.status_code) == (201, 201)
    assert json.loads(first.content) == json.loads(second.content)
    other, kind = form([("package", "s.zip", archive({"SKILL.md": SKILL_MD}))])
    assert_error(
        as_bob.post("packages?team=docs", other, kind=kind, headers=key), 422, "IDEMPOTENCY_KEY_REUSED"
    )
