"""The progress of an upload, and its cancellation."""

from __future__ import annotations

import random
import re

import pytest

from registry.models import ResumableUpload, Version
from tests.factories.archives import zip_of
from tests.factories.skills import publish_files
from worker.models import InputFile, Run, Schedule

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.row("P3", "P8")]
HEAD = "---\nname: large\ndescription: Counts orders.\n---\n# Large\n"


@pytest.fixture
def archive(tmp_path):
    """A package of 1.2 MB that can't be compressed."""
    path = tmp_path / "large.zip"
    path.write_bytes(zip_of({"SKILL.md": HEAD, "assets/noise.bin": random.Random(1).randbytes(1_200_000)}))
    return path


@pytest.fixture
def set_speed(page):
    """``set_speed(bytes)``: limits the bytes that the page sends per second; -1 removes the limit."""
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")

    def limit(upload):
        speed = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": upload}
        network.send("Network.emulateNetworkConditions", speed)

    return limit


@pytest.fixture
def half_sent(page, sign_in, team, bob, archive, set_speed):
    """Bob's upload on the publish page, of which the server has a part."""
    sign_in(bob)
    page.goto("/publish/?team=docs")
    page.set_input_files("input[name=archive]", archive)
    set_speed(200_000)
    page.click("#publish button[name=check]:visible")
    page.locator("#upload-progress:not([value='0'])").wait_for()
    upload = ResumableUpload.objects.get()
    assert 0 < upload.received < upload.size
    return upload


def test_upload_continues_after_a_reload_with_the_same_file(page, half_sent, archive, set_speed):
    page.reload()
    page.locator(f"[data-part=unfinished-upload][data-value='{half_sent.uid}']").wait_for()
    half_sent.refresh_from_db()
    set_speed(-1)
    sent = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "PUT" else None)
    page.set_input_files("input[name=archive]", archive)
    page.click("#publish button[name=check]:visible")
    page.locator("[data-part=preview][data-state=ready]").wait_for()
    assert sent[0].endswith(f"/uploads/{half_sent.uid}?offset={half_sent.received}")
    assert InputFile.objects.get().size == half_sent.size
    assert not ResumableUpload.objects.exists()
    assert not page.locator("[data-part=unfinished-upload]").count()


def test_interrupted_upload_is_discarded(page, half_sent):
    page.reload()
    page.click("[data-part=unfinished-upload] [data-action=discard-upload]")
    page.locator("[data-part=message]").wait_for()
    assert page.url.endswith("/publish/?team=docs")
    assert not page.locator("[data-part=unfinished-upload]").count()
    assert not ResumableUpload.objects.exists()


def test_other_file_does_not_continue_an_upload(page, half_sent, archive, set_speed, tmp_path):
    page.reload()
    set_speed(-1)
    other = tmp_path / "other.zip"
    other.write_bytes(archive.read_bytes())
    page.set_input_files("input[name=archive]", other)
    page.click("#publish button[name=check]:visible")
    page.locator("[data-part=preview][data-state=ready]").wait_for()
    assert [row.uid for row in ResumableUpload.objects.all()] == [half_sent.uid]


@pytest.fixture
def folder(tmp_path):
    """The folder of a package of 1.3 MB: several files, two of them with the same name."""
    noise = random.Random(3)
    files = {"SKILL.md": HEAD.encode(), "assets/a/noise.bin": noise.randbytes(700_000)}
    files |= {"assets/b/noise.bin": noise.randbytes(600_000), "scripts/count.py": b"print(1)\n"}
    for path, data in files.items():
        (tmp_path / "large" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "large" / path).write_bytes(data)
    return tmp_path / "large", files


def test_dropped_folder_continues_after_a_reload(page, sign_in, team, bob, folder, set_speed, drop):
    path, files = folder
    sign_in(bob)
    page.goto("/publish/?team=docs")
    set_speed(200_000)
    drop(path)
    page.locator("#upload-progress:not([value='0'])").wait_for()
    page.reload()
    page.locator("[data-part=unfinished-upload]").wait_for()
    begun = ResumableUpload.objects.get()
    assert (begun.name, 0 < begun.received < begun.size) == ("large", True)
    set_speed(-1)
    with page.expect_request(lambda request: request.method == "PUT") as first:
        drop(path)
    assert first.value.url.endswith(f"/uploads/{begun.uid}?offset={begun.received}")
    page.locator("[data-part=preview][data-state=ready]").wait_for()
    page.locator("[name=publish]:visible").first.click()
    page.locator("[data-part=message]").wait_for()
    stored = Version.objects.get().files
    assert dict(stored.values_list("path", "size")) == {name: len(data) for name, data in files.items()}
    assert not ResumableUpload.objects.exists()


def test_chosen_folder_is_sent_in_chunks(page, sign_in, team, bob, folder):
    path, _files = folder
    sign_in(bob)
    page.goto("/publish/?team=docs")
    page.set_input_files("input[name=folder]", path)
    with page.expect_request(lambda request: request.method == "PUT"):
        page.click("#publish button[name=check]:visible")
    page.locator("[data-part=preview][data-state=ready]").wait_for()
    assert not ResumableUpload.objects.exists()


def test_refused_upload_shows_the_reason(page, sign_in, team, bob, archive, settings):
    for name in ("ARCHIVE", "UNPACKED", "INPUT", "IMPORT_ARCHIVE"):
        setattr(settings, f"SKILLQUAY_MAX_{name}_BYTES", 2**20)
    sign_in(bob)
    page.goto("/publish/?team=docs")
    page.set_input_files("input[name=archive]", archive)
    page.click("#publish button[name=check]:visible")
    page.locator("[data-part=upload-failed]:visible").wait_for()
    assert str(2**20) in page.locator("[data-part=upload-failed]").inner_text()
    assert not page.locator("[data-part=upload]").is_visible()


def test_upload_shows_progress_is_cancelled_and_survives_a_reload(page, half_sent, set_speed):
    with page.expect_response(lambda response: response.request.method == "DELETE"):
        page.click("[data-action=cancel-upload]")
    page.locator("[data-part=upload]").wait_for(state="hidden")
    assert not ResumableUpload.objects.exists()
    assert not InputFile.objects.exists()
    set_speed(-1)
    page.click("#publish button[name=check]:visible")
    page.locator("[data-part=preview][data-state=ready]").wait_for()
    page.reload()
    page.locator("[data-part=preview][data-state=ready]").wait_for()
    assert InputFile.objects.count() == 1
    page.locator("[name=publish]:visible").first.click()
    page.locator("[data-part=message]").wait_for()
    assert "/skills/docs/large/" in page.url


@pytest.fixture
def data(tmp_path):
    """A file of 1.2 MB."""
    path = tmp_path / "data.bin"
    path.write_bytes(random.Random(2).randbytes(1_200_000))
    return path


@pytest.fixture
def sum_skill(team, alice):
    """A skill whose input is a file."""
    head = "name: sum\ndescription: Adds the numbers of a file.\nversion: 1.0.0\n"
    schema = "input_schema: {type: object, required: [data_path], properties: {data_path: {type: string}}}\n"
    files = {"SKILL.md": f"---\n{head}{schema}---\n# Sum\n".encode(), "scripts/sum.py": b"print(1)\n"}
    return publish_files(files, team=team, user=alice).skill


def test_file_of_a_run_continues_after_a_reload(
    page, sign_in, sum_skill, alice, data, set_speed, monkeypatch
):
    monkeypatch.setattr("worker.runs.request.wake", lambda: True)
    sign_in(alice)
    page.goto("/skills/docs/sum/run/")
    page.set_input_files("input[type=file]", data)
    set_speed(200_000)
    page.click("#run-form button[name=run]")
    page.locator("#upload-progress:not([value='0'])").wait_for()
    page.reload()
    page.locator("[data-part=unfinished-upload]").wait_for()
    begun = ResumableUpload.objects.get()
    set_speed(-1)
    page.set_input_files("input[type=file]", data)
    with page.expect_request(lambda request: request.method == "PUT") as first:
        page.click("#run-form button[name=run]")
    assert first.value.url.endswith(f"?offset={begun.received}")
    page.wait_for_url(re.compile(r"/runs/\w+/(#.*)?$"))
    (use,) = Run.objects.get().files
    assert (use["path"].rpartition("/")[2], use["size"]) == ("data.bin", 1_200_000)
    assert not ResumableUpload.objects.exists()


@pytest.mark.row("B7", "P10")
@pytest.mark.parametrize("look", [{}, {"java_script_enabled": False}], ids=["scripts", "no-scripts"])
def test_file_of_a_schedule_is_sent_shown_and_replaced(page, sign_in, sum_skill, alice, data, tmp_path):
    sign_in(alice)
    page.goto("/schedules/new/?skill=docs/sum")
    page.set_input_files("input[type=file]", data)
    page.click("#schedule-form button[name=save]")
    page.wait_for_url(re.compile(r"/schedules/0\w+/(#.*)?$"))
    assert "data.bin" in page.locator("[data-part=file]").inner_text()
    page.click("[data-action=edit-files]")
    assert "data.bin" in page.locator("[data-part=kept]").inner_text()
    other = tmp_path / "other.csv"
    other.write_bytes(b"1,2")
    page.set_input_files("input[type=file]", other)
    page.click("#schedule-form button[name=save]")
    page.wait_for_url(re.compile(r"/schedules/0\w+/(#.*)?$"))
    (use,) = Schedule.objects.get().files
    assert (use["path"].rpartition("/")[2], use["size"]) == ("other.csv", 3)
    assert not ResumableUpload.objects.exists()
