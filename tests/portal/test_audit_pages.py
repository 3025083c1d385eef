"""The audit log of the site and of a team: sentences, filters, pages and exports."""

from __future__ import annotations

import ast
import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from portal.presenters.audit import SENTENCES, sentence_of
from registry.erasure.people import erase_person
from registry.identity import audit, client_address
from registry.identity.actors import Actor
from registry.models import (
    AuditEntry,
    CanonicalChangeKind,
    ProposalState,
    ReportState,
    Team,
    Token,
    WebhookEndpoint,
)
from tests.factories.runs import make_run
from tests.pages import parts, select
from worker.approvals.decide import DECISIONS
from worker.models import RunBatch

pytestmark = pytest.mark.row("P2")
ROOT = Path(__file__).resolve().parents[2]
# The values of the placeholder in actions such as f"report.{state}".
PLACEHOLDERS = {
    "notification.": ("create", "edit", "delete"),
    "approval.": [str(choice.value) for choice in DECISIONS],
    "canonical.": CanonicalChangeKind.values,
    "memory.": ["accept", "decline"],
    "phrase.": ["accept", "decline"],
    "user.": [f"{action}_second_factor" for action in ("add", "remove", "renew")],
    "report.": sorted({*ReportState.values} - {ReportState.OPEN}),
    "trigger_test.": sorted({*ProposalState.values} - {ProposalState.PROPOSED}),
}


@pytest.fixture
def log(alice, bob, team, administrator):
    """Two entries of the team, one of another team, and one without a team."""
    audit.record(Actor(user=alice), "version.yank", "docs/report@1.0.0", team=team, reason="Wrong")
    audit.record(Actor(user=bob), "member.add", "charlie", team=team)
    other = Team.objects.create(slug="other", name="Other")
    audit.record(Actor(user=alice), "version.yank", "other/report@2.0.0", team=other)
    audit.record(Actor(user=administrator, is_shell=True), "user.create", "=cmd|'/c'!A1")


@pytest.fixture
def admin(browse, administrator):
    return browse(administrator)


def targets(page):
    return [row["value"] for row in parts(page, "activity")]


@pytest.mark.django_db
def test_site_log_shows_every_entry_and_team_log_its_own(admin, browse, alice, log):
    assert targets(admin.get("/site/audit/")) == ["user.create", "version.yank", "member.add", "version.yank"]
    assert targets(browse(alice).get("/teams/docs/activity/")) == ["member.add", "version.yank"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("person=bob", ["member.add"]),
        ("group=skills", ["version.yank", "version.yank"]),
        ("target=DOCS/rep", ["version.yank"]),
        ("person=alice&target=other", ["version.yank"]),
        ("since=2000-01-01&until=2000-01-02", []),
        ("since=2000-01-01&group=people", ["user.create", "member.add"]),
        ("since=yesterday", []),
        ("group=unknown", []),
    ],
)
def test_filters_select_entries(admin, log, query, expected):
    assert targets(admin.get(f"/site/audit/?{query}")) == expected


@pytest.mark.django_db
def test_export_has_the_filtered_entries_in_both_formats(admin, log):
    links = select(admin.get("/site/audit/?person=alice"), "a", download="")
    assert [link["href"] for link in links] == ["?person=alice&format=csv", "?person=alice&format=jsonl"]
    table = admin.get(f"/site/audit/{links[0]['href']}").getvalue().decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [row["target"] for row in rows] == ["other/report@2.0.0", "docs/report@1.0.0"]
    lines = admin.get(f"/site/audit/{links[1]['href']}").getvalue().decode().splitlines()
    assert [json.loads(line)["detail"] for line in lines] == [{}, {"reason": "Wrong"}]


@pytest.mark.django_db
def test_csv_has_no_cell_that_a_spreadsheet_runs(admin, log):
    table = admin.get("/site/audit/?format=csv&group=people").getvalue().decode("utf-8-sig")
    (row, _member) = csv.DictReader(io.StringIO(table))
    assert (row["target"], row["token"]) == ("'=cmd|'/c'!A1", "shell")


@pytest.mark.django_db
def test_export_reads_all_batches(admin, team, administrator, monkeypatch):
    monkeypatch.setattr(audit, "_ROWS_AT_ONCE", 3)
    for number in range(7):
        audit.record(Actor(user=administrator), "member.add", f"user-{number}", team=team)
    lines = admin.get("/site/audit/?format=jsonl").getvalue().decode().splitlines()
    assert [json.loads(line)["target"] for line in lines] == [f"user-{number}" for number in range(6, -1, -1)]


@pytest.mark.django_db
def test_entry_names_the_token(admin, team, alice):
    actor = Actor(user=alice, token=Token(name="nightly"))
    audit.record(actor, "version.publish", "docs/report@1.0.0", team=team)
    (row,) = parts(admin.get("/site/audit/"), "activity")
    assert row.parts(value="nightly")


@pytest.mark.django_db
def test_row_shows_as_whom_and_from_where(admin, team, alice, administrator):
    with client_address.bind("198.51.100.7"):
        audit.record(
            Actor(user=alice, operator=Actor(user=administrator)), "version.yank", "docs/x@1.0.0", team=team
        )
    (row,) = parts(admin.get("/site/audit/"), "activity")
    assert [row.parts(part)[0]["value"] for part in ("as-user", "address")] == ["alice", "198.51.100.7"]


@pytest.mark.django_db
def test_row_is_one_line_whose_details_open_on_demand(admin, log):
    for row in parts(admin.get("/site/audit/"), "activity"):
        (details,) = row.tags("details")
        (summary,) = details.tags("summary")
        assert "open" not in details.attributes
        assert summary.tags("time")
        assert not summary.parts("details")
        assert row["value"] in details.part("details")


@pytest.mark.django_db
def test_csv_begins_with_the_mark_that_spreadsheets_need(admin, log):
    assert admin.get("/site/audit/?format=csv").getvalue().startswith(b"\xef\xbb\xbfid,")


@pytest.mark.django_db
def test_invalid_filter_exports_nothing(admin, log):
    page = admin.get("/site/audit/?format=csv&since=yesterday")
    assert (page.status_code, targets(page)) == (422, [])


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["", "?format=csv"])
def test_log_is_for_administrators_and_maintainers(browse, alice, bob, charlie, log, query):
    assert browse(alice).get(f"/site/audit/{query}").status_code == 404
    assert browse(bob).get(f"/teams/docs/activity/{query}").status_code == 403
    assert browse(charlie).get(f"/teams/docs/activity/{query}").status_code == 404


@pytest.mark.django_db
def test_erased_person_is_named_in_no_entry(charlie, administrator, actor_of):
    charlie.memberships.all().delete()
    charlie.email = "charlie@example.com"
    charlie.save()
    root = actor_of(administrator)
    for target in ("charlie", "charlie@example.com"):
        audit.record(root, "user.invite", target)
    erase_person(charlie, root)
    assert not AuditEntry.objects.filter(target__contains="charlie").exists()


@pytest.mark.django_db
def test_deletion_of_memories_names_its_team(alice, team, actor_of):
    for owner in (team, None):
        audit.record(actor_of(alice), "memory.delete_all", owner.slug if owner else "own", team=owner)
    of_person, of_team = AuditEntry.objects.filter(action="memory.delete_all").order_by("-pk")
    assert sentence_of(of_team, {}).target == "docs"
    assert sentence_of(of_person, {}).target == ""


@pytest.mark.django_db
def test_deletion_of_memories_names_its_user_or_run(admin, alice, administrator, team, public, actor_of):
    run = make_run(public.latest, alice, team)
    as_alice = replace(actor_of(alice), operator=actor_of(administrator))
    for target in ("me", f"run:{run.uid}", "run:01GONE"):
        audit.record(as_alice, "memory.delete_all", target)
    gone, of_run, own = parts(admin.get("/site/audit/"), "activity")[:3]
    assert "01GONE" in gone
    assert not gone.tags("a")
    assert [link["href"] for link in of_run.tags("a")] == [f"/runs/{run.uid}/"]
    assert [own.part("target").text, own.part("as-user")["value"]] == ["me", "alice"]
    entries = AuditEntry.objects.filter(action="memory.delete_all").order_by("pk")
    assert sentence_of(entries[0], {}).target == "alice"


@pytest.mark.django_db
def test_entries_link_their_objects_and_name_deleted_ones(admin, alice, team, public, actor_of):
    by, run = actor_of(alice), make_run(public.latest, alice, team)
    batch = RunBatch.objects.create(action="cancel", filter={}, user=alice)
    batch.items.create(run=run, run_uid=run.uid)
    webhook = WebhookEndpoint.objects.create(team=team, name="Orders", secret="x")
    gone = {"schedule.delete": "nightly", "webhook.delete": "Old orders"}
    for action, name in gone.items():
        audit.record(by, action, "01GONE", team=team, name=name)
    audit.record(by, "share_link.create", run.uid, team=team, link="01LINK")
    audit.record(by, "run_batch.cancel", batch.uid, runs=0)
    audit.record(by, "webhook.rotate", webhook.uid, team=team)
    rows = parts(admin.get("/site/audit/"), "activity")
    assert [row.part("target").text for row in rows[:3]] == [webhook.uid, batch.uid, run.uid]
    links = [link for row in rows[:3] for link in row.tags("a")]
    addresses = ["/events/webhooks/", f"/runs/batches/{batch.uid}/", f"/runs/{run.uid}/"]
    assert [link["href"] for link in links] == addresses
    for link, words in zip(links, ("Orders", "1", f"#{run.number}"), strict=True):
        assert words in link
    for row in rows[3:5]:
        assert gone[row["value"]] in row
        assert not row.tags("a")


def test_every_recorded_action_has_a_sentence_and_a_group():
    actions = {action for path in _modules() for action in _recorded_actions(path)}
    assert len(actions) > 70
    assert not actions - SENTENCES.keys()
    kinds = [kind for group in audit.GROUPS.values() for kind in group]
    assert {action.partition(".")[0] for action in actions} == set(kinds)
    assert len(kinds) == len(set(kinds))


def _modules() -> Iterator[Path]:
    for room in ("registry", "worker", "portal"):
        yield from (ROOT / room).rglob("*.py")


def _recorded_actions(path: Path) -> Iterator[str]:
    """The actions that a module passes to ``audit.record``, also through functions of its own."""
    text = path.read_text()
    if "audit.record(" not in text:
        return
    tree = ast.parse(text)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = {"audit.record"}
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        if "audit.record(actor, action" in ast.unparse(function):
            names.add(function.name)
    for call in calls:
        if ast.unparse(call.func) in names:
            yield from _values(next(each for each in call.args if _is_action(each)))


def _is_action(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr | ast.IfExp | ast.Constant) or ast.unparse(node) == "action"


def _values(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    if isinstance(node, ast.IfExp):
        return _values(node.body) + _values(node.orelse)
    if isinstance(node, ast.JoinedStr):
        prefix = str(ast.literal_eval(node.values[0]))
        return [prefix + value for value in PLACEHOLDERS[prefix]]
    return []  # the parameter of a function whose calls are walked, too
