from __future__ import annotations

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from portal.forms import team_choice
from portal.forms.team_choice import publishing_teams
from portal.pages.publish.forms.publish import PublishForm
from registry.identity.actors import Actor
from registry.models import Membership, Role, Skill, Team, Version
from registry.packages.archive.repack import repack
from registry.packages.read_package import read_files
from tests.factories.skills import hostile_files, tidy_files
from tests.pages import part, parts, select
from worker.models import InputFile

pytestmark = [pytest.mark.django_db, pytest.mark.row("P3", "P8")]


def _zip(files=None, name="report.zip"):
    data = repack(read_files(list((files or tidy_files()).items())).files)
    return SimpleUploadedFile(name, data, "application/zip")


def _post(client, button="check", **values):
    return client.post("/publish/", {"team": "docs", button: "1", **values})


def test_strangers_sign_in_first_and_come_back(browse):
    answer = browse().get("/publish/")
    assert answer.status_code == 302
    assert answer.url == "/sign-in/?next=/publish/"


def test_who_may_publish_for_no_team_is_told_what_to_do(browse, django_user_model):
    page = browse(django_user_model.objects.create_user("dora")).get("/publish/")
    assert part(page, "empty")["state"] == "no-team"


@pytest.fixture
def bundled(alice):
    """Alice is an owner of the teams that set_up creates, as the first administrator is."""
    for slug in ("examples", "skillquay"):
        Membership.objects.create(team=Team.objects.create(slug=slug, name=slug), user=alice, role=Role.OWNER)


def test_a_team_of_bundled_skills_is_never_selected_first(browse, alice, team, bundled):
    teams = browse(alice).get("/publish/").context["form"].team_field.queryset
    assert [each.slug for each in teams] == ["docs", "examples", "skillquay"]
    chosen = browse(alice).get("/publish/?team=examples").text
    assert '<option value="examples" selected>' in chosen


@pytest.mark.parametrize("address", ["/publish/", "/publish/new/", "/imports/new/"])
def test_an_owner_of_bundled_teams_only_creates_a_team_first(browse, alice, team, bundled, address):
    team.delete()
    page = browse(alice).get(address)
    assert part(page, "empty")["state"] == "no-team"
    assert 'href="/teams/new/' in page.text
    assert not parts(browse(alice).get(f"{address}?team=examples"), "empty")


def test_only_ones_own_teams_are_offered(browse, charlie, team):
    page = browse(charlie).get("/publish/").content.decode()
    assert "elsewhere" in page
    assert ">Docs" not in page
    refused = browse(charlie).post("/publish/", {"team": "docs", "publish": "1", "archive": _zip()})
    assert refused.status_code == 422
    assert not Skill.objects.exists()


@pytest.mark.parametrize("visibility", ["", "private", "site", "public"])
def test_check_shows_who_will_see_the_skill(browse, alice, team, visibility):
    page = _post(browse(alice), archive=_zip(), visibility=visibility)
    shown = part(page, "visibility", state=visibility or "private")
    assert ("docs" in shown) == (visibility in ("", "private"))


def test_check_shows_the_visibility_of_an_existing_skill(browse, alice, private):
    Skill.objects.update(visibility="site")
    assert part(_post(browse(alice), archive=_zip()), "visibility")["state"] == "site"


def test_check_says_what_would_be_published_and_changes_nothing(browse, bob):
    page = _post(browse(bob), archive=_zip()).content.decode()
    assert part(page, "preview")["state"] == "ready"
    assert "docs/weekly-report" in page
    assert "1.2.0" in page
    assert "agentskills" in page
    assert "apexbridge" in page
    assert parts(page, "allowance")[0]["state"] == "ok"  # the network comes first; it needs none
    assert "scripts/report.py" in page
    assert not Version.objects.exists()


def test_what_was_checked_is_published_without_another_upload(browse, alice):
    client = browse(alice)
    page = _post(client, archive=_zip())
    kept = InputFile.objects.get(owner=alice)
    assert kept.uid in page.content.decode()
    answer = _post(client, "publish", upload_id=kept.uid, visibility="site", changelog="First.")
    assert answer.url == "/skills/docs/weekly-report/1.2.0/"
    version = Version.objects.get()
    assert version.changelog == "First."
    assert version.skill.visibility == "site"


def test_what_one_person_checked_is_nobody_elses(browse, alice, bob):
    _post(browse(bob), archive=_zip())
    answer = _post(browse(alice), "publish", upload_id=InputFile.objects.get().uid)
    assert answer.status_code == 410
    assert not Version.objects.exists()


def test_every_problem_is_shown_at_once_with_file_and_remedy(browse, bob):
    files = tidy_files() | {"SKILL.md": b"---\nname: x\nversion: one\ntype: direct\n---\n"}
    page = _post(browse(bob), "publish", archive=_zip(files))
    text = page.content.decode()
    assert page.status_code == 422
    assert len(parts(page, "refusal")) == 1
    assert len(parts(page, "problem")) > 3
    assert "SKILL.md" in text
    assert not Version.objects.exists()


STRICT = "---\nname: strict-note\ndescription: Notes.\ntype: direct\nttl: soon\n---\nText.\n"


@pytest.mark.parametrize("button", ["check", "publish"])
def test_problems_name_the_profile_its_cause_and_the_lines(browse, bob, button):
    page = _post(browse(bob), button, text=STRICT)
    cause = part(page, "profile-cause", state="type")
    assert cause["value"] == "apexbridge"
    assert "type: direct" in cause
    assert "SKILL.md:4" in cause
    problems = page.context["problems"]
    count = part(page, "problem-count")
    assert count["value"] == f"{problems.errors},{problems.warnings}"
    assert [mark.text for mark in part(page, "problem", code="FIELD_TYPE").tags("mark")] == ["ttl: soon"]


def test_misspelled_required_field_is_one_error_with_the_rename_as_its_fix(browse, bob):
    page = _post(browse(bob), text=STRICT.replace("ttl: soon", "versoin: 2.3.0"))
    first, *others = parts(page, "problem")
    assert (first["code"], first.select("button")[0]["value"]) == ("FIELD_MISSPELLED", "rename:versoin")
    assert page.context["problems"].files[0].rows[0]["problem"]["severity"] == "error"
    assert "FIELD_MISSPELLED" not in [each["code"] for each in others]
    assert not [each for each in others if "version" in each.tags("strong")[0]]
    assert not select(page, "button", name="publish")
    remove, add = part(page, "profile-cause").select("button")
    assert (remove["value"], add["value"]) == ("remove:type", "add")
    assert "version" not in add  # whose value is under the misspelled name
    page = _post(browse(bob), text=STRICT.replace("ttl: soon", "version: 1.0.0\nvisibilty: site"))
    assert parts(page, "problem")[0]["code"] == "FIELD_MISSING"  # nothing else explains it


@pytest.mark.parametrize(
    "text", [STRICT, STRICT.replace("ttl: soon", "version: 1.0.0"), "---\nname: 7\n---\n"]
)
@pytest.mark.parametrize("button", ["check", "publish"])
def test_a_refused_package_has_one_primary_button(browse, bob, text, button):
    page = _post(browse(bob), button, text=text)
    assert parts(page, "problem")
    assert len(select(page, "button", class_="primary") + select(page, "a", class_="primary")) == 1


def test_the_field_that_makes_a_package_strict_is_removed_by_a_button(browse, bob):
    page = browse(bob).post("/publish/", {"team": "docs", "fix": "remove:type", "text": STRICT})
    assert part(page, "preview")["state"] == "ready"
    assert not parts(page, "profile-cause")
    answer = _post(browse(bob), "publish", upload_id=page.context["stored"].uid)
    assert answer.status_code == 302
    assert Version.objects.get().profile == "agentskills"


def test_an_invalid_skill_md_comes_back_as_text_to_edit(browse, bob):
    page = _post(browse(bob), archive=SimpleUploadedFile("SKILL.md", STRICT.encode()))
    assert page.context["form"]["text"].value() == STRICT
    assert InputFile.objects.get().owner == bob
    assert not Version.objects.exists()


BROKEN = """---
name: weekly-report
description: Reports.
version: 1.2.0
type: direct
security:
  network: allowlst
when_to_us: Weekly.
---
# Weekly report
"""


def _fix(client, page, name, **values):
    """Presses a fix with the fields that the page sends."""
    form = page.context["form"]
    (button,) = [found for found in parts(page, action="fix") if found["value"] == name]
    assert button["form"] == "publish"
    sent = {"upload_id": form["upload_id"].value(), "text": form["text"].value(), **values}
    return client.post("/publish/", {"team": "docs", "fix": button["value"], **sent})


def test_a_broken_archive_is_repaired_and_published_without_another_upload(browse, bob):
    client, files = browse(bob), tidy_files() | {"SKILL.md": BROKEN.encode()}
    page = _post(client, archive=_zip(files))
    assert part(page, "preview")["state"] == "invalid"
    for name in ("value:security.network", "rename:when_to_us", "remove:type"):
        page = _fix(client, page, name)
    assert part(page, "preview")["state"] == "ready"
    text = page.context["form"]["text"].value()
    assert ("  network: allowlist\n" in text, "when_to_us:" in text) == (True, False)
    answer = _post(client, "publish", upload_id=page.context["stored"].uid, text=text)
    assert answer.status_code == 302
    version = Version.objects.get()
    assert version.manifest["when_to_use"] == "Weekly."
    assert "scripts/report.py" in version.files.values_list("path", flat=True)


def test_missing_fields_of_a_strict_package_are_added_by_a_button(browse, bob):
    client, files = browse(bob), tidy_files() | {"SKILL.md": BROKEN.replace("version: 1.2.0\n", "").encode()}
    before = _post(client, archive=_zip(files))
    page = _fix(client, before, "add")
    text = page.context["form"]["text"].value()
    assert page.context["package"].manifest.version == "0.1.0"
    assert "type: direct\n" in text
    assert len(parts(page, "problem", code="FIELD_MISSING")) < len(
        parts(before, "problem", code="FIELD_MISSING")
    )


def test_the_text_of_skill_md_is_edited_on_the_page_and_checked_again(browse, bob):
    client, files = browse(bob), tidy_files() | {"SKILL.md": b"---\nname: [\n---\nText.\n"}
    page = _post(client, "publish", archive=_zip(files))
    assert page.context["form"]["text"].value() == "---\nname: [\n---\nText.\n"
    draft = page.context["form"]["upload_id"].value()
    text = "---\r\nname: weekly-report\r\ndescription: Reports.\r\n---\r\nText.\r\n"
    page = _post(client, upload_id=draft, text=text)
    assert part(page, "preview")["state"] == "ready"
    assert {file.path for file in page.context["package"].files} == set(files)


def test_an_unchanged_draft_is_not_stored_again_and_a_new_upload_replaces_it(browse, bob):
    client = browse(bob)
    page = _post(client, archive=_zip())
    sent = {name: page.context["form"][name].value() for name in ("upload_id", "text")}
    _post(client, **sent)
    assert InputFile.objects.count() == 1
    other = tidy_files() | {"SKILL.md": b"---\nname: other\ndescription: Other.\n---\n"}
    assert "docs/other" in _post(client, **sent, archive=_zip(other)).text


def test_an_existing_version_is_raised_by_a_button(browse, bob):
    client = browse(bob)
    _post(client, "publish", archive=_zip())
    changed = tidy_files() | {"scripts/report.py": b"print(2)\n"}
    page = _post(client, "publish", archive=_zip(changed))
    assert part(page, "refusal")["code"] == "VERSION_EXISTS"
    page = _fix(client, page, "version")
    assert part(page, "preview")["state"] == "ready"
    assert page.context["preview"].number == "1.2.1"


def test_version_is_raised_where_skill_md_has_it(browse, bob):
    client, text = browse(bob), "---\nname: noted\ndescription: Notes.\nmetadata: {version: 1.2.0}\n---\n"
    _post(client, "publish", text=text)
    page = _fix(client, _post(client, "publish", text=f"{text}More.\n"), "version")
    assert page.context["preview"].number == "1.2.1"
    assert re.findall("^.*version.*$", page.context["form"]["text"].value(), re.M) == ["  version: '1.2.1'"]


def test_a_fix_that_the_package_does_not_have_changes_nothing(browse, bob):
    page = browse(bob).post("/publish/", {"team": "docs", "fix": "remove:description", "text": STRICT})
    assert page.context["form"]["text"].value() == STRICT


def test_a_published_script_can_be_run_from_the_message(browse, bob):
    page = browse(bob).post("/publish/", {"team": "docs", "publish": "1", "archive": _zip()}, follow=True)
    link = part(part(page, "message"), action="run")
    assert link["href"] == "/skills/docs/weekly-report/run/?version=1.2.0"
    prompt = {"team": "docs", "publish": "1", "text": STRICT.replace("type: direct\nttl: soon\n", "")}
    assert not parts(part(browse(bob).post("/publish/", prompt, follow=True), "message"), action="run")


def test_bytes_that_are_no_package_are_refused_with_a_code(browse, bob):
    page = _post(browse(bob), archive=SimpleUploadedFile("x.zip", b"PK\x03\x04 nothing"))
    assert page.status_code in (400, 422)
    assert b"<code" in page.content


def test_one_skill_md_is_a_package_as_a_file_and_as_text(browse, bob):
    text = "---\nname: one-note\ndescription: 写一段笔记。\n---\n\nWrite a note about $ARGUMENTS.\n"
    _post(browse(bob), "publish", archive=SimpleUploadedFile("SKILL.md", text.encode()))
    _post(browse(bob), "publish", text=text.replace("one-note", "two-notes").replace("\n", "\r\n"))
    assert sorted(Skill.objects.values_list("slug", flat=True)) == ["one-note", "two-notes"]


def test_a_folder_keeps_its_folders(browse, bob):
    parts = [_part("team", b"docs"), _part("publish", b"1")]
    parts += [_part("folder", data, f"weekly-report/{name}") for name, data in tidy_files().items()]
    body = b"".join(parts) + b"--limit--\r\n"
    answer = browse(bob).post("/publish/", body, content_type="multipart/form-data; boundary=limit")
    assert answer.status_code == 302, answer.content.decode()
    version = Version.objects.get()
    assert "scripts/report.py" in version.files.values_list("path", flat=True)


def _part(name, data, filename=""):
    """A part of a body as browsers write it; Django's test client would take the folders off."""
    file = f'; filename="{filename}"\r\nContent-Type: application/octet-stream' if filename else ""
    head = f'--limit\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'
    return head.encode() + data + b"\r\n"


def test_a_path_that_leads_out_of_the_folder_is_refused(browse, bob):
    parts = [_part("team", b"docs"), _part("check", b"1"), _part("folder", b"x", "../../etc/passwd")]
    body = b"".join(parts) + b"--limit--\r\n"
    answer = browse(bob).post("/publish/", body, content_type="multipart/form-data; boundary=limit")
    assert answer.status_code == 422
    assert b"etc/passwd" in answer.content


def test_other_bytes_under_the_same_number_are_refused_and_the_same_are_done(browse, bob):
    client = browse(bob)
    _post(client, "publish", archive=_zip())
    again = client.post("/publish/", {"team": "docs", "publish": "1", "archive": _zip()}, follow=True)
    assert parts(again, "message", kind="success", code="UNCHANGED")
    changed = tidy_files() | {"scripts/report.py": b"print(2)\n"}
    refused = _post(client, "publish", archive=_zip(changed))
    assert refused.status_code == 409
    assert part(refused, "refusal")["code"] == "VERSION_EXISTS"
    assert Version.objects.count() == 1


def test_a_larger_upload_than_the_site_takes_is_refused_before_it_is_read(browse, bob, settings):
    settings.SKILLQUAY_MAX_UNPACKED_BYTES = -(2**20)
    answer = _post(browse(bob), archive=_zip())
    assert answer.status_code == 413
    assert b"UPLOAD_TOO_LARGE" in answer.content


def test_too_many_files_are_refused_with_a_page(browse, bob, settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 2
    files = [SimpleUploadedFile(f"{n}.md", b"x") for n in range(4)]
    assert _post(browse(bob), folder=files).status_code == 413


def test_nothing_or_two_things_at_once_are_asked_about(browse, bob):
    assert part(part(_post(browse(bob)), "errors"), field="archive")["code"] == "required"
    assert part(_post(browse(bob), archive=_zip(), text="x"), "errors").values("code") == ["several"]


def test_a_form_without_the_csrf_token_is_refused(bob):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(bob)
    assert _post(client, "publish", archive=_zip()).status_code == 403
    assert not Version.objects.exists()


def test_a_hostile_package_makes_no_markup(browse, bob):
    page = _post(browse(bob), archive=_zip(hostile_files())).content.decode()
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "onload=" not in page.replace("&lt;svg onload=", "").replace("onload=alert(21)", "")


@pytest.mark.row("P2")
def test_who_sees_the_skill_is_asked_of_those_who_may_say(browse, alice, bob):
    assert 'name="visibility"' in browse(alice).get("/publish/").text
    page = browse(bob).get("/publish/").text
    assert 'name="visibility"' not in page
    assert parts(page, "private-note")
    _post(browse(bob), "publish", archive=_zip(), visibility="public")
    assert Skill.objects.get().visibility == "private"


def test_of_many_teams_the_form_suggests_some_and_accepts_any(browse, alice, team, monkeypatch):
    monkeypatch.setattr(team_choice, "MAX_LISTED_TEAMS", 2)
    monkeypatch.setattr(team_choice, "MAX_SUGGESTIONS", 1)
    for slug in ("emails", "reports"):
        Membership.objects.create(team=Team.objects.create(slug=slug, name=slug), user=alice, role=Role.OWNER)
    Team.objects.create(slug="others", name="Others")
    page = browse(alice).get("/publish/?team=reports")
    (field,) = select(page, "input", name="team")
    assert field["value"] == "reports"
    (suggested,) = select(page, "datalist", id=field["list"])
    assert [each["value"] for each in suggested.tags("option")] == ["docs"]
    for slug, errors in (("reports", []), ("others", ["invalid_choice"])):
        form = PublishForm({"team": slug, "text": "x"}, teams=publishing_teams(Actor(user=alice)))
        assert [each.code for each in form.errors.as_data().get("team", [])] == errors
