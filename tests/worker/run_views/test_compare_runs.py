"""Two runs held against each other, place by place."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.packages.problems import Refusal
from tests.factories.runs import add_artifact, add_log, add_step, make_run
from tests.shell import api
from worker.run_views.compare import compare_runs, comparison_document, find_readable_pair
from worker.run_views.value_changes import MAX_CHANGES, compare_values

pytestmark = pytest.mark.row("P5")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner, max_size=4),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ({"a": 1}, {"a": 1}, []),
        (1, True, [("changed", "", "1", "true")]),
        ({"a": 1}, {"a": "1"}, [("changed", "/a", "1", '"1"')]),
        ({"a": 1}, {}, [("removed", "/a", "1", "")]),
        ({}, {"a/b~": {"二": 1}}, [("added", "/a~1b~0", "", '{"二": 1}')]),
        ([1, 2, 3], [1, 3], [("removed", "/1", "2", "")]),
        ([1, 3], [1, 2, 3], [("added", "/1", "", "2")]),
        ([{"n": 1}, 5], [{"n": 2}, 5], [("changed", "/0/n", "1", "2")]),
        ([], {}, [("changed", "", "[]", "{}")]),
        ([False, 1], [0, 1], [("changed", "/0", "false", "0")]),
        ({"a": None}, {"a": None}, []),
    ],
)
def test_each_change_has_its_place(before, after, changes):
    found = compare_values(before, after).changes
    assert [(one.kind, one.pointer, one.before, one.after) for one in found] == changes


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(JSON, JSON)
def test_values_differ_exactly_where_changes_are_told(before, after):
    same = json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)
    assert bool(compare_values(before, after).changes) is not same
    assert compare_values(before, before).changes == ()


def test_too_many_changes_are_cut_and_said():
    found = compare_values({}, {str(n): n for n in range(MAX_CHANGES + 1)})
    assert (len(found.changes), found.truncated) == (MAX_CHANGES, True)
    assert not compare_values(list(range(5_000)), list(range(5_000))).changes


@pytest.fixture
def pair(publish_skill, alice, team):
    version = publish_skill()
    earlier = make_run(version, alice, team, request={"inputs": {"days": 7}, "script": "report"})
    later = make_run(
        version,
        alice,
        team,
        request={"inputs": {"days": 9, "city": "x"}, "script": "report", "debug": True},
        result={"outputs": {"rows": 9, "city": "北京"}},
        version_number="1.0.1",
        rerun_of=earlier,
    )
    add_log(earlier, ("stdout", "one\ntwo\n"))
    add_log(later, ("stdout", "one\nthree\n"))
    add_step(earlier, 0, "only before")
    add_artifact(earlier, "same.txt", b"a")
    add_artifact(later, "same.txt", b"a")
    add_artifact(later, "new.txt", b"b")
    return earlier, later


@pytest.mark.django_db
def test_everything_of_two_runs_is_compared(pair, actor_of, alice):
    before, after = find_readable_pair(pair[0].uid, pair[1].uid, actor_of(alice))
    document = comparison_document(before, after, compare_runs(before, after))
    json.dumps(document)
    changed = {
        fact["name"]: (fact["before"], fact["after"]) for fact in document["facts"] if not fact["same"]
    }
    assert changed == {"version": ("1.0.0", "1.0.1"), "debug": ("", "True")}
    assert [one["pointer"] for one in document["inputs"]["changes"]] == ["/days", "/city"]
    assert [one["pointer"] for one in document["output"]["changes"]] == ["/rows"]
    assert [one["kind"] for one in document["artifacts"]] == ["added", "same"]
    alone = [pair["name"] for pair in document["steps"] if pair["after"] is None]
    assert (alone, len(document["steps"])) == (["only before"], 6)
    assert [line["before"] for line in document["log"]["lines"]] == ["two", ""]


@pytest.mark.django_db
@pytest.mark.row("P2")
@pytest.mark.parametrize("turned", [False, True])
def test_a_run_that_may_not_be_read_is_as_one_that_is_not_there(pair, actor_of, charlie, team, turned):
    own = make_run(pair[0].skill.versions.get(), charlie, None)
    uids = (pair[0].uid, own.uid) if turned else (own.uid, pair[0].uid)
    told = []
    before, after = (uid if uid == own.uid else "0" * 26 for uid in uids)
    for pair_of in (uids, (before, after)):
        with pytest.raises(Refusal) as refused:
            find_readable_pair(*pair_of, actor_of(charlie))
        told.append((refused.value.code, str(refused.value).replace(pair[0].uid, "0" * 26)))
    assert told[0] == told[1]


@pytest.mark.django_db
def test_shell_compares_runs(pair):
    status, document = api("GET", f"runs/{pair[0].uid}/compare/{pair[1].uid}")
    assert (status, document["log"]["added"]) == (0, 1)
    assert {"name": "version", "before": "1.0.0", "after": "1.0.1", "same": False} in document["facts"]
