"""Main paths of the site's administrators."""

from __future__ import annotations

from django.utils import timezone

from registry.models import Skill, User, Version
from tests.browser.main_paths import main_path
from tests.browser.visitor import Visitor
from worker.models import Examination


@main_path("site/", "site/audit/", person="admin")
def filter_the_audit_log(visitor: Visitor) -> None:
    visitor.open("/site/")
    visitor.press(".tabs a[href='/site/audit/']")
    visitor.arrive("**/site/audit/")
    visitor.unfold_filters()
    visitor.fill("[name=person]", "alice")
    visitor.press("[data-part=filters] button")
    visitor.arrive("**/site/audit/?person=alice*")
    visitor.see("[data-part=activity]", examine=False)


@main_path("site/retention/", person="admin")
def preview_the_retention_of_the_site(visitor: Visitor) -> None:
    visitor.open("/site/retention/")
    visitor.fill("[name=keep_last]", "500")
    visitor.press("[name=step][value=preview]")
    visitor.see("[data-action=save]")


@main_path("site/users/", person="admin")
def create_a_user(visitor: Visitor) -> None:
    name = visitor.site.new_name("erin")
    visitor.open("/site/users/")
    visitor.fill("[name=create-username]", name)
    visitor.press("[data-action=create-user]")
    visitor.see("[data-part=created]")
    assert User.objects.filter(username=name).exists()


@main_path("site/users/<str:uid>/", person="admin")
def deactivate_a_user(visitor: Visitor) -> None:
    user = visitor.site.new_user()
    visitor.open(f"/site/users/{user.uid}/")
    visitor.confirm("confirm-deactivate")
    visitor.expect_message()
    visitor.press("[data-action=reactivate]")
    visitor.expect_message()
    assert User.objects.get(pk=user.pk).is_active


@main_path("glossary/", person="admin")
def teach_a_word(visitor: Visitor) -> None:
    word = visitor.site.new_name("word").replace("-", "")
    visitor.open("/glossary/")
    visitor.fill("[name=text]", f"{word}, weekly report")
    visitor.press("section.card form button.primary")
    visitor.expect_message()


@main_path("held/", "skills/<slug:team>/<slug:slug>/<str:number>/findings/", person="admin")
def release_a_held_version(visitor: Visitor) -> None:
    version = visitor.site.publish()
    Version.objects.filter(pk=version.pk).update(held_at=timezone.now(), released_at=None)
    visitor.open("/held/")
    visitor.press(f"main [data-action=review][href*='/{version.skill.slug}/1.0.0/findings/']")
    visitor.arrive("**/findings/")
    visitor.fill("[name=reason]", "The report is wrong.")
    visitor.press("[data-action=release]")
    visitor.expect_message()
    assert not Version.objects.get(pk=version.pk).is_held


@main_path("canonical/", "canonical/new/", "canonical/<slug:slug>/", person="admin")
def set_a_canonical_version(visitor: Visitor) -> None:
    version = visitor.site.publish()
    Skill.objects.filter(pk=version.skill_id).update(visibility="public")
    visitor.open("/canonical/")
    visitor.press("main a[href='/canonical/new/']")
    visitor.arrive("**/canonical/new/")
    visitor.fill("[name=skill]", str(version.skill))
    visitor.press("[data-action=preview]")
    visitor.see("[name=reason]")
    visitor.fill("[name=reason]", "Most used")
    visitor.press("main form[method=post] button.primary")
    visitor.arrive(f"**/canonical/{version.skill.slug}/")


@main_path("canonical/new/mirror/", person="admin")
def mirror_a_repository(visitor: Visitor) -> None:
    slug = visitor.site.new_name("mirrored")
    visitor.open("/canonical/new/mirror/")
    visitor.fill("[name=slug]", slug)
    visitor.fill("[name=location]", "https://git.example.org/tools.git")
    visitor.choose("[name=team]", visitor.site.team.slug)
    visitor.fill("[name=reason]", "Most used")
    visitor.press("main form button.primary")
    visitor.expect_message()


@main_path("site/sandbox/", person="admin")
def examine_the_sandbox(visitor: Visitor) -> None:
    Examination.objects.all().delete()
    visitor.open("/site/sandbox/")
    visitor.press("[data-action=examine]")
    visitor.see("[data-part=progress][data-state=queued]", examine=False)
    assert Examination.objects.count() == 1
    Examination.objects.all().delete()
