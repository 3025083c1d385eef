"""Endpoints of schedules."""

import pytest

pytestmark = [pytest.mark.row("B7"), pytest.mark.django_db]
DAILY = {"skill": "docs/summarise", "cron": "30 8 * * 1-5", "time_zone": "Europe/Berlin"}


@pytest.fixture
def schedule(version, as_alice):
    answer = as_alice.post("schedules", {**DAILY, "inputs": {"days": 7}, "overlap": "queue"})
    assert answer.status_code == 201, answer.content
    return answer.json()


def test_created_schedule_is_returned_with_its_next_runs(schedule, as_alice):
    assert (schedule["state"], schedule["channel"], schedule["run_as"]) == ("active", "latest", "alice")
    assert len(schedule["next_runs"]) == 10
    assert schedule["next_at"] == schedule["next_runs"][0]
    assert as_alice.get(f"schedules/{schedule['id']}").json()["request"] == {"inputs": {"days": 7}}
    for query in ("skill=docs/summarise&state=active", "skill_contains=SUMM"):
        listed = as_alice.get(f"schedules?{query}").json()["items"]
        assert [row["id"] for row in listed] == [schedule["id"]]
    assert as_alice.get("schedules?skill_contains=other").json()["items"] == []


def test_preview_returns_the_next_ten_due_times(as_alice):
    answer = as_alice.get("schedules/next-runs?cron=0+9+*+*+*&time_zone=Asia/Shanghai").json()
    assert {at[11:] for at in answer["next_runs"]} == {"01:00:00.000000Z"}
    refused = as_alice.get("schedules/next-runs?cron=0+25+*+*+*").json()
    assert (refused["code"], refused["problems"][0]["path"]) == ("SCHEDULE_CRON_INVALID", "cron")


def test_edit_changes_only_the_given_settings(schedule, as_alice):
    address = f"schedules/{schedule['id']}"
    edited = as_alice("PATCH", address, {"every_s": 3600, "version": "1.0.0"}).json()
    assert (edited["cron"], edited["every_s"], edited["version"]) == (None, 3600, "1.0.0")
    assert edited["digest"].startswith("sha256:")
    assert (edited["overlap"], edited["request"]) == ("queue", {"inputs": {"days": 7}})


def test_schedule_is_paused_resumed_deleted_and_restored(schedule, as_alice):
    address = f"schedules/{schedule['id']}"
    paused = as_alice.post(f"{address}/pause", {"reason": "Holidays."}).json()
    assert (paused["state"], paused["pause"]["reason"], paused["next_runs"]) == ("paused", "Holidays.", [])
    assert as_alice.post(f"{address}/pause").json()["code"] == "SCHEDULE_STATE"
    assert as_alice.post(f"{address}/resume").json()["state"] == "active"
    assert as_alice("DELETE", address).status_code == 204
    assert as_alice.get(address).status_code == 404
    assert as_alice.post(f"{address}/restore").json()["state"] == "active"


def test_active_schedule_runs_on_request(schedule, as_alice, as_bob):
    address = f"schedules/{schedule['id']}"
    assert as_bob.post(f"{address}/run").status_code == 403
    response = as_alice.post(f"{address}/run")
    assert (response.status_code, response.json()["state"]) == (202, "pending")
    (listed,) = as_alice.get(f"{address}/firings").json()["items"]
    assert listed["due"] == response.json()["due"]
    as_alice.post(f"{address}/pause")
    assert as_alice.post(f"{address}/run").json()["code"] == "SCHEDULE_STATE"


def test_member_sees_a_schedule_but_can_not_change_it(schedule, as_bob, as_charlie):
    address = f"schedules/{schedule['id']}"
    assert as_bob.get(address).json()["request"] is None
    assert as_bob.get(f"{address}/firings").json()["items"] == []
    for method, path in (("POST", "/pause"), ("PATCH", ""), ("DELETE", "")):
        assert as_bob(method, address + path, {}).status_code == 403, path
    assert as_charlie.get(address).status_code == 404
    assert as_charlie.post(f"{address}/restore").status_code == 404


def test_single_time_with_an_idempotency_key_is_scheduled_once(version, as_alice):
    body = {"skill": "docs/summarise", "at": "2099-01-01T09:00:00Z"}
    answers = [as_alice.post("schedules", body, headers={"Idempotency-Key": "once"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json()["id"] == answers[1].json()["id"]


def test_edit_of_another_persons_schedule_runs_in_the_editors_name(version, as_bob, as_alice):
    mine = as_bob.post("schedules", DAILY).json()
    assert mine["run_as"] == "bob"
    edited = as_alice("PATCH", f"schedules/{mine['id']}", {"overlap": "skip"}).json()
    assert edited["run_as"] == "alice"


def test_token_schedules_in_its_own_name_only(version, token_api, alice, as_alice):
    api = token_api(alice, "run")
    created = api.post("schedules", DAILY).json()
    assert (created["run_as"], created["token"]) == ("alice", "test")
    refused = api.post("schedules", {**DAILY, "run_as": "docs-nightly"})
    assert refused.json()["code"] == "SCHEDULE_RUN_AS_INVALID"
    by_person = as_alice.post("schedules", DAILY).json()
    assert api.post(f"schedules/{by_person['id']}/pause").status_code == 403
    assert token_api(alice, "read").post("schedules", DAILY).status_code == 403


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "FIELD_REQUIRED"),
        ({"skill": "docs/summarise"}, "SCHEDULE_TIME_REQUIRED"),
        ({**DAILY, "every_s": 60}, "SCHEDULE_TIME_REQUIRED"),
        ({**DAILY, "version": "1.0.0", "channel": "stable"}, "SCHEDULE_VERSION_INVALID"),
        ({**DAILY, "version": "9.9.9"}, "NOT_FOUND"),
        ({**DAILY, "inputs": []}, "FIELD_INVALID"),
        ({**DAILY, "time_zone": "../etc"}, "SCHEDULE_ZONE_UNKNOWN"),
        ({**DAILY, "name": "n" * 150}, "TEXT_INVALID"),
        ({**DAILY, "run_as": "charlie"}, "SCHEDULE_RUN_AS_INVALID"),
        ({**DAILY, "jitter_s": -1}, "FIELD_INVALID"),
        ({"skill_name": "x", "agent_role": "y", "cron": "* * * * *"}, "NOT_FOUND"),
    ],
)
def test_invalid_schedule_is_refused(body, code, version, as_alice):
    answer = as_alice.post("schedules", body)
    assert answer.json()["code"] == code, answer.content


@pytest.fixture
def reference(as_alice):
    """A reference to Alice's upload rows.csv."""
    answer = as_alice.post("inputs?name=rows.csv", b"a,b", kind="application/octet-stream")
    assert answer.status_code == 201, answer.content
    return answer.json()["reference"]


@pytest.mark.row("P10")
def test_schedule_returns_its_files_to_people_who_can_read_its_inputs(version, as_alice, as_bob, reference):
    made = as_alice.post("schedules", {**DAILY, "inputs": {"table": reference}}).json()
    (file,) = made["files"]
    assert (file["place"], file["name"], file["size"]) == ("/table", "rows.csv", 3)
    assert file["reference"] == made["request"]["inputs"]["table"] == reference
    assert as_bob.get(f"schedules/{made['id']}").json()["files"] is None


@pytest.mark.row("P10")
def test_files_of_a_schedule_are_replaced_and_removed(version, as_alice, reference):
    made = as_alice.post("schedules", {**DAILY, "inputs": {"table": reference}}).json()
    as_alice("DELETE", f"inputs/{reference['input']}")
    address = f"schedules/{made['id']}"
    assert as_alice("PATCH", address, {"overlap": "queue"}).json()["files"] == made["files"]
    again = as_alice("PATCH", address, {"inputs": {}, "arguments": ["-i", reference]}).json()
    assert [file["place"] for file in again["files"]] == ["arguments/1"]
    assert as_alice("PATCH", address, {"arguments": []}).json()["files"] == []
    refused = as_alice("PATCH", address, {"arguments": [reference]})
    assert (refused.status_code, refused.json()["code"]) == (422, "INPUT_NOT_FOUND")
    assert refused.json()["problems"][0]["path"] == "arguments/0"


@pytest.mark.row("P10")
def test_schedule_with_a_file_and_an_idempotency_key_is_created_once(version, as_alice, reference):
    body = {**DAILY, "inputs": {"table": reference}}
    answers = [as_alice.post("schedules", body, headers={"Idempotency-Key": "file"}) for _ in range(2)]
    assert answers[0].json() == answers[1].json()


BUILD_ANALYSIS = b'''"""Analyses builds."""
import json, sys
asked = json.load(sys.stdin)
if asked["action"] == "daily_briefing":
    print(json.dumps({"success": True, "action": asked["action"], "data": {"params": asked["params"]}}))
'''
AGENT = b"""name: dev_efficiency_analyst
skills:
  - name: build_analysis
    entry: .claude/skills/build_analysis.py
    timeout: 60
"""


@pytest.fixture
def agent_skill(team, administrator, tmp_path):
    """The folder ``agents/dev_efficiency_analyst`` with the skill ``build_analysis``, imported for Alice."""
    from registry.identity.actors import Actor
    from tests.factories.trees import import_folder

    folder = tmp_path / "project" / "agents" / "dev_efficiency_analyst"
    (folder / ".claude" / "skills").mkdir(parents=True)
    (folder / "agent.yaml").write_bytes(AGENT)
    (folder / ".claude" / "skills" / "build_analysis.py").write_bytes(BUILD_ANALYSIS)
    import_folder(Actor(user=administrator), team, tmp_path / "project")


def test_call_of_the_job_executor_works_as_it_stands(agent_skill, alice):
    from registry.identity.actors import Actor
    from worker.service.job_executor import JobExecutor

    executor = JobExecutor(Actor(user=alice))
    answer = executor.execute_skill(
        agent_role="dev_efficiency_analyst",
        skill_name="build_analysis",
        action="daily_briefing",
        params={},
    )
    assert answer == {"success": True, "action": "daily_briefing", "data": {"params": {}}}
    schedule = executor.schedule_skill(
        agent_role="dev_efficiency_analyst",
        skill_name="build_analysis",
        action="daily_briefing",
        params={},
        cron="0 9 * * *",
    )
    assert schedule.request == {"inputs": {}, "action": "daily_briefing"}


def test_same_call_with_a_time_creates_a_schedule(agent_skill, as_alice):
    body = {"agent_role": "dev_efficiency_analyst", "skill_name": "build_analysis"}
    call = {"action": "daily_briefing", "params": {"days": 7}, "cron": "0 9 * * *"}
    created = as_alice.post("schedules", body | call).json()
    assert created["skill"] == "docs/build-analysis"
    assert created["request"] == {"inputs": {"days": 7}, "action": "daily_briefing"}
