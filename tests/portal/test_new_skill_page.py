"""A skill is started on a page, looked at, downloaded, published for its team and tried."""

from __future__ import annotations

import pytest

from registry.models import Skill, Version
from registry.packages.authoring.new_skill import TEMPLATES
from registry.packages.read_package import read_upload
from tests.factories.skills import publish_files
from tests.pages import is_chinese, part, parts, select

pytestmark = [pytest.mark.django_db, pytest.mark.row("C1", "P3", "P8", "P11")]
TRIED = {"prompt": "use", "static": ""}


def _given(kind="python", **more):
    return {
        "template": kind,
        "name": "my-skill",
        "title": "",
        "description": "",
        "language": "en",
        "team": "docs",
        **more,
    }


def test_the_files_are_shown_and_can_be_downloaded_and_nothing_is_kept(browse, bob, team):
    client = browse(bob)
    page = client.post("/publish/new/", _given(title="统计", description='Says "x" & <y>', show="1"))
    assert page.status_code == 200
    assert "scripts/measure.py" in page.text
    assert "&lt;y&gt;" in page.text
    link = page.text.split('href="/api/v1/templates/archive')[1].split('"')[0].replace("&amp;", "&")
    package = read_upload(client.get("/api/v1/templates/archive" + link).content)
    assert (package.manifest.display_name, package.manifest.description) == ("统计", 'Says "x" & <y>')
    assert not Skill.objects.exists()


@pytest.mark.parametrize("kind", [kind.name for kind in TEMPLATES])
def test_publishing_leads_to_where_the_skill_is_tried(browse, bob, team, kind):
    answer = browse(bob).post("/publish/new/", _given(kind, publish="1"))
    tail = TRIED.get(kind, "run")
    assert answer.url == "/skills/docs/my-skill/" + (f"{tail}/" if tail else "")
    version = Version.objects.get()
    assert (version.number, version.skill.visibility, version.problems) == ("0.1.0", "private", [])
    page = browse(bob).get(answer.url)
    assert page.status_code == 200
    forms = select(page, "main")[0].select("form")
    own = [form for form in forms if not form.attributes.get("action", "").endswith("/pin/")]
    assert bool(own) == bool(tail)


@pytest.mark.parametrize("kind", ["bash", "agent"])
def test_kinds_are_grouped_and_rare_ones_folded_unless_one_is_selected(browse, bob, team, kind):
    groups = parts(browse(bob).get(f"/publish/new/?template={kind}"), "kinds")
    assert [group.tag for group in groups] == ["fieldset", "fieldset", "details"]
    names = [button["value"] for group in groups for button in group.select("input", type="radio")]
    assert sorted(names) == sorted(each.name for each in TEMPLATES)
    assert ("open" in groups[-1].attributes) == (kind == "agent")


def test_the_form_speaks_chinese_to_who_reads_chinese(browse, bob, team):
    page = browse(bob, "zh-hans").get("/publish/new/?template=bash&name=my-skill")
    assert 'value="zh" selected' in page.text
    assert 'value="bash" required' in page.text or 'value="bash"' in page.text
    assert 'value="my-skill"' in page.text
    browse(bob).post("/publish/new/", _given(language="zh", publish="1"))
    assert is_chinese(Skill.objects.get().description)


def test_what_is_wrong_is_said_at_its_field_and_nothing_typed_is_lost(browse, bob, team):
    page = browse(bob).post("/publish/new/", _given(name="My Skill", description="kept", publish="1"))
    assert page.status_code == 422
    error = part(part(page, "errors"), code="SKILL_NAME_INVALID", field="name")
    assert "My Skill" in error
    assert next(link["href"] for link in error.tags("a")) == "#id_name"
    assert "kept</textarea>" in page.text
    assert browse(bob).post("/publish/new/", _given(kind="poem")).status_code == 422
    assert not Skill.objects.exists()


def test_a_skill_of_the_team_is_never_started_over(browse, bob, team):
    publish_files({"SKILL.md": b"---\nname: my-skill\ndescription: Mine.\n---\n"}, team=team, user=bob)
    page = browse(bob).post("/publish/new/", _given(publish="1"))
    assert page.status_code == 409
    assert "docs/my-skill" in part(part(page, "errors"), code="SKILL_EXISTS", field="name")
    assert Version.objects.count() == 1


@pytest.mark.row("P2")
def test_only_ones_own_teams_are_offered(browse, charlie, team, django_user_model):
    assert browse().get("/publish/new/").url == "/sign-in/?next=/publish/new/"
    assert browse(charlie).post("/publish/new/", _given(publish="1")).status_code == 422
    assert not Skill.objects.exists()
    nobody = browse(django_user_model.objects.create_user("dora")).get("/publish/new/")
    assert part(nobody, "empty")["state"] == "no-team"
