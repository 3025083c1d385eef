"""Uploads by the script that shows their progress: no redirects, and an address for each draft."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from registry.models import Version
from registry.packages.archive.repack import repack
from registry.packages.read_package import read_files
from tests.factories.skills import tidy_files
from tests.pages import messages, part
from worker.models import InputFile

pytestmark = [pytest.mark.django_db, pytest.mark.row("P3", "P8")]


def _upload(client, address="/publish/", **values):
    archive = SimpleUploadedFile("report.zip", repack(read_files([*tidy_files().items()]).files))
    given = {"team": "docs", "archive": archive, **values}
    return client.post(address, given, headers={"X-Upload": "1"})


def test_checked_upload_has_an_address_that_survives_a_reload(browse, alice, bob):
    client = browse(bob)
    answer = _upload(client, check="1", changelog="First & last")
    assert (answer.status_code, "Location" in answer) == (204, False)
    address = answer["X-Location"]
    for _ in range(2):
        page = client.get(address)
        assert part(page, "preview")["state"] == "ready"
        assert page.context["form"]["changelog"].value() == "First & last"
    stored = InputFile.objects.get()
    assert page.context["form"]["upload_id"].value() == stored.uid
    assert part(browse(alice).get(address), "refusal")["code"] == "UPLOAD_GONE"
    long = _upload(client, check="1", changelog="x" * 501)
    assert part(long, "preview")["state"] == "ready"


def test_published_upload_keeps_its_message(browse, bob):
    client = browse(bob)
    answer = _upload(client, publish="1")
    version = Version.objects.get()
    assert answer.status_code == 204
    assert answer["X-Location"] == f"/skills/{version.skill}/{version.number}/"
    assert messages(client.get(answer["X-Location"])) == ["success"]


def test_refused_upload_is_answered_with_the_page(browse, bob):
    answer = _upload(browse(bob), check="1", archive=SimpleUploadedFile("a.zip", b"none"))
    assert answer.status_code == 422
    assert part(answer, "refusal")["code"] == "ARCHIVE_FORMAT"
    assert _upload(browse(), check="1")["X-Location"].startswith("/sign-in/")


@pytest.mark.parametrize("address", ["/publish/", "/imports/new/"])
def test_forms_with_files_have_a_place_for_the_progress(browse, bob, address):
    page = browse(bob).get(address)
    assert "hidden" in part(page, "upload").attributes
    assert 'id="upload-progress"' in page.text
