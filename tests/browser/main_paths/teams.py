"""Main paths of a team's pages."""

from __future__ import annotations

from registry.accounts import service_accounts
from registry.models import Membership, Role, Secret, Team, Token
from tests.browser.main_paths import main_path
from tests.browser.visitor import Visitor
from tests.demo.pages import TEAM
from worker.models import Memory, NotificationSubscription

_FORM = "main .card form button.primary"


@main_path("teams/", "teams/new/")
def create_a_team(visitor: Visitor) -> None:
    slug = visitor.site.new_name("team")
    visitor.open("/teams/")
    visitor.press(".page-title a[href='/teams/new/']")
    visitor.arrive("**/teams/new/")
    visitor.fill("[name=name]", "New team")
    visitor.fill("[name=slug]", slug)
    visitor.press("main form button.primary")
    visitor.arrive(f"**/teams/{slug}/")
    Team.objects.get(slug=slug).delete()  # Other paths of this person count teams.


@main_path("teams/<slug:slug>/")
def open_a_skill_of_the_team(visitor: Visitor) -> None:
    visitor.open(f"/teams/{TEAM}/")
    visitor.press("[data-part=skill] a")
    visitor.arrive(f"**/skills/{TEAM}/*/")


@main_path("teams/<slug:slug>/members/")
def add_a_member(visitor: Visitor) -> None:
    user = visitor.site.new_user()
    visitor.open(f"/teams/{TEAM}/members/")
    visitor.fill("[name=user]", user.username)
    visitor.choose("[name=role]:not([id^=role-])", "maintainer")
    visitor.press(_FORM)
    visitor.expect_message()
    assert Membership.objects.get(user=user).role == "maintainer"


@main_path("teams/<slug:slug>/leave/", person="")
def leave_a_team(visitor: Visitor) -> None:
    user, team = visitor.site.new_user(), visitor.site.team
    Membership.objects.create(user=user, team=team, role=Role.MEMBER)
    visitor.sign_in_as(user)
    visitor.open(f"/teams/{TEAM}/leave/")
    visitor.press("[data-action=leave]")
    visitor.expect_message()
    assert not Membership.objects.filter(user=user).exists()


@main_path("teams/<slug:slug>/activity/")
def filter_the_activity(visitor: Visitor) -> None:
    visitor.open(f"/teams/{TEAM}/activity/")
    visitor.unfold_filters()
    visitor.fill("[name=person]", "alice")
    visitor.press("[data-part=filters] button")
    visitor.arrive("**/activity/?person=alice*")
    visitor.see("[data-part=activity]", examine=False)


@main_path("teams/<slug:slug>/settings/")
def change_the_settings(visitor: Visitor) -> None:
    visitor.open(f"/teams/{TEAM}/settings/")
    wanted = "all" if visitor.site.team.memory_review != "all" else "team"
    visitor.tick(f"[name=memory_review][value={wanted}]")
    visitor.press("main form button.primary")
    visitor.expect_message()
    assert visitor.site.team.memory_review == wanted


@main_path("teams/<slug:slug>/rules/")
def add_a_rule(visitor: Visitor) -> None:
    name = visitor.site.new_name("data-platform/rule")
    visitor.open(f"/teams/{TEAM}/rules/")
    visitor.tick("[name=effect][value=deny]")
    visitor.fill("[name=name]", name)
    visitor.press("[data-action=add-rule]")
    visitor.see(f"[data-part=rule][data-value='{name}']")


@main_path("teams/<slug:slug>/secrets/")
def store_a_secret(visitor: Visitor) -> None:
    name = visitor.site.new_name("KEY").upper().replace("-", "_")
    visitor.open(f"/teams/{TEAM}/secrets/")
    visitor.fill("[name=name]", name)
    visitor.fill("[name=value]", "s3cret")
    visitor.press(_FORM)
    visitor.expect_message()
    assert Secret.objects.filter(name=name).exists()


@main_path("teams/<slug:slug>/limits/", person="admin")
def set_a_limit(visitor: Visitor) -> None:
    visitor.open(f"/teams/{TEAM}/limits/")
    visitor.fill("[data-part=set-limits] input[type=number]", "900")
    visitor.press("[data-part=set-limits] button")
    visitor.expect_message()


@main_path("teams/<slug:slug>/retention/")
def preview_retention(visitor: Visitor) -> None:
    visitor.open(f"/teams/{TEAM}/retention/")
    visitor.fill("[name=keep_last]", "500")
    visitor.press("[name=step][value=preview]")
    visitor.see("[data-action=save]")


@main_path("teams/<slug:slug>/notifications/")
def subscribe_a_team(visitor: Visitor) -> None:
    address = f"http://127.0.0.1:9/{visitor.site.new_name('hook')}"
    visitor.open(f"/teams/{TEAM}/notifications/")
    visitor.choose("[name=channel]", "slack")
    visitor.tick("[name=kinds][value=run_failed]")
    visitor.fill("[name=address]", address)
    visitor.press("[data-action=subscribe]")
    visitor.see("[data-part=subscription]")
    NotificationSubscription.objects.filter(team=visitor.site.team).delete()


@main_path("teams/<slug:slug>/memory/", "memory/<str:uid>/")
def delete_a_memory_of_the_team(visitor: Visitor) -> None:
    memory = visitor.site.remember(team=visitor.site.team)
    visitor.open(f"/teams/{TEAM}/memory/")
    visitor.press(f"main a[href='/memory/{memory.uid}/']")
    visitor.arrive(f"**/memory/{memory.uid}/")
    visitor.press("[data-action=delete]")
    visitor.expect_message()
    visitor.press("[data-action=undo]")
    visitor.expect_message()
    assert Memory.objects.get(pk=memory.pk).deleted_at is None


@main_path("teams/<slug:slug>/memory/clear/")
def clear_the_memory_of_the_team(visitor: Visitor) -> None:
    visitor.site.remember(team=visitor.site.team)
    visitor.open(f"/teams/{TEAM}/memory/clear/")
    visitor.press("main form button.danger")
    visitor.expect_message()


@main_path("teams/<slug:slug>/service-accounts/")
def create_a_service_account(visitor: Visitor) -> None:
    name = visitor.site.new_name("robot")
    visitor.open(f"/teams/{TEAM}/service-accounts/")
    visitor.fill("[name=name]", name)
    visitor.press(_FORM)
    visitor.arrive(f"**/teams/{TEAM}/service-accounts/0*/")
    visitor.see("[data-part=service-badge]", examine=False)


@main_path("teams/<slug:slug>/service-accounts/<str:uid>/")
def create_a_token_of_a_service_account(visitor: Visitor) -> None:
    site, name = visitor.site, visitor.site.new_name("token")
    account = service_accounts.create(site.team, site.new_name("robot"), Role.MEMBER, site.actor()).user
    visitor.open(f"/teams/{TEAM}/service-accounts/{account.uid}/")
    visitor.fill("[name=name]", name)
    visitor.tick("[name=scopes][value=run]")
    visitor.press("main form:has([name=scopes]) button.primary")
    visitor.see("[data-part=secret]")
    assert Token.objects.get(name=name).owner == account
