"""A skill's pages: who may open them, what they say, and that a stranger's text does nothing."""

from __future__ import annotations

import re
from html import unescape

import pytest

from portal.pages.skill.presenters import readme
from registry.models import AuditEntry
from registry.usage.recording import record_use
from tests.factories.runs import make_run
from tests.factories.skills import hostile_files, publish_files, tidy_files
from tests.pages import part, parts, select
from worker.core import display_budget

pytestmark = pytest.mark.django_db
SKILL = "/skills/docs/weekly-report/"
TABS = ("", "versions/", "1.2.0/", "1.2.0/files/", "1.2.0/files/SKILL.md", "1.2.0/raw/SKILL.md")

FULL = """---
name: full-skill
displayName: 全部
description: Everything.
version: 1.2.3
type: direct
capabilities: [summarize]
tags: [a]
triggers: {intents: [i], phrases: [p], event_types: [e.f], priority: 0.8}
domain: law
category: tools
keywords: [天气]
input_schema: {type: object}
output_schema: {type: object}
protocol: vcp
security: {timeout_ms: 5000, memory_mb: 128, network: allowlist, network_allowlist: [api.example.com],
  filesystem: none, environment: {TZ: UTC}, secrets: [API_KEY]}
resources: {entry: scripts/execute.py, references: [references/a.pdf]}
cacheable: true
ttl: 300
requires_filesystem: false
when_to_use: often
allowed-tools: Read Grep
argument-hint: <file>
arguments: [path]
model: opus[1m]
effort: high
context: fork
agent: reviewer
user-invocable: false
disable-model-invocation: true
paths: [src/**]
hooks: {PreToolUse: [x]}
shell: [bash]
license: MIT
compatibility: any
metadata: {author: me}
colour: blue<b>
---
# Everything
"""
EXECUTE = b"def execute(parameters, context=None, config=None):\n    return {'output': 1}\n"
KNOWN = """
    name display_name description version type capabilities tags domain category keywords input_schema
    output_schema protocol cacheable ttl when_to_use allowed_tools argument_hint arguments model effort
    context agent disable_model_invocation paths hooks shell license compatibility metadata triggers.intents
    triggers.phrases triggers.event_types triggers.priority security.timeout_ms security.memory_mb
    security.network security.network_allowlist security.filesystem security.environment security.secrets
    resources.entry resources.references
"""


@pytest.mark.row("P2")
@pytest.mark.parametrize("tab", TABS)
def test_every_tab_opens_for_the_team_alone(browse, alice, bob, charlie, private, tab):
    for person in (alice, bob):
        assert browse(person).get(SKILL + tab).status_code == 200
    for person in (charlie, None):
        assert browse(person).get(SKILL + tab).status_code == 404


@pytest.mark.row("P2")
@pytest.mark.parametrize("tab", [*TABS, "settings/"])
def test_what_may_not_be_seen_answers_as_what_is_not_there(browse, charlie, private, tab):
    client = browse(charlie)
    hidden, absent = client.get(SKILL + tab), client.get(f"/skills/docs/weakly-report/{tab}")
    assert hidden.status_code == absent.status_code == 404
    assert strip(hidden.text.replace("weekly-report", "X")) == strip(
        absent.text.replace("weakly-report", "X")
    )


def strip(text: str) -> str:
    return re.sub(r'value="[A-Za-z0-9]{64}"|<code id="request-id"[^<]*', "", text)


@pytest.mark.row("P11")
def test_there_is_one_thing_to_press(browse, alice, private, public):
    assert select(browse(alice).get(SKILL), "a", class_="button primary", href=f"{SKILL}run/")
    assert select(
        browse(None).get("/skills/docs/kind-review/"),
        "a",
        class_="button primary",
        href="/skills/docs/kind-review/use/",
    )


@pytest.mark.row("C5")
def test_inputs_and_permissions_are_told_in_plain_words(browse, alice, private):
    page = browse(alice).get(SKILL)
    for text in ("The notes to read", "array of string"):
        assert text in page.text
    network, _files, time, memory = parts(page, "allowance")[:4]
    assert network["state"] == "ok"  # it needs none
    assert "30 s" in time
    assert "256 MB" in memory


@pytest.mark.row("D9")
def test_the_page_says_how_the_score_came_about(browse, alice, private):
    assert parts(browse(alice).get(SKILL), "empty", state="unused")
    record_use(private, "user:1", "run")
    score = part(browse(alice).get(SKILL), "score")
    assert score["value"] == "1.00"
    assert "1.0 = 1 × 1.00" in score


@pytest.mark.row("P7")
def test_install_lines_name_the_public_address_and_ask_for_a_token_only_where_one_is_needed(
    browse, alice, private, public, settings
):
    settings.SKILLQUAY_PUBLIC_URL = "https://skills.example.org"
    archive = "https://skills.example.org/api/v1/skills/docs/{}/archive"
    text = browse(alice).get(SKILL, headers={"host": "evil.example"}).text
    assert archive.format("weekly-report/versions/1.2.0") in text
    assert "$SKILLQUAY_TOKEN" in text
    assert "evil.example" not in text
    assert "npx skills add" not in text
    assert "$SKILLQUAY_TOKEN" in part(text, "install", value="install-mcp")
    assert "$SKILLQUAY_TOKEN" in part(text, "install", value="install-git")
    assert "/docs/all.private.git" in part(text, "install", value="install-claude")
    text = browse(None).get("/skills/docs/kind-review/").text
    mcp = part(text, "install", value="install-mcp")
    assert "https://skills.example.org/mcp" in mcp
    assert "$SKILLQUAY_TOKEN" not in mcp
    assert "/docs/all.git" in part(text, "install", value="install-codex")
    assert "/docs/kind-review.git --consent" in part(text, "install", value="install-gemini")
    assert next(each["value"] for each in parts(text, "install")) == "install-claude"
    assert "/docs/kind-review/0.1.0" in part(text, "install", value="install-skills-exact")
    before, _, after = text.partition(archive.format("kind-review/versions/0.1.0"))
    line = before.rpartition("<pre")[2] + after.partition("</pre>")[0]
    assert "curl" in line
    assert "unzip -o kind-review-0.1.0.zip -d .claude/skills/kind-review" in line
    assert "$SKILLQUAY_TOKEN" not in line


@pytest.mark.row("P1")
def test_the_line_that_starts_a_run_names_the_version_whose_page_it_stands_on(browse, bob, team, private):
    publish_files(tidy_files("2.0.0"), team=team, user=bob)
    said = '"version": "{}"'
    assert said.format("1.2.0") in unescape(browse(bob).get(f"{SKILL}1.2.0/").text)
    assert said.format("2.0.0") not in unescape(browse(bob).get(SKILL).text)


@pytest.mark.row("P1")
def test_versions_are_listed_highest_first_and_each_has_its_page(browse, bob, team, private):
    publish_files(tidy_files("1.10.0"), team=team, user=bob, changelog="Counts in tens.")
    text = browse(bob).get(f"{SKILL}versions/").text
    assert (
        text.index(">1.10.0") < text.index(">1.2.0")
        if ">1.10.0" in text
        else text.index("1.10.0/") < text.index("1.2.0/")
    )
    assert "Counts in tens." in text
    old = browse(bob).get(f"{SKILL}1.2.0/").text
    note = part(old, "not-latest", value="1.2.0")
    assert [(link["href"], "1.10.0" in link) for link in note.tags("a")] == [(SKILL, True)]
    assert f'href="{SKILL}run/?version=1.2.0"' in old


@pytest.mark.row("P1")
def test_files_are_shown_line_by_line_with_anchors(browse, alice, private):
    text = browse(alice).get(f"{SKILL}1.2.0/files/scripts/report.py").text
    assert 'id="L5"' in text
    assert '<span class="kn">import</span>' in text
    assert "report.py" in browse(alice).get(f"{SKILL}1.2.0/files/").text


def test_a_picture_is_shown_and_an_odd_file_is_offered_for_download(browse, alice, private):
    assert select(browse(alice).get(f"{SKILL}1.2.0/files/assets/chart.png"), "img")[0]["src"]
    raw = browse(alice).get(f"{SKILL}1.2.0/raw/assets/chart.png")
    assert raw["Content-Type"] == "image/png"


def test_raw_bytes_are_saved_not_opened(browse, alice, team):
    publish_files(hostile_files(), team=team, user=alice)
    for path in ("assets/evil.svg", "references/evil.html"):
        raw = browse(alice).get(f"/skills/docs/hostile-skill/1.0.0/raw/{path}")
        assert raw["Content-Type"] == "application/octet-stream"
        assert raw["Content-Disposition"].startswith("attachment")
        assert raw["X-Content-Type-Options"] == "nosniff"
        assert "sandbox" in raw["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["absent.md", "../SKILL.md", "scripts", "SKILL.md/"])
def test_a_file_that_is_not_there_is_not_found(browse, alice, private, path):
    for view in ("files", "raw"):
        assert browse(alice).get(f"{SKILL}1.2.0/{view}/{path}").status_code == 404


@pytest.mark.row("P2")
def test_maintainers_say_who_sees_a_skill_and_members_do_not(browse, alice, bob, charlie, private):
    assert browse(bob).post(f"{SKILL}settings/", {"visibility": "public"}).status_code == 403
    assert browse(None).post(f"{SKILL}settings/", {"visibility": "public"}).status_code == 302
    private.refresh_from_db()
    assert private.visibility == "private"
    assert browse(alice).post(f"{SKILL}settings/", {"visibility": "site"}).status_code == 302
    assert browse(charlie).get(SKILL).status_code == 200
    assert AuditEntry.objects.filter(action="skill.visibility", user=alice).count() == 1


def test_hostile_text_is_text_on_every_page(browse, alice, team):
    publish_files(hostile_files(), team=team, user=alice)
    root = "/skills/docs/hostile-skill/"
    client = browse(alice)
    files = [f"{root}1.0.0/files/{name}" for name in hostile_files()]
    for address in ("/", "/skills/", root, f"{root}versions/", f"{root}1.0.0/files/", "/teams/docs/", *files):
        text = client.get(address).text
        assert not re.search(r"<(script(?!\s+src=\"/static/)|svg [^>]*onload|img src=x|b>)", text), address
        assert not re.search(r"href=\"\s*(javascript|data|vbscript)", text, re.I), address
        assert "\u202e" not in text, address
        assert "\x1b" not in text, address
        assert not re.search(r"<[^>]*https://evil", text), address


@pytest.mark.row("A4")
def test_scripts_are_listed_by_phase_with_what_has_no_file(browse, alice, team):
    files = tidy_files() | {
        "phases/01-write.md": b"# Write\n\n## Scripts\n\n- report\n- absent\n",
        "actions/send.md": b"# Send\n\n## Scripts\n\n- report\n",
        "specs/format.md": b"# Format\n\nSee [the style](references/style.md). <script>alert(1)</script>\n",
    }
    publish_files(files, team=team, user=alice)
    document = browse(alice).get("/api/v1/skills/docs/weekly-report/versions/latest").json()
    action, phase = document["phases"]
    assert (phase["path"], action["path"]) == ("phases/01-write.md", "actions/send.md")
    assert [(one["id"], one["missing"]) for one in action["scripts"]] == [("report", False)]
    for address in ("/api/v1/skills/docs/weekly-report/versions/latest", SKILL + document["version"]):
        served = browse(alice).get(f"{address}/files/actions/send.md")
        assert b"Send" in served.getvalue(), address
    assert [(one["id"], one["missing"]) for one in phase["scripts"]] == [("report", False), ("absent", True)]
    assert document["specs"] == ["specs/format.md"]
    specs = part(browse(alice).get(SKILL), "specs")
    (link,) = specs.tags("a")
    page = browse(alice).get(link["href"])
    shown = part(page, "document")
    assert [heading.text for heading in shown.tags("h2")] == ["Format"]
    assert [each["href"].partition("/files/")[2] for each in shown.tags("a")] == ["references/style.md"]
    assert not shown.tags("script")
    assert page.text.count("alert(1)") == 2  # as text in the document and in the source
    other = browse(alice).get(link["href"].replace("specs/format.md", "references/style.md"))
    assert not parts(other, "document")
    for tab in ("", "run/"):
        phases = part(browse(alice).get(SKILL + tab), "phases")
        names = phases.tags("bdi")
        rows = ["actions/send.md", "report", "phases/01-write.md", "report", "absent"]
        assert [name.text for name in names] == rows
        assert len(parts(phases, "missing")) == 1


@pytest.mark.row("C1", "C2", "C7", "D1")
def test_every_field_of_the_front_matter_is_on_the_page_and_in_the_api(browse, alice, team):
    publish_files(
        {"SKILL.md": FULL.encode(), "scripts/execute.py": EXECUTE, "references/a.pdf": b"%PDF"},
        team=team,
        user=alice,
    )
    client = browse(alice)
    page = re.sub("</?bdi>", "", unescape(client.get("/skills/docs/full-skill/").text))
    document = client.get("/api/v1/skills/docs/full-skill/versions/latest").json()["manifest"]
    for name in KNOWN.split():
        assert f"<code>{name}</code>" in page, name
        group, _dot, inner = name.partition(".")
        assert document[group][inner] if inner else document[group] not in ("", [], None, {}), name
    assert "<code>colour</code>" in page
    assert [field["value"] for field in parts(page, "field", state="unknown")] == ["colour"]
    assert document["extra"]["colour"] == "blue<b>"
    assert "blue<b>" not in client.get("/skills/docs/full-skill/").text


def test_readme_cut_for_lack_of_time_is_not_cached(private, monkeypatch):
    readme.READMES.clear()
    with monkeypatch.context() as patched:
        patched.setattr(display_budget, "MAX_CPU_S", 0.0)
        assert "<pre" in readme.readme_html(private.latest)
    whole = readme.readme_html(private.latest)
    assert whole.startswith("<p>")  # without the title that repeats the name of the skill
    assert readme.readme_html(private.latest) is whole


@pytest.mark.row("P11")
def test_overview_shows_the_strip_of_the_runs_visible_to_the_reader(
    browse, alice, bob, charlie, team, public
):
    page = "/skills/docs/kind-review/"
    make_run(public.latest, bob, team)
    make_run(public.latest, bob, team, status="failed", failure_code="SCRIPT_FAILED")
    strip = part(browse(alice).get(page), "strip")
    assert (strip["value"], strip["href"]) == ("50", f"{page}runs/")
    assert part(browse(alice).get(f"{page}0.1.0/"), "strip")["href"] == f"{page}runs/?version=0.1.0"
    assert part(browse(charlie).get(page), "strip").tags("rect") == []
    assert parts(browse(None).get(page), "strip") == []


@pytest.mark.row("P11")
def test_overview_shows_the_other_profiles_to_members_only(browse, bob, charlie, public):
    page = "/skills/docs/kind-review/"
    assert parts(browse(bob).get(page), "compatibility")
    for person in (charlie, None):
        assert not parts(browse(person).get(page), "profile")


@pytest.mark.row("P11")
def test_pin_button_shows_whether_the_skill_is_pinned(browse, bob, public):
    page, client = "/skills/docs/kind-review/", browse(bob)
    pressed = [select(client.get(page), "button", **{"data-action": "pin"})[0]["aria-pressed"]]
    client.post(f"{page}pin/")
    pressed.append(select(client.get(page), "button", **{"data-action": "pin"})[0]["aria-pressed"])
    assert pressed == ["false", "true"]
    assert not select(browse(None).get(page), "button", **{"data-action": "pin"})


@pytest.mark.row("P1")
def test_link_to_install_links_names_the_skill(browse, alice, private):
    for path in (SKILL, f"{SKILL}1.2.0/"):
        link = select(browse(alice).get(path), "a", **{"data-action": "install-link"})[0]
        assert link["href"].endswith(f"?target={private}")


@pytest.mark.row("P1")
def test_link_to_install_links_is_hidden_from_anonymous_users(browse, public):
    assert not select(browse().get("/skills/docs/kind-review/"), "a", **{"data-action": "install-link"})
