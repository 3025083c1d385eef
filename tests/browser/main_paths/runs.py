"""Main paths of runs."""

from __future__ import annotations

from tests.browser.main_paths import main_path
from tests.browser.visitor import Visitor
from tests.checks import not_none
from tests.demo.pages import SKILL, TEAM
from tests.factories.runs import add_artifact, add_log
from worker.models import Run, RunStatus, ShareLink
from worker.service.inline import execute_here
from worker.sharing.links import LinkOptions, create_link


@main_path("runs/")
def filter_runs(visitor: Visitor) -> None:
    visitor.open("/runs/")
    visitor.unfold_filters()
    visitor.choose("[data-part=filters] [name=status]", "failed")
    visitor.press("[data-part=filters] button")
    visitor.arrive("**/runs/?status=failed*")
    visitor.press("[data-part=run] a")
    visitor.arrive("**/runs/0*/")


@main_path()
def compare_selected_runs(visitor: Visitor) -> None:
    visitor.open(f"/skills/{TEAM}/{SKILL}/runs/")
    for place in (0, 1):
        uid = visitor.page.locator("[data-part=run] [name=run]").nth(place).get_attribute("value")
        visitor.tick(f"[name=run][value='{uid}']")
    visitor.press("[data-action=compare]")
    visitor.arrive("**/runs/*/compare/*/")


@main_path("skills/<slug:team>/<slug:slug>/runs/")
def filter_the_runs_of_a_skill(visitor: Visitor) -> None:
    visitor.open(f"/skills/{TEAM}/{SKILL}/runs/")
    visitor.unfold_filters()
    visitor.choose("[data-part=filters] [name=status]", "succeeded")
    visitor.press("[data-part=filters] button")
    visitor.arrive(f"**/skills/{TEAM}/{SKILL}/runs/?status=succeeded*")
    visitor.see("[data-part=run]", examine=False)


@main_path("runs/<str:uid>/", "skills/<slug:team>/<slug:slug>/run/")
def run_a_skill(visitor: Visitor) -> None:
    front = "input_schema: {type: object, required: [city], properties: {city: {type: string}}}\n"
    script = "import json\nprint(json.dumps({'rows': 3}))\n"
    version = visitor.site.publish(front=front, script=script)
    visitor.open(f"/skills/{version.skill}/run/")
    visitor.fill("[name=input-0]", "Berlin")
    visitor.press("button[name=run]")
    visitor.arrive("**/runs/0*/**", examine=False)
    run = Run.objects.get(skill=version.skill)
    execute_here(run)
    visitor.see("[data-state=succeeded]")
    assert run.request["inputs"] == {"city": "Berlin"}


@main_path()
def run_again(visitor: Visitor) -> None:
    run = visitor.site.run(status=RunStatus.FAILED, failure_code="SCRIPT_FAILED", result=None)
    add_log(run, ("stderr", "ValueError: no column 'date'\n"))
    visitor.open(f"/runs/{run.uid}/")
    visitor.press("[data-action=run-again]")
    visitor.page.wait_for_url(lambda url: "/runs/0" in url and run.uid not in url)
    visitor.examine()
    assert Run.objects.latest("pk").skill == run.skill


@main_path("runs/<str:uid>/log/")
def download_a_log(visitor: Visitor) -> None:
    run = visitor.site.run()
    add_log(run, *[("stdout", f"line {number}\n") for number in range(30)])
    visitor.open(f"/runs/{run.uid}/log/")
    assert b"line 29" in visitor.download("main a[href*='raw=1']")


@main_path("runs/<str:uid>/share/", "shared/<str:secret>/")
def share_a_run(visitor: Visitor) -> None:
    run = visitor.site.run()
    add_artifact(run, "report.csv", b"a,b\n1,2\n")
    visitor.open(f"/runs/{run.uid}/share/")
    visitor.tick("[name=artifacts]")
    visitor.press("[data-action=create-link]")
    address = not_none(visitor.see("[data-part=new-link]").get_attribute("data-value"))
    assert ShareLink.objects.filter(run=run).count() == 1
    visitor.page.context.clear_cookies()
    visitor.open(address)
    assert visitor.download("[data-part=artifacts] a[data-action=download]") == b"a,b\n1,2\n"


@main_path("shared/<str:secret>/log/")
def download_the_log_of_a_shared_run(visitor: Visitor) -> None:
    run = visitor.site.run()
    add_log(run, ("stdout", "shared line\n"))
    link = create_link(run, LinkOptions(log=True), visitor.site.actor())[1]
    visitor.page.context.clear_cookies()
    visitor.open(link)
    assert b"shared line" in visitor.download("a[href='log/']")


@main_path("runs/<str:uid>/compare/<str:other>/")
def compare_runs(visitor: Visitor) -> None:
    runs = [visitor.site.run(message=message) for message in ("One", "Two")]
    visitor.open(f"/runs/{runs[0].uid}/compare/{runs[1].uid}/")
    visitor.press(f"main a[href='/runs/{runs[1].uid}/compare/{runs[0].uid}/']")
    visitor.arrive(f"**/runs/{runs[1].uid}/compare/{runs[0].uid}/")


@main_path("runs/batches/", "runs/batches/new/", "runs/batches/<str:uid>/")
def repeat_runs(visitor: Visitor) -> None:
    version = visitor.site.publish()
    visitor.site.run(version)
    visitor.open(f"/runs/?skill={TEAM}%2F{version.skill.slug}")
    visitor.press("[data-part=batch-menu] summary")
    visitor.press("[data-action=repeat-all]")
    visitor.arrive("**/runs/batches/new/*")
    visitor.press("[data-action=confirm]")
    visitor.arrive("**/runs/batches/0*/")
    visitor.press("main nav a[href='/runs/batches/']")
    visitor.arrive("**/runs/batches/")
