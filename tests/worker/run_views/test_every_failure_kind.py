"""A failed run of any kind shows its cause at the head of its page, in the list, API and command."""

from __future__ import annotations

from importlib import import_module

import pytest

import worker.apps
from registry.packages.problems import Code
from tests.factories.runs import add_log, make_run
from tests.factories.skills import prompt_files, publish_files
from tests.pages import part, parts
from worker.executors.run_status import status_of

pytestmark = [pytest.mark.django_db, pytest.mark.row("B3", "P5")]
CODES = sorted(
    code.name
    for module in worker.apps._ERRORS
    for code in vars(import_module(module)).values()
    if isinstance(code, Code) and status_of(code.name) != "cancelled"
)
LONG = "no rows for 北京 " + "in the table " * 60


@pytest.fixture
def version(team, alice):
    return publish_files(prompt_files(), team=team, user=alice)


@pytest.fixture
def failed(version, alice, team):
    """``failed(code, …)``: a run that ended with the code, with a log."""

    def failed(code, **fields):
        fields = {"message": LONG, "result": None, "exit_code": 1} | fields
        run = make_run(version, alice, team, status=status_of(code), failure_code=code, **fields)
        add_log(run, *[("stderr", f"line {number}\n") for number in range(50)])
        return run

    return failed


@pytest.mark.matrix("code", at_most=6, full_at_most=20)
@pytest.mark.parametrize("code", CODES)
def test_each_code_has_its_cause_on_page_and_list(code, failed, client, alice):
    run = failed(code)
    client.force_login(alice)
    page = client.get(f"/runs/{run.uid}/").text
    assert "no rows for 北京" in part(page, "cause")
    assert page.index('data-part="cause"') < page.index('data-part="log-end"')
    [row] = parts(client.get(f"/runs/?failure_code={code}"), "run")
    assert "no rows for 北京" in row
    [listed] = client.get(f"/api/v1/runs?failure_code={code}").json()["items"]
    assert listed["cause"]["message"].startswith("no rows for 北京")


@pytest.mark.parametrize("code", ["LOST", "TIMEOUT", "NO_SUCH_CODE"])
def test_run_without_a_message_shows_the_text_of_its_code(code, failed, client, alice):
    run = failed(code, message="")
    client.force_login(alice)
    shown = part(client.get(f"/runs/{run.uid}/"), "failure")
    assert shown.tags("h2")[0].text
    [row] = parts(client.get(f"/runs/?failure_code={code}"), "run")
    assert code in row
