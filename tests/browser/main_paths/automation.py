"""Main paths of events, imports, schedules, notifications, memory, failures and approvals."""

from __future__ import annotations

from registry.events.receive import IncomingEvent, receive
from registry.models import Event, EventSubscription, Import, Source
from tests.browser.main_paths import main_path
from tests.browser.visitor import Visitor
from tests.demo.pages import SKILL, TEAM
from tests.factories.archives import zip_of
from worker.delivery import subscriptions
from worker.delivery.subscriptions import SubscriptionOptions
from worker.models import (
    Approval,
    ApprovalDecision,
    ErrorGroup,
    Memory,
    MemoryWrite,
    NotificationSubscription,
    RunStatus,
    Schedule,
)
from worker.schedules import change as schedules
from worker.schedules.change import ScheduleOptions

_CREATE = "section.card form button.primary"


@main_path("approvals/", "approvals/decided/")
def approve_a_run(visitor: Visitor) -> None:
    run = visitor.site.ask()
    visitor.open(f"/approvals/?skill={run.skill_label.replace('/', '%2F')}")
    visitor.press("[data-action=approve]")
    visitor.expect_message()
    run.refresh_from_db()
    assert run.status == RunStatus.QUEUED
    visitor.press(".tabs a[href='/approvals/decided/']")
    visitor.arrive("**/approvals/decided/")
    visitor.see(f"main a[href='/runs/{run.uid}/']", examine=False)


@main_path()
def deny_a_run(visitor: Visitor) -> None:
    run = visitor.site.ask()
    visitor.open(f"/approvals/?skill={run.skill_label.replace('/', '%2F')}")
    visitor.press(f"[popovertarget='deny-{run.uid}']:not([popovertargetaction])")
    visitor.fill(f"#reason-{run.uid}", "Not on a Friday.")
    visitor.press(f"#deny-{run.uid} [data-action=deny]")
    visitor.expect_message()
    assert Approval.objects.get(run=run).decision == ApprovalDecision.DENIED


@main_path("events/")
def send_an_event(visitor: Visitor) -> None:
    kind = visitor.site.new_name("report").replace("-", ".")
    visitor.open("/events/")
    visitor.choose("[name=team]", TEAM)
    visitor.fill("[name=type]", kind)
    visitor.fill("[name=payload]", '{"title": "Week 48"}')
    visitor.press("[data-action=send-event]")
    visitor.arrive("**/events/0*/")
    assert Event.objects.filter(type=kind).exists()


@main_path("events/<str:uid>/")
def start_a_run_for_an_event(visitor: Visitor) -> None:
    site, kind = visitor.site, visitor.site.new_name("report").replace("-", ".")
    site.publish(front=f"triggers: {{event_types: [{kind}]}}\n")
    event = receive(
        IncomingEvent(kind, {"rows": 3}, site.new_name("evt")), site.actor(), team=site.team
    ).event
    visitor.open(f"/events/{event.uid}/")
    visitor.press("main table .button.primary")
    visitor.arrive("**/runs/0*/", examine=False)
    visitor.see("h1", examine=False)


@main_path("events/subscriptions/")
def subscribe_a_skill(visitor: Visitor) -> None:
    site, kind = visitor.site, visitor.site.new_name("order").replace("-", ".")
    version = site.publish(front=f"triggers: {{event_types: [{kind}]}}\n")
    visitor.open("/events/subscriptions/")
    visitor.choose("[name=team]", TEAM)
    visitor.choose("[name=skill_and_type]", f"{version.skill}  {kind}")
    visitor.tick("[name=mode][value=propose]")
    visitor.press(_CREATE)
    visitor.see(f"[data-part=subscription][data-value='{kind}']")
    assert EventSubscription.objects.get(event_type=kind).mode == "propose"


@main_path("events/webhooks/")
def create_a_webhook(visitor: Visitor) -> None:
    name = visitor.site.new_name("hook")
    visitor.open("/events/webhooks/")
    visitor.choose("[name=team]", TEAM)
    visitor.fill("[name=name]", name)
    visitor.press(_CREATE)
    visitor.see("pre", examine=False)
    visitor.see(f"[data-part=endpoint]:has-text('{name}')")


@main_path("imports/")
def import_again(visitor: Visitor) -> None:
    source = Source.objects.create(
        team=visitor.site.team,
        kind="git",
        location=f"https://git.example.org/{visitor.site.new_name('tools')}.git",
        created_by=visitor.site.user("alice"),
    )
    visitor.open("/imports/")
    visitor.press(f"form[action='/imports/sources/{source.uid}/reimport/'] [data-action=source-reimport]")
    visitor.arrive("**/imports/0*/", examine=False)
    assert source.imports.count() == 1


@main_path("imports/new/", "imports/<str:uid>/")
def import_an_archive(visitor: Visitor) -> None:
    name = visitor.site.new_name("package")
    text = f"---\nname: {name}\ndescription: Counts.\n---\nCounts.\n"
    visitor.open("/imports/new/")
    visitor.tick("[name=kind][value=archive]")
    visitor.attach("[name=content]", f"{name}.zip", zip_of({f"{name}/SKILL.md": text}))
    visitor.choose("[name=team]", TEAM)
    visitor.press("main form button.primary:not([data-action])")
    visitor.arrive("**/imports/0*/", examine=False)
    report = Import.objects.filter(source__kind="archive").latest("pk")
    Import.objects.filter(pk=report.pk).update(status="done", finished_at=visitor.site.now)
    visitor.see("#progress-part [data-state=done]")


@main_path("schedules/")
def open_a_schedule(visitor: Visitor) -> None:
    schedule = _schedule(visitor)
    visitor.open("/schedules/")
    visitor.press(f"main a[href='/schedules/{schedule.uid}/']")
    visitor.arrive(f"**/schedules/{schedule.uid}/")


@main_path("schedules/new/")
def create_a_schedule(visitor: Visitor) -> None:
    name = visitor.site.new_name("schedule")
    visitor.open(f"/schedules/new/?skill={TEAM}/{SKILL}")
    visitor.fill("[name=name]", name)
    visitor.fill("[name=cron]", "0 6 * * 1")
    visitor.press("[name=preview]")
    visitor.see("[data-part=next-runs] li")
    visitor.press("[name=save]")
    visitor.arrive("**/schedules/0*/")
    assert Schedule.objects.get(name=name).cron == "0 6 * * 1"


@main_path("schedules/<str:uid>/edit/")
def edit_a_schedule(visitor: Visitor) -> None:
    schedule = _schedule(visitor)
    visitor.open(f"/schedules/{schedule.uid}/edit/")
    visitor.fill("[name=cron]", "30 7 * * *")
    visitor.press("[name=save]")
    visitor.arrive(f"**/schedules/{schedule.uid}/")
    schedule.refresh_from_db()
    assert schedule.cron == "30 7 * * *"


@main_path("schedules/<str:uid>/")
def pause_a_schedule(visitor: Visitor) -> None:
    schedule = _schedule(visitor)
    visitor.open(f"/schedules/{schedule.uid}/")
    visitor.press("[data-action=run-now]")
    visitor.see("[data-part=firing][data-state=pending]")
    visitor.press("[data-action=pause]")
    visitor.fill("[name=reason]", "Holidays")
    visitor.press("[data-action=confirm-pause]")
    visitor.see("[data-action=resume]")
    visitor.press("[data-action=resume]")
    visitor.see("[data-action=pause]")


def _schedule(visitor: Visitor) -> Schedule:
    site = visitor.site
    options = ScheduleOptions(cron="0 6 * * 1-5", team=site.team, name=site.new_name("schedule"))
    return schedules.create(site.skill, options, site.actor())


@main_path("notifications/")
def read_notifications(visitor: Visitor) -> None:
    site = visitor.site
    site.notify()
    visitor.open("/notifications/")
    visitor.press("form[action='/notifications/read/'] button")
    visitor.page.locator("form[action='/notifications/read/']").wait_for(state="detached")
    visitor.examine()
    assert not site.user("alice").notifications.filter(read_at=None).exists()


@main_path("notifications/settings/")
def subscribe(visitor: Visitor) -> None:
    skill = str(visitor.site.publish().skill)
    visitor.open("/notifications/settings/")
    visitor.choose("[name=channel]", "inbox")
    visitor.tick("[name=kinds][value=recovered]")
    visitor.fill("[name=skill]", skill)
    visitor.press("[data-action=subscribe]")
    visitor.expect_message()
    assert NotificationSubscription.objects.filter(skill__slug=skill.partition("/")[2]).exists()


@main_path("notifications/settings/<str:uid>/")
def edit_a_subscription(visitor: Visitor) -> None:
    subscription = _subscription(visitor)
    visitor.open(f"/notifications/settings/{subscription.uid}/")
    visitor.tick("[name=kinds][value=recovered]")
    visitor.press("[data-action=save]")
    visitor.arrive("**/notifications/settings/")
    subscription.refresh_from_db()
    assert "recovered" in subscription.kinds


@main_path("notifications/deliveries/")
def filter_deliveries(visitor: Visitor) -> None:
    visitor.open("/notifications/deliveries/")
    visitor.choose("[data-part=filters] [name=channel]", "webhook")
    visitor.press("[data-part=filters] button")
    visitor.arrive("**/notifications/deliveries/?*channel=webhook*")


def _subscription(visitor: Visitor) -> NotificationSubscription:
    site = visitor.site
    options = SubscriptionOptions(channel="inbox", kinds=["run_failed"], skill=site.publish().skill)
    return subscriptions.create(options, site.actor())


@main_path("memory/")
def filter_and_delete_a_memory(visitor: Visitor) -> None:
    memory = visitor.site.remember()
    visitor.open("/memory/")
    visitor.unfold_filters()
    visitor.choose("[data-part=filters] [name=type]", "fact")
    visitor.press("[data-part=filters] button")
    visitor.arrive("**/memory/?*type=fact*")
    visitor.press(f"form[action='/memory/{memory.uid}/delete/'] [data-action=delete]")
    visitor.expect_message()
    assert Memory.objects.get(pk=memory.pk).deleted_at


@main_path("memory/clear/", person="")
def clear_the_memory(visitor: Visitor) -> None:
    user = visitor.site.new_user()
    memory = visitor.site.remember()
    Memory.objects.filter(pk=memory.pk).update(owner_user=user, owner_key=f"user:{user.pk}")
    visitor.sign_in_as(user)
    visitor.open("/memory/clear/")
    visitor.press("main form button.danger")
    visitor.expect_message()


@main_path("memory/review/")
def accept_a_proposal(visitor: Visitor) -> None:
    proposal = visitor.site.propose()
    visitor.open("/memory/review/")
    visitor.press(f"[name=decision][value='accept {proposal.uid}']")
    visitor.expect_message()
    assert MemoryWrite.objects.get(pk=proposal.pk).state != "waiting"


@main_path("memory/review/<str:uid>/")
def edit_and_accept_a_proposal(visitor: Visitor) -> None:
    proposal = visitor.site.propose()
    visitor.open(f"/memory/review/{proposal.uid}/")
    visitor.fill("[name=content]", "Reports use euros.")
    visitor.press("[name=decision][value=accept]")
    visitor.page.wait_for_url(lambda url: "/review/" not in url)
    visitor.examine()
    assert Memory.objects.filter(content="Reports use euros.").exists()


@main_path("failures/")
def filter_failures(visitor: Visitor) -> None:
    visitor.open("/failures/")
    visitor.fill("[data-part=filters] [name=skill]", str(visitor.site.skill))
    visitor.press("[data-part=filters] button")
    visitor.arrive("**/failures/?*skill=*")
    visitor.see("[data-part=error-group]", examine=False)


@main_path("failures/")
def assign_selected_failures(visitor: Visitor) -> None:
    uid = visitor.site.uid("failures/")
    ErrorGroup.objects.filter(uid=uid).update(assigned_to=None)
    visitor.open("/failures/")
    visitor.tick(f"[name=group][value='{uid}']")
    visitor.choose("[name=user]", "alice")
    visitor.press("[data-action=assign-selected]")
    visitor.expect_message()
    assert ErrorGroup.objects.get(uid=uid).assigned_to is not None


@main_path("failures/<str:uid>/")
def resolve_a_failure(visitor: Visitor) -> None:
    uid = visitor.site.uid("failures/")
    ErrorGroup.objects.filter(uid=uid).update(state="open")
    visitor.open(f"/failures/{uid}/")
    visitor.fill("[name=version]", "9.0.0")
    visitor.press("[data-action=resolve]")
    visitor.expect_message()
    visitor.press("[data-action=reopen]")
    visitor.expect_message()
