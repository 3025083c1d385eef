import pytest

from registry.identity.actors import Actor
from registry.models import IdempotencyKey, Skill
from registry.versions.lifecycle.rename import rename
from tests.api.conftest import assert_error
from tests.checks import not_none
from worker.files.inputs import store_input
from worker.models import Run
from worker.retention.erase import erase_run
from worker.service.inline import execute_here

pytestmark = [pytest.mark.row("P5"), pytest.mark.django_db]
SAVES = """import os, sys
folder = sys.argv[sys.argv.index("--output-dir") + 1]
os.makedirs(folder + "/sub", exist_ok=True)
open(folder + "/sub/page.html", "w").write("<script>1</script>")
print("half done", file=sys.stderr)
print('{"ok": true}')
"""
FILES = {
    "SKILL.md": "---\nname: saves\ndescription: Leaves a file.\nversion: 1.0.0\n---\n",
    "scripts/main.py": SAVES,
}
COUNTS = """---
name: counts
description: Counts days.
version: 1.0.0
input_schema: {type: object, properties: {days: {type: integer}}, required: [days]}
---
"""
ASKED = {"skill": "docs/saves", "inputs": {"output_dir": "out"}}


@pytest.fixture
def upload_of(bob):
    """``upload_of(data, name)``: stores an input file of Bob's and returns its id."""
    return lambda data, name: store_input([data], name, Actor(user=bob)).uid


@pytest.fixture
def saves(publish):
    return publish(FILES, visibility="site")


@pytest.fixture
def run(saves, as_bob):
    """A queued run of Bob's."""
    return Run.objects.get(uid=as_bob.post("runs", ASKED).json()["id"])


@pytest.fixture
def done(run):
    """The same, executed for real in this process."""
    assert execute_here(run).status == "succeeded", run.message
    return run


def test_a_run_is_accepted_before_it_is_done(saves, as_bob):
    answer = as_bob.post("runs?wait=0", ASKED)
    document = answer.json()
    assert (answer.status_code, document["status"], document["skill"]) == (202, "queued", "docs/saves")
    assert answer["Location"].endswith(f"/api/v1/runs/{document['id']}")
    assert as_bob.get(f"runs/{document['id']}?wait=0").json() == document


@pytest.mark.row("A5")
def test_a_run_is_followed_to_its_result_and_its_files(done, as_bob):
    document = as_bob.get(f"runs/{done.uid}").json()
    assert (document["status"], document["outputs"]) == ("succeeded", {"ok": True})
    (artifact,) = as_bob.get(f"runs/{done.uid}/artifacts").json()["items"]
    assert artifact == document["artifacts"][0]
    answer = as_bob.get(f"runs/{done.uid}/artifacts/sub/page.html")
    assert answer.getvalue() == b"<script>1</script>"
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"] == 'attachment; filename="page.html"'
    assert answer["Content-Security-Policy"].startswith("sandbox")
    assert answer["ETag"] == f'"{artifact["digest"]}"'
    assert_error(as_bob.get(f"runs/{done.uid}/artifacts/sub"), 404, "NOT_FOUND")


def test_run_has_every_field_of_the_list_and_its_request(done, as_bob):
    (listed,) = as_bob.get("runs").json()["items"]
    document = as_bob.get(f"runs/{done.uid}").json()
    assert {key: document[key] for key in listed} == listed
    assert document["inputs"] == ASKED["inputs"]
    assert (document["team"], document["caller"]) == ("docs", "bob")
    assert document["created_at"] <= document["started_at"] <= document["finished_at"]


@pytest.mark.row("B6")
def test_the_log_is_read_by_offset(done, as_bob):
    log = as_bob.get(f"runs/{done.uid}/log?limit=1").json()
    texts = [piece["text"] for piece in log["chunks"]]
    while not log["ended"]:
        log = as_bob.get(f"runs/{done.uid}/log?offset={log['next_offset']}").json()
        texts += [piece["text"] for piece in log["chunks"]]
    assert "half done\n" in "".join(texts)
    assert as_bob.get(f"runs/{done.uid}/log?attempt=9").json()["chunks"] == []


def test_events_tell_log_and_status_and_go_on_where_they_were(done, as_bob):
    answer = as_bob.get(f"runs/{done.uid}/events")
    text = answer.content.decode()
    assert answer["Content-Type"].startswith("text/event-stream")
    assert "event: log" in text
    assert '"status":"succeeded"' in text
    assert text.endswith("event: end\ndata: {}\n\n")
    place = [line for line in text.splitlines() if line.startswith("id: ")][-1].removeprefix("id: ")
    rest = as_bob.get(f"runs/{done.uid}/events", headers={"Last-Event-ID": place}).content.decode()
    assert "event: log" not in rest


def test_a_waiting_run_is_cancelled_at_once(run, as_bob):
    answer = as_bob.post(f"runs/{run.uid}/cancel")
    assert (answer.json()["status"], answer.json()["failure_code"]) == ("cancelled", "CANCELLED")
    assert as_bob.post(f"runs/{run.uid}/cancel").json()["status"] == "cancelled"


def test_a_run_asked_for_twice_with_one_key_is_one(saves, as_bob):
    key = {"Idempotency-Key": "once"}
    first, second = (as_bob.post("runs", ASKED, headers=key).json()["id"] for _ in range(2))
    assert first == second
    assert Run.objects.count() == 1


@pytest.mark.row("P12")
def test_an_erased_run_is_not_run_again_by_its_key_nor_told_by_it(publish, as_bob, bob):
    publish({**FILES, "SKILL.md": FILES["SKILL.md"][:-4] + "cacheable: true\n---\n"}, visibility="site")
    execute_here(Run.objects.get(uid=as_bob.post("runs", ASKED).json()["id"]))
    asked = {"body": ASKED, "headers": {"Idempotency-Key": "once"}}
    answered = as_bob.post("runs", **asked).json()
    assert (answered["cached"], answered["outputs"]) == (True, {"ok": True})
    erase_run(Run.objects.get(uid=answered["id"]), actor=Actor(user=bob))
    again = as_bob.post("runs", **asked)
    assert (again.status_code, again.json()) == (200, {"id": answered["id"]})
    assert Run.objects.count() == 2
    assert b"ok" not in bytes(not_none(IdempotencyKey.objects.get().body))


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"skill": "docs/none"}, 404, "NOT_FOUND"),
        ({"version": "9.9.9"}, 404, "NOT_FOUND"),
        ({"skill": "docs/saves@9.9.9"}, 404, "NOT_FOUND"),
        ({"skill": 5}, 422, "FIELD_INVALID"),
        ({"inputs": []}, 422, "FIELD_INVALID"),
        ({"inputs": None}, 422, "FIELD_INVALID"),
        ({"context": "x"}, 422, "FIELD_INVALID"),
        ({"debug": "yes"}, 422, "FIELD_INVALID"),
        ({"input": {}}, 422, "FIELD_UNKNOWN"),
        ({"script": "nothing"}, 404, "SCRIPT_NOT_FOUND"),
        ({"inputs": {"a_path": {"input": "0" * 26}}}, 422, "INPUT_NOT_FOUND"),
        ({"team": "elsewhere"}, 404, "NOT_FOUND"),
        ({"rerun_of": "0" * 26}, 404, "NOT_FOUND"),
    ],
)
def test_what_cannot_be_run_is_refused_before_it_is_queued(saves, as_bob, change, status, code):
    assert_error(as_bob.post("runs", {**ASKED, **change}), status, code)
    assert not Run.objects.exists()


@pytest.mark.row("B1", "B3")
def test_filters_narrow_the_list(run, as_bob, as_alice):
    ids = lambda query: [row["id"] for row in as_bob.get(f"runs?{query}").json()["items"]]  # noqa: E731
    for query in (
        "", "status=queued", "status=failed&status=queued", "skill=docs/saves", "mine=1", f"ids={run.uid}",
        "team=docs", "version=1.0.0", f"request_id={run.request_id}", "since=2020-01-01T00:00:00Z",
    ):  # fmt: skip
        assert ids(query) == [run.uid], query
    for query in (
        "status=failed",
        "skill=docs/x",
        "until=2020-01-01T00:00:00Z",
        "request_id=x",
        "failure_code=X",
    ):
        assert ids(query) == [], query
    assert as_alice.get("runs?mine=1").json()["items"] == []
    assert_error(as_bob.get("runs?status=nonsense"), 400, "QUERY_INVALID")
    assert_error(as_bob.get("runs?wait=-1"), 400, "QUERY_UNKNOWN")
    assert_error(as_bob.get(f"runs/{run.uid}?wait=long"), 400, "QUERY_INVALID")


def test_pages_of_runs_follow_one_another(saves, as_bob):
    ids = [as_bob.post("runs", ASKED).json()["id"] for _ in range(3)]
    first = as_bob.get("runs?limit=2").json()
    rest = as_bob.get(f"runs?limit=2&cursor={first['next_cursor']}").json()
    assert sorted(row["id"] for row in first["items"] + rest["items"]) == sorted(ids)
    assert rest["next_cursor"] is None


def test_the_authors_of_a_skill_see_that_it_ran_and_not_what_with(saves, as_charlie, as_alice, as_bob):
    """Charlie runs a site skill for his own team: its authors learn status, code and duration."""
    uid = as_charlie.post("runs", ASKED).json()["id"]
    for api in (as_alice, as_bob):
        document = api.get(f"runs/{uid}").json()
        assert document["status"] == "queued"
        assert not {"stdout", "outputs", "steps", "message", "error"} & set(document)
        (row,) = api.get("runs").json()["items"]
        assert (row["readable"], row["caller"], row["request_id"]) == (False, None, None)
        for path in ("log", "events", "artifacts", "artifacts/x"):
            assert_error(api.get(f"runs/{uid}/{path}"), 403, "FORBIDDEN")
        assert_error(api.post(f"runs/{uid}/cancel"), 403, "FORBIDDEN")
        assert_error(api.post("runs", {**ASKED, "rerun_of": uid}), 403, "FORBIDDEN")


def test_a_maintainer_reads_the_runs_of_the_team_and_a_member_only_their_own(done, saves, as_alice, as_bob):
    assert as_alice.get(f"runs/{done.uid}").json()["outputs"] == {"ok": True}
    uid = as_alice.post("runs", ASKED).json()["id"]
    assert "outputs" not in as_bob.get(f"runs/{uid}").json()


@pytest.fixture
def ran(publish, as_bob):
    """A run of Bob's with the days of a report as input."""
    publish({**FILES, "SKILL.md": COUNTS}, visibility="site")
    asked = {"skill": "docs/counts", "inputs": {"days": 7}, "debug": True, "team": "docs"}
    return Run.objects.get(uid=as_bob.post("runs", asked).json()["id"])


@pytest.mark.row("P8")
def test_rerun_has_the_same_request_and_names_the_first_run(ran, as_bob, as_alice):
    answer = as_bob.post(f"runs/{ran.uid}/rerun")
    document = answer.json()
    assert answer.status_code == 202
    assert answer["Location"].endswith(f"/api/v1/runs/{document['id']}")
    assert (document["inputs"], document["rerun_of"]) == ({"days": 7}, ran.uid)
    again = Run.objects.get(uid=document["id"])
    assert again.request["debug"] is True
    assert again.request_id != ran.request_id
    by_alice = as_alice.post(f"runs/{ran.uid}/rerun", {"inputs": {"days": 14}, "version": "latest"}).json()
    assert (by_alice["inputs"], by_alice["caller"]) == ({"days": 14}, "alice")


@pytest.mark.row("A2", "P10")
def test_arguments_with_a_file_reach_the_script_and_can_be_repeated(publish, as_bob, upload_of):
    shows = "import json, sys; print(json.dumps({'argv': sys.argv[1:], 'read': open(sys.argv[1]).read()}))"
    publish({**FILES, "scripts/main.py": shows}, visibility="site")
    reference = {"input": upload_of(b"rows", "in.csv")}
    asked = {"skill": "docs/saves", "arguments": [reference, "--json"], "inputs": {"n": 1}}
    run = execute_here(Run.objects.get(uid=as_bob.post("runs", asked).json()["id"]))
    document = as_bob.get(f"runs/{run.uid}").json()
    assert document["arguments"] == asked["arguments"]
    assert document["outputs"]["argv"][1:] == ["--json", "--n", "1"]
    assert document["outputs"]["read"] == "rows"
    again = as_bob.post(f"runs/{run.uid}/rerun").json()
    assert again["arguments"] == asked["arguments"]
    changed = as_bob.post(f"runs/{run.uid}/rerun", {"arguments": [reference, "-v"]}).json()
    assert (changed["arguments"], changed["inputs"]) == ([reference, "-v"], {"n": 1})
    facts = as_bob.get(f"runs/{run.uid}/compare/{changed['id']}").json()["facts"]
    assert [fact["same"] for fact in facts if fact["name"] == "arguments"] == [False]


@pytest.mark.row("A2")
@pytest.mark.parametrize("value", ["a b", {"0": "a"}, 1])
def test_arguments_must_be_a_list(saves, as_bob, value):
    assert_error(as_bob.post("runs", {**ASKED, "arguments": value}), 422, "FIELD_INVALID")


@pytest.mark.row("A2")
def test_one_key_with_other_arguments_is_refused(saves, as_bob):
    key = {"Idempotency-Key": "once"}
    as_bob.post("runs", {**ASKED, "arguments": ["a"]}, headers=key)
    second = as_bob.post("runs", {**ASKED, "arguments": ["b"]}, headers=key)
    assert_error(second, 422, "IDEMPOTENCY_KEY_REUSED")


@pytest.mark.row("P8")
def test_rerun_with_one_key_starts_one_run(ran, as_bob):
    key = {"Idempotency-Key": "once"}
    answers = [as_bob.post(f"runs/{ran.uid}/rerun", {}, headers=key).json()["id"] for _ in range(2)]
    assert len({*answers}) == 1
    assert Run.objects.count() == 2


@pytest.mark.row("P8")
def test_rerun_is_refused(ran, as_bob, as_charlie, anonymous, alice, token_api, bob):
    path = f"runs/{ran.uid}/rerun"
    assert_error(as_charlie.post(path), 404, "NOT_FOUND")
    assert_error(anonymous.post(path), 401, "SIGN_IN_REQUIRED")
    assert_error(token_api(alice, "run").post(path), 403, "FORBIDDEN")
    assert_error(as_bob.post(path, {"inputs": []}), 422, "FIELD_INVALID")
    assert_error(as_bob.post(path, {"input": {}}), 422, "FIELD_UNKNOWN")
    refused = as_bob.post(path, {"inputs": {}})
    assert_error(refused, 422, "MISSING_PARAM")
    assert refused.json()["problems"][0]["path"] == "/days"
    assert_error(as_bob.post(path, {"version": "9.9.9"}), 404, "NOT_FOUND")
    cancelled = as_bob.post(f"runs/{ran.uid}/cancel").json()["status"]
    assert cancelled == "cancelled"
    erase_run(ran, actor=Actor(user=bob))
    assert_error(as_bob.post(path), 409, "RUN_ERASED")


def test_a_stranger_finds_no_trace_of_a_run(run, as_charlie, anonymous):
    for path in ("", "/log", "/events", "/artifacts", "/artifacts/sub/page.html"):
        assert_error(as_charlie.get(f"runs/{run.uid}{path}"), 404, "NOT_FOUND")
        assert_error(anonymous.get(f"runs/{run.uid}{path}"), 401, "SIGN_IN_REQUIRED")
    assert_error(as_charlie.post(f"runs/{run.uid}/cancel"), 404, "NOT_FOUND")
    assert as_charlie.get("runs").json()["items"] == []
    assert_error(anonymous.post("runs", ASKED), 401, "SIGN_IN_REQUIRED")


def test_history_outlives_the_skill(done, as_bob):
    Skill.objects.all().delete()
    document = as_bob.get(f"runs/{done.uid}").json()
    assert (document["skill"], document["version"], document["digest"]) == (
        "docs/saves",
        "1.0.0",
        done.digest,
    )
    assert as_bob.get("runs?skill=docs/saves").json()["items"][0]["id"] == done.uid


def test_runs_are_found_by_each_name_that_their_skill_had(run, alice, as_bob, as_charlie):
    before = run.uid
    rename(run.skill, Actor(user=alice), slug="keeps")
    Skill.objects.filter(pk=run.skill_id).update(name="Notes")
    after = as_bob.post("runs", {**ASKED, "skill": "docs/keeps"}).json()["id"]
    for query in ("skill=docs/saves", "skill=docs/keeps", "skill_contains=SAV", "skill_contains=note"):
        assert {each["id"] for each in as_bob.get(f"runs?{query}").json()["items"]} == {before, after}
        assert as_charlie.get(f"runs?{query}").json()["items"] == []
    assert as_bob.get("runs?skill_contains=other").json()["items"] == []
    page = as_bob.get("/runs/?skill=keeps").content.decode()
    assert before in page
    assert after in page


def test_a_token_made_to_run_reads_its_owners_runs_and_nobody_elses(done, saves, alice, token_api, as_alice):
    runs, reads = token_api(alice, "run"), token_api(alice, "read")
    for path in ("log", "events", "artifacts"):
        assert reads.get(f"runs/{done.uid}/{path}").status_code == 200
        assert_error(runs.get(f"runs/{done.uid}/{path}"), 403, "FORBIDDEN")
    assert "stdout" not in runs.get(f"runs/{done.uid}").json()
    asked = {"skill": "docs/saves", "rerun_of": done.uid}
    assert_error(runs.post("runs", asked), 403, "FORBIDDEN")
    own = as_alice.post("runs", {"skill": "docs/saves"}).json()
    assert runs.get(f"runs/{own['id']}/log").status_code == 200
