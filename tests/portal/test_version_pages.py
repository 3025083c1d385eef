"""Versions by page: list, two side by side, yank and back, purge, rename; Charlie sees nothing."""

from __future__ import annotations

import pytest
from django.utils import timezone

from registry.identity.actors import Actor
from registry.models import AuditEntry, Skill
from registry.versions.lifecycle import yank as publishing_yank
from tests.factories.runs import make_run
from tests.factories.skills import publish_files, tidy_files
from tests.pages import actions, part, parts, select
from worker.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.row("P1")]
SKILL = "/skills/docs/weekly-report/"
DIFF = f"{SKILL}diff/1.2.0..1.3.0/"


@pytest.fixture
def two(team, bob, private):
    """docs/weekly-report in two versions; the later asks for the network and for another input."""
    files = tidy_files("1.3.0")
    manifest = files["SKILL.md"].replace(
        b"network: none", b"network: allowlist\n  network_allowlist: [api.example.org]"
    )
    manifest = manifest.replace(b"required: [notes, language]", b"required: [notes, language, limit]")
    files |= {
        "SKILL.md": manifest,
        "scripts/report.py": files["scripts/report.py"].replace(b"# Week", b"# This week"),
        "scripts/extra.py": b"print(1)\n",
        "references/house.md": files.pop("references/style.md"),
    }
    return publish_files(files, team=team, user=bob, changelog="Reads the net.").skill


def test_the_page_says_what_the_later_version_may_do_and_what_breaks(browse, bob, two):
    page = browse(bob).get(DIFF)
    assert parts(page, "more-permissions")
    assert parts(page, "breaking")
    assert "api.example.org" in page.text
    assert part(page, "schema-change", state="bad")["value"] == "/limit"
    assert parts(page, "file", state="added", value="scripts/extra.py")
    assert parts(page, "same-permissions") == []


def test_files_are_told_as_added_changed_and_renamed_with_the_words_that_changed(browse, bob, two):
    text = browse(bob).get(DIFF).text
    assert "references/style.md</bdi> → <bdi>references/house.md" in text
    assert "<mark>This week</mark>" in text or "<mark>This w</mark>" in text or "<mark>This " in text
    assert 'id="f4L5"' in text or "L5" in text


def test_one_file_has_a_page_of_its_own(browse, bob, two):
    text = browse(bob).get(f"{DIFF}?file=scripts/report.py").text
    assert "This" in text
    assert "scripts/extra.py" not in text
    assert browse(bob).get(f"{DIFF}?file=nowhere").status_code == 404


def test_the_same_version_twice_changes_nothing(browse, bob, two):
    page = browse(bob).get(f"{SKILL}diff/1.3.0..1.3.0/")
    assert parts(page, "same-permissions")
    assert parts(page, "same-files")


def test_two_are_chosen_by_a_form_without_scripts(browse, bob, two):
    answer = browse(bob).get(f"{SKILL}versions/", {"before": "1.2.0", "after": "1.3.0"})
    assert answer.status_code == 302
    assert answer["Location"] == DIFF


@pytest.mark.row("P2")
@pytest.mark.parametrize(
    "address", ["versions/", "diff/1.2.0..1.3.0/", "1.3.0/", "1.3.0/purge/", "settings/"]
)
def test_charlie_sees_nothing(browse, charlie, two, address):
    assert browse(charlie).get(SKILL + address).status_code == 404


@pytest.mark.row("P2")
@pytest.mark.parametrize("verb", ["yank", "deprecate", "channel", "changelog"])
def test_charlie_changes_nothing_and_bob_who_is_a_member_neither(browse, bob, charlie, two, verb):
    sent = {"reason": "x", "successor": "", "channel": "stable", "changelog": "x"}
    assert browse(charlie).post(f"{SKILL}1.3.0/{verb}/", sent).status_code == 404
    browse(bob).post(f"{SKILL}1.3.0/{verb}/", sent)
    assert not AuditEntry.objects.filter(
        action__in=("version.yank", "version.deprecate", "channel.set")
    ).exists()


def test_a_yank_is_struck_through_with_its_reason_and_can_be_undone(browse, alice, two):
    client = browse(alice)
    page = client.post(f"{SKILL}1.3.0/yank/", {"reason": "Counts twice."}, follow=True).text
    assert f'action="{SKILL}1.3.0/unyank/"' in page
    listing = client.get(f"{SKILL}versions/").text
    assert "<s><bdi>1.3.0</bdi></s>" in listing
    assert "Counts twice." in listing
    client.post(f"{SKILL}1.3.0/unyank/")
    assert "<s>" not in client.get(f"{SKILL}versions/").text


def test_buttons_name_a_version_that_is_not_the_latest(browse, alice, two):
    client = browse(alice)
    assert part(client.get(f"{SKILL}1.2.0/"), action="run").text == "Run 1.2.0"
    for address in (f"{SKILL}1.3.0/", SKILL):
        assert part(client.get(address), action="run").text == "Run"


def test_purge_page_has_no_other_actions_and_suggests_no_second_yank(browse, alice, two):
    client = browse(alice)
    page = client.get(f"{SKILL}1.2.0/purge/")
    assert {"run", "schedule", "edit", "pin"}.isdisjoint(actions(page))
    assert "yank it instead" in page.text
    client.post(f"{SKILL}1.2.0/yank/", {"reason": "Counts twice."})
    assert "yank it instead" not in client.get(f"{SKILL}1.2.0/purge/").text


def test_yanked_version_leads_to_the_runs_that_used_it(browse, alice, bob, team, two):
    client, runs = browse(alice), f"{SKILL}runs/?version=1.2.0"
    used = make_run(two.versions.get(number="1.2.0"), bob, team)
    make_run(two.latest, bob, team)
    client.post(f"{SKILL}1.2.0/yank/", {"reason": "Counts twice."})
    for page in (f"{SKILL}versions/", f"{SKILL}1.2.0/"):
        assert [link["href"] for link in part(client.get(page), "yanked").tags("a")] == [runs]
    assert [row["value"] for row in parts(client.get(runs), "run")] == [used.uid]


def test_a_reason_that_is_missing_is_asked_for(browse, alice, two):
    page = browse(alice).post(f"{SKILL}1.3.0/yank/", {"reason": ""}, follow=True).text
    assert parts(page, "message", kind="error")
    assert "<s>" not in browse(alice).get(f"{SKILL}versions/").text


def test_a_channel_is_shown_and_its_address_means_the_version(browse, alice, bob, two):
    browse(alice).post(f"{SKILL}1.2.0/channel/", {"channel": "stable"})
    assert ">stable</a>" in browse(bob).get(f"{SKILL}versions/").text
    assert part(browse(bob).get(f"{SKILL}stable/"), "not-latest")["value"] == "1.2.0"
    dialog = select(browse(alice).get(f"{SKILL}settings/"), "div", id="channel-stable")[0]
    assert dialog.tags("form")[0]["action"] == f"{SKILL}channels/stable/remove/"
    browse(alice).post(f"{SKILL}channels/stable/remove/")
    assert browse(bob).get(f"{SKILL}stable/").status_code == 404


def test_a_deprecated_version_leads_to_its_successor(browse, alice, bob, two):
    sent = {"reason": "Slow.", "successor": "1.3.0"}
    browse(alice).post(f"{SKILL}1.2.0/deprecate/", sent)
    note = part(browse(bob).get(f"{SKILL}1.2.0/"), "deprecated-version")
    assert "Slow." in note
    assert [link["href"] for link in note.tags("a")] == [f"{SKILL}1.3.0/"]


@pytest.mark.row("P12")
def test_a_purge_wants_the_name_typed_and_leaves_a_tombstone(browse, alice, bob, charlie, team, two):
    client, old = browse(alice), two.versions.get(number="1.2.0")
    make_run(old, bob, team)
    make_run(two.latest, bob, team)
    affected = part(client.get(f"{SKILL}1.2.0/purge/"), "affected")
    assert affected["value"] == f"{old.files.count()},1,0"
    assert [link["href"] for link in affected.tags("a")] == [f"{SKILL}runs/?version=1.2.0"]
    wrong = client.post(f"{SKILL}1.2.0/purge/", {"confirmation": "yes", "reason": "Secret."})
    assert "docs/weekly-report@1.2.0" in part(part(wrong, "errors"), field="confirmation")
    client.post(f"{SKILL}1.2.0/purge/", {"confirmation": "docs/weekly-report@1.2.0", "reason": "Secret."})
    stone = browse(bob).get(f"{SKILL}1.2.0/")
    assert stone.status_code == 410
    assert "Secret." in stone.text
    assert browse(charlie).get(f"{SKILL}1.2.0/").status_code == 404
    assert "Secret." in browse(bob).get(f"{SKILL}versions/").text


@pytest.mark.row("P12")
def test_a_purged_skill_is_gone_for_its_team_and_was_never_there_for_others(browse, alice, bob, charlie, two):
    sent = {"action": "purge", "confirmation": "docs/weekly-report", "reason": "Secret."}
    assert browse(alice).post(f"{SKILL}settings/", sent).status_code == 302
    assert browse(bob).get(SKILL).status_code == 410
    assert browse(charlie).get(SKILL).status_code == 404


def test_an_old_address_leads_to_the_same_page_at_the_new_one(browse, alice, bob, charlie, two):
    sent = {"action": "rename", "slug": "monthly-report", "team": "docs"}
    assert browse(alice).post(f"{SKILL}settings/", sent)["Location"] == "/skills/docs/monthly-report/"
    moved = browse(bob).get(f"{DIFF}?file=scripts/report.py")
    assert moved["Location"] == "/skills/docs/monthly-report/diff/1.2.0..1.3.0/?file=scripts/report.py"
    assert browse(bob).get(f"{SKILL}1.2.0/files/SKILL.md").status_code == 302
    assert browse(charlie).get(SKILL).status_code == 404


def test_a_merged_skill_leads_to_the_other(browse, alice, bob, public, two):
    sent = {"action": "merge", "into": "docs/kind-review"}
    assert browse(alice).post(f"{SKILL}settings/", sent).status_code == 302
    assert browse(bob).get(SKILL)["Location"] == "/skills/docs/kind-review/"


def test_a_skill_without_a_version_to_use_shows_those_there_are(browse, alice, bob, private):
    publishing_yank.yank(private.versions.get(), Actor(user=alice), reason="Wrong.")
    assert browse(bob).get(SKILL)["Location"] == f"{SKILL}versions/"
    assert "Wrong." in browse(bob).get(f"{SKILL}versions/").text
    assert "Wrong." in browse(bob).get(f"{SKILL}1.2.0/").text


def test_a_skill_is_deprecated_and_restored_from_its_settings(browse, alice, bob, public, two):
    sent = {"action": "deprecate", "reason": "Unused.", "successor": "docs/kind-review"}
    page = browse(alice).post(f"{SKILL}settings/", sent, follow=True).text
    assert f'action="{SKILL}settings/undeprecate/"' in page
    note = part(browse(bob).get(SKILL), "deprecated-skill")
    assert "Unused." in note
    assert [link["href"] for link in note.tags("a")] == ["/skills/docs/kind-review/"]
    browse(alice).post(f"{SKILL}settings/undeprecate/")
    assert Skill.objects.get(pk=two.pk).deprecated_at is None


def test_settings_tell_what_was_done_so_far(browse, alice, two):
    browse(alice).post(f"{SKILL}1.3.0/yank/", {"reason": "Counts twice."})
    text = browse(alice).get(f"{SKILL}settings/").text
    assert "version.yank" in text
    assert "Counts twice." in text


def test_a_stranger_s_text_does_nothing_in_a_comparison(browse, alice, team):
    from tests.factories.skills import hostile_files

    publish_files(hostile_files(), team=team, user=alice)
    files = hostile_files()
    files["SKILL.md"] = files["SKILL.md"].replace(b"1.0.0", b"1.1.0").replace(b"alert(5)", b"alert(55)")
    publish_files(files, team=team, user=alice)
    text = browse(alice).get("/skills/docs/hostile-skill/diff/1.0.0..1.1.0/").text
    assert "<script>alert" not in text
    assert "<mark>55</mark>" in text


@pytest.mark.row("P11")
def test_list_shows_the_runs_of_each_version_and_links_those_of_a_yanked_one(browse, alice, bob, team, two):
    old, new = two.versions.get(number="1.2.0"), two.versions.get(number="1.3.0")
    make_run(new, bob, team)
    make_run(old, bob, team, status="failed", failure_code="SCRIPT_FAILED")
    make_run(old, bob, team)
    publishing_yank.yank(old, Actor(user=alice), reason="Wrong.")
    row = part(browse(bob).get(f"{SKILL}versions/"), "version", value="1.2.0")
    assert "50%" in row
    assert [link["href"] for link in part(row, "yanked").tags("a")] == [f"{SKILL}runs/?version=1.2.0"]
    assert f"{Run.objects.latest('pk').created_at:%Y-%m-%d}" in part(row, "yanked").tags("a")[0]


@pytest.mark.row("P2")
def test_page_compares_with_the_next_lower_version_that_its_reader_may_see(browse, bob, charlie, two):
    Skill.objects.filter(pk=two.pk).update(visibility="public")
    compared = f'{SKILL}diff/1.2.0..1.3.0/"'
    assert all(compared in browse(reader).get(SKILL).text for reader in (bob, charlie, None))
    two.versions.filter(number="1.2.0").update(held_at=timezone.now(), released_at=None)
    assert compared in browse(bob).get(SKILL).text
    for reader in (charlie, None):
        page = browse(reader).get(SKILL)
        assert page.status_code == 200
        assert "diff/" not in page.text


def test_strip_has_a_bar_for_each_version_with_its_state(browse, alice, bob, team, two):
    client = browse(alice)
    assert not parts(client.get(f"{SKILL}versions/"), "version-strip")
    publish_files(tidy_files("1.2.1"), team=team, user=bob)
    client.post(f"{SKILL}1.2.0/yank/", {"reason": "Counts twice."})
    strip = part(client.get(f"{SKILL}versions/"), "version-strip")
    assert strip["value"] == "3"
    assert [link["href"] for link in strip.tags("a")] == [f"{SKILL}{n}/" for n in ("1.2.0", "1.3.0", "1.2.1")]
    assert [bar["class"] for bar in strip.tags("rect")] == ["warn", "ok", "ok"]
    assert [len(badge.tags("svg")) for badge in strip.select("span", class_="badge")] == [1, 1]
