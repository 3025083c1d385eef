"""Numbers of runs and success rates: each page and the API show the same ones for runs of every sort."""

from __future__ import annotations

import pytest

from registry.pins.pins import pin
from tests.factories.runs import make_run
from tests.pages import part, parts
from worker.daily_runs.roll_up import roll_up_all
from worker.daily_runs.run_counts import count_runs
from worker.failures.recount import group_earlier_runs
from worker.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.row("P6")]
SKILL = "/skills/docs/weekly-report/"
ENDED, SUCCEEDED, FAILED, CANCELLED, REFUSED, RATE = 12, 6, 3, 2, 1, "67"


@pytest.fixture
def every_sort(private, alice, bob, team):
    """Runs of every status and origin of docs/weekly-report 1.2.0, and two runs of test cases."""
    version = private.latest

    def make(**fields):
        return make_run(version, bob, team, **fields)

    first = make()
    make(parent=first, root=first, depth=1)
    make(cached_from=first)
    make(rerun_of=first)
    make(request={"inputs": {}, "script": "report", "stdin": None, "debug": True})
    make(token_name="laptop", attempt=2)
    for status, code in (("failed", "SCRIPT_FAILED"), ("timed_out", "TIMEOUT"), ("lost", "WORKER_LOST")):
        make(status=status, failure_code=code)
    make(status="cancelled", failure_code="CANCELLED")
    make(status="cancelled", failure_code="CANCELLED", started_at=None)
    make(status="refused", failure_code="APPROVAL_DENIED", started_at=None)
    for status in ("queued", "waiting_approval", "running"):
        make(status=status, finished_at=None, started_at=None)
    make(case_name="counts rows")
    make(case_name="refuses a PDF", status="failed", failure_code="SCRIPT_FAILED")
    list(group_earlier_runs())
    pin(alice, private)
    return private


@pytest.mark.parametrize("is_rolled_up", [False, True])
def test_pages_and_api_show_the_same_counts_of_runs(browse, alice, every_sort, is_rolled_up):
    if is_rolled_up:
        roll_up_all()
    client = browse(alice)

    usage = client.get(f"{SKILL}usage/")
    (of_version,) = parts(usage, "version-statistics")
    assert _figure(part(usage, "run-totals").tags("b")[0]) == ENDED
    assert [cell.text.strip() for cell in of_version.tags("td")[:2]] == [str(ENDED), f"{RATE}%"]
    assert part(usage, "success-rate")["value"] == RATE
    assert sum(int(row["value"]) for row in parts(usage, "caller")) == ENDED
    assert sum(_figure(cause.tags("b")[0]) for cause in parts(usage, "cause")) == FAILED
    week = part(client.get(f"{SKILL}usage/?values=weeks"), "weekly-values").tags("tr")[-1].tags("td")
    counts = [SUCCEEDED, *[1] * FAILED, CANCELLED, REFUSED]
    assert [cell.text.strip() for cell in week[1:8]] == [*map(str, counts), f"{RATE}%"]

    row = part(client.get(f"{SKILL}versions/"), "version")
    figures = [cell for cell in row.tags("td") if "num" in cell.attributes.get("class", "").split()]
    runs, rate = (cell.text.split() for cell in figures[:2])
    assert (runs[0], rate) == (str(ENDED), [f"{RATE}%"])

    for address in (SKILL, f"{SKILL}1.2.0/"):
        assert part(client.get(address), "strip")["value"] == RATE
    assert part(client.get("/skills/"), "success-rate")["value"] == RATE
    home = client.get("/")
    assert part(home, "strip")["value"] == RATE
    assert part(home, "failing-skill")["count"] == str(FAILED)
    assert len(parts(client.get("/failures/"), "error-group")) == FAILED

    statistics = client.get("/api/v1/skills/docs/weekly-report/statistics").json()
    expected = {
        "runs": ENDED, "succeeded": SUCCEEDED, "failed": FAILED, "cancelled": CANCELLED, "refused": REFUSED,
        "success_rate": int(RATE),
    }  # fmt: skip
    for document in (*statistics["versions"], *statistics["days"]):
        assert {name: document[name] for name in expected} == expected
    groups = client.get("/api/v1/error-groups").json()["items"]
    assert sum(group["count"] for group in groups) == FAILED

    # The list also has active runs and those of test cases.
    listed = parts(client.get("/runs/?skill=docs/weekly-report"), "run")
    assert len(listed) == Run.objects.count() == ENDED + 3 + 2


def _figure(element):
    return int(element.text.strip())


@pytest.mark.parametrize(
    ("statuses", "rate"),
    [
        (["succeeded"] * 3, "100"),
        (["succeeded"] * 400 + ["failed"], "99"),
        (["succeeded"] * 3 + ["cancelled", "refused"], "100"),
        (["cancelled"], ""),
    ],
)
def test_success_rate_is_100_only_without_failures_and_ignores_cancelled_runs(statuses, rate):
    counts = count_runs((status, 1) for status in statuses)
    assert counts.success_rate == (int(rate) if rate else None)
