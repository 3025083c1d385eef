"""Main paths of the catalog, of skills and their versions, of collections and of publishing."""

from __future__ import annotations

from registry.models import Collection, Skill, Version
from tests.browser.main_paths import main_path
from tests.browser.visitor import Visitor
from tests.demo.pages import SKILL, TEAM
from tests.factories.archives import zip_of
from worker.models import Run

_ROOT = f"/skills/{TEAM}/{SKILL}"


@main_path("skills/", "skills/<slug:team>/<slug:slug>/")
def find_a_skill(visitor: Visitor) -> None:
    visitor.open("/skills/")
    visitor.fill("#q", "csv profile")
    if visitor.form.uses_keyboard:
        visitor.page.keyboard.press("Enter")
    else:
        visitor.press("main form:has(#q) button")
    visitor.arrive("**/skills/?q=csv+profile*")
    visitor.press(f"main a[href='{_ROOT}/']")
    visitor.arrive(f"**{_ROOT}/")
    visitor.press(f".page-title a[href^='{_ROOT}/run/']")
    visitor.arrive(f"**{_ROOT}/run/*")


@main_path("skills/match/test/")
def test_a_sentence(visitor: Visitor) -> None:
    visitor.open("/skills/match/test/")
    visitor.fill("[name=q]", "check an invoice against its order")
    visitor.press("main form button.primary")
    visitor.see("[data-part=match]")


@main_path("skills/listing/")
def list_for_an_agent(visitor: Visitor) -> None:
    visitor.open("/skills/listing/")
    visitor.fill("[name=context_tokens]", "8000")
    visitor.press("main form button.primary")
    visitor.arrive("**/skills/listing/?context_tokens=8000*")
    visitor.see("[data-part=stage]", examine=False)


@main_path("skills/collisions/")
def filter_collisions(visitor: Visitor) -> None:
    visitor.open("/skills/collisions/")
    visitor.choose("[name=team]", TEAM)
    visitor.press("main form button")
    visitor.arrive(f"**/skills/collisions/?team={TEAM}")


@main_path("find/")
def find_everything(visitor: Visitor) -> None:
    """Without scripts, the palette is this page."""
    visitor.open("/find/")
    visitor.fill("main #q", "csv")
    visitor.press("main form button.primary")
    visitor.arrive("**/find/?q=csv")
    visitor.press(f"main a[href='{_ROOT}/']")
    visitor.arrive(f"**{_ROOT}/")


@main_path("skills/<slug:team>/<slug:slug>/use/")
def choose_how_to_use_a_skill(visitor: Visitor) -> None:
    visitor.open(f"{_ROOT}/use/")
    visitor.tick("#install-codex-tab")
    visitor.see("[data-part=install] pre")


@main_path("skills/<slug:team>/<slug:slug>/usage/")
def follow_a_cause(visitor: Visitor) -> None:
    visitor.open(f"{_ROOT}/usage/")
    visitor.press("[data-part=cause] a")
    visitor.see("main", examine=True)
    assert "/usage/" not in visitor.page.url


@main_path(
    "skills/<slug:team>/<slug:slug>/versions/",
    "skills/<slug:team>/<slug:slug>/diff/<str:before>..<str:after>/",
)
def compare_versions(visitor: Visitor) -> None:
    visitor.open(f"{_ROOT}/versions/")
    visitor.tick("[name=before][value='1.0.0']")
    visitor.tick("[name=after][value='1.2.0']")
    visitor.press("[data-action=compare]")
    visitor.arrive(f"**{_ROOT}/diff/1.0.0..1.2.0/")


@main_path("skills/<slug:team>/<slug:slug>/<str:number>/")
def yank_a_version(visitor: Visitor) -> None:
    version = visitor.site.publish()
    visitor.open(f"/skills/{version.skill}/1.0.0/")
    visitor.press("[data-part=yank] > summary")
    visitor.fill("#yank-reason", "Counts twice.")
    visitor.press("[data-action=yank]")
    visitor.expect_message()
    visitor.press("[data-action=undo]")
    visitor.expect_message()
    assert Version.objects.get(pk=version.pk).yanked_at is None


@main_path(
    "skills/<slug:team>/<slug:slug>/<str:number>/files/",
    "skills/<slug:team>/<slug:slug>/<str:number>/files/<path:path>",
)
def read_a_file(visitor: Visitor) -> None:
    visitor.open(f"{_ROOT}/1.2.0/files/")
    visitor.press(".tree a[href$='/scripts/main.py']")
    visitor.arrive("**/files/scripts/main.py")
    visitor.press("main .source a >> nth=1")
    visitor.arrive("**/files/scripts/main.py#*")


@main_path("skills/<slug:team>/<slug:slug>/<str:number>/edit/")
def edit_a_version(visitor: Visitor) -> None:
    version = visitor.site.publish()
    visitor.open(f"/skills/{version.skill}/1.0.0/edit/")
    text = visitor.page.input_value("[name=text-0]")
    visitor.fill("[name=text-0]", text.replace("Counts rows.", "Counts all rows."))
    visitor.press("aside button[name=check]")
    visitor.see("[data-part=preview][data-state=ready]")
    visitor.press("button[form=edit][name=publish]")
    visitor.expect_message()
    assert version.skill.versions.filter(number="1.0.1").exists()


@main_path("skills/<slug:team>/<slug:slug>/<str:number>/purge/")
def purge_a_version(visitor: Visitor) -> None:
    version = visitor.site.publish()
    visitor.open(f"/skills/{version.skill}/1.0.0/purge/")
    visitor.fill("[name=confirmation]", f"{version.skill}@1.0.0")
    visitor.fill("[name=reason]", "Contains a key.")
    visitor.press("[data-action=purge]")
    visitor.expect_message()


@main_path("skills/<slug:team>/<slug:slug>/<str:number>/report/")
def report_a_version(visitor: Visitor) -> None:
    version = visitor.site.publish()
    visitor.open(f"/skills/{version.skill}/1.0.0/report/")
    visitor.tick("[name=reason][value=broken]")
    visitor.fill("[name=text]", "Fails on empty files.")
    visitor.press("main form button.danger")
    visitor.expect_message()


@main_path("skills/<slug:team>/<slug:slug>/feedback/")
def add_a_trigger_test(visitor: Visitor) -> None:
    version = visitor.site.publish()
    visitor.open(f"/skills/{version.skill}/feedback/")
    visitor.fill("[name=utterance]", "count my rows")
    visitor.tick("[name=must_match][value=yes]")
    visitor.press("main form:has([name=utterance]) button")
    visitor.see("[data-part=trigger-test]")


@main_path("skills/<slug:team>/<slug:slug>/settings/")
def change_the_visibility(visitor: Visitor) -> None:
    version = visitor.site.publish()
    visitor.open(f"/skills/{version.skill}/settings/")
    visitor.tick("[name=visibility][value=site]")
    visitor.press("main form:has([name=visibility]) button")
    visitor.expect_message()
    assert Skill.objects.get(pk=version.skill_id).visibility == "site"


@main_path(
    "collections/",
    "collections/new/",
    "collections/<slug:team>/<slug:collection>/",
)
def create_a_collection(visitor: Visitor) -> None:
    slug = visitor.site.new_name("set")
    visitor.open("/collections/")
    visitor.press("[data-action=new]")
    visitor.arrive("**/collections/new/")
    visitor.choose("[name=team]", TEAM)
    visitor.fill("[name=slug]", slug)
    visitor.fill("[name=title]", "Set")
    visitor.fill("[name=skills]", f"{TEAM}/{SKILL}")
    visitor.press("main form button.primary")
    visitor.arrive(f"**/collections/{TEAM}/{slug}/")
    visitor.see("[data-part=member]", examine=False)


@main_path("collections/<slug:team>/<slug:collection>/edit/")
def edit_a_collection(visitor: Visitor) -> None:
    title = visitor.site.new_name("Title")
    visitor.open(f"/collections/{TEAM}/start/edit/")
    visitor.fill("[name=title]", title)
    visitor.press("main form button.primary")
    visitor.arrive(f"**/collections/{TEAM}/start/")
    assert Collection.objects.get(slug="start").title == title


@main_path("publish/")
def publish_a_package(visitor: Visitor) -> None:
    slug = visitor.site.new_name("package")
    text = f"---\nname: {slug}\ndescription: Counts rows.\nversion: 1.0.0\n---\nCounts rows.\n"
    visitor.open(f"/publish/?team={TEAM}")
    visitor.attach("[name=archive]", f"{slug}.zip", zip_of({"SKILL.md": text}))
    visitor.press("#publish [name=check]")
    visitor.see("[data-part=preview][data-state=ready]")
    visitor.press("[name=publish]")
    visitor.expect_message()
    assert Skill.objects.filter(slug=slug).exists()


@main_path("publish/new/")
def create_a_skill(visitor: Visitor) -> None:
    slug = visitor.site.new_name("made")
    visitor.open("/publish/new/")
    visitor.tick("[name=template][value=bash]")
    visitor.fill("[name=name]", slug)
    visitor.choose("[name=team]", TEAM)
    visitor.press("button.primary[name=show]")
    visitor.see("[data-part=preview]")
    visitor.press("button[form=start][name=publish]")
    visitor.expect_message()
    assert Skill.objects.filter(slug=slug).exists()


@main_path("docs/", "docs/<path:path>/")
def read_the_documentation(visitor: Visitor) -> None:
    visitor.open("/docs/")
    visitor.fill("main #q", "idempotency")
    visitor.press("main form button")
    visitor.press("[data-part=hit] a")
    visitor.see("[data-part=document]")
    visitor.press("a[rel=next]")
    visitor.see("[data-part=document] h2")


@main_path("docs/reference/errors/", "docs/reference/errors/<str:name>/")
def look_up_an_error(visitor: Visitor) -> None:
    visitor.open("/docs/reference/errors/")
    visitor.fill("main #q", "VERSION_EXISTS")
    visitor.press("main form button")
    visitor.press("main a[href$='/VERSION_EXISTS/']")
    visitor.see("[data-part=error-code]")


@main_path("api/docs/")
def read_about_an_endpoint(visitor: Visitor) -> None:
    """The page needs scripts, and leads visitors without to the reference."""
    visitor.checks_access = False  # test_docs_pages.py examines it, without a minor rule
    visitor.open("/api/docs/")
    if visitor.form.has_scripts:
        visitor.press("#swagger-ui .opblock-tag button.expand-operation")
        visitor.press("#swagger-ui .opblock button.opblock-summary-control")
        visitor.see("#swagger-ui .opblock.is-open")
    else:
        visitor.press("[data-part=needs-scripts] a")
        visitor.arrive("**/docs/reference/api/")


@main_path("styleguide/")
def open_a_dialog(visitor: Visitor) -> None:
    visitor.open("/styleguide/")
    visitor.press("[popovertarget=confirm-sample]:not([popovertargetaction])")
    visitor.see("#confirm-sample [data-action=confirm]")
    visitor.page.keyboard.press("Escape")
    visitor.page.locator("#confirm-sample").wait_for(state="hidden")


@main_path("")
def open_a_failed_run_from_home(visitor: Visitor) -> None:
    visitor.open("/")
    visitor.press("[data-part=failing-skill] a")
    visitor.see("h1")
    assert Run.objects.exists()
