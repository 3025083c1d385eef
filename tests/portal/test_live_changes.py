"""The stream that tells open pages what has changed: visibility, limits, sessions and the number of looks."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from portal.streaming.changes import feed, middleware
from portal.streaming.changes.feed import ChangeFeed
from portal.streaming.changes.middleware import PATH, ChangesMiddleware
from portal.streaming.changes.rows import KINDS, Row, Viewer, changes, read_rows
from registry.identity.actors import Actor
from registry.models import Membership, Team
from tests.checks import not_none
from tests.event_loops import run_in_loop
from tests.factories.runs import make_run
from worker.models import Approval, Run

pytestmark = pytest.mark.row("P5", "P9")
BOB, CHARLIE = Viewer(2, frozenset({7}), False), Viewer(3, frozenset(), False)
LONG_AGO = timezone.now() - timedelta(hours=1)


def row(state="queued", *, kinds=("runs",), at=LONG_AGO, is_active=False, users=(), teams=(7,)):
    return Row(frozenset(kinds), (state,), at, is_active, frozenset(users), frozenset(teams))


def viewer_of(user):
    actor = Actor(user=user)
    return Viewer(user.pk, actor.team_ids, actor.is_administrator)


# Which rows a viewer sees ----------------------------------------------------------------------------------
@pytest.mark.django_db
@pytest.mark.row("P2")
def test_viewers_see_the_changes_of_exactly_their_visible_runs(alice, bob, charlie, public, team):
    other = Team.objects.create(slug="other", name="Other")
    Membership.objects.create(team=other, user=charlie, role="viewer")
    private = replace_skill(public, other)
    runs = [
        make_run(version, caller, of)
        for version in (public.latest, private)
        for caller in (alice, bob, charlie)
        for of in (team, other, None)
    ]
    rows = read_rows()
    for user in (alice, bob, charlie):
        viewer = viewer_of(user)
        seen = {run.pk for run in runs if viewer.can_see(rows["run", run.pk])}
        assert seen == set(Run.objects.visible_to(Actor(user=user)).values_list("pk", flat=True)), user
    assert len(seen) < len(runs)
    assert all(replace(viewer, is_administrator=True).can_see(rows["run", run.pk]) for run in runs)


def replace_skill(public, team):
    from tests.factories.skills import prompt_files, publish_files

    user = public.latest.published_by
    Membership.objects.get_or_create(team=team, user=user, role="owner")
    version = publish_files(prompt_files(), team=team, user=user)
    Membership.objects.filter(team=team, user=user).delete()
    return version


@pytest.mark.row("P2")
def test_notifications_of_others_are_hidden_from_administrators():
    mine = row(kinds=["notifications"], users=[2], teams=[])
    assert BOB.can_see(mine)
    assert not replace(CHARLIE, is_administrator=True).can_see(mine)


@pytest.mark.django_db
def test_old_runs_that_wait_or_run_are_read(bob, public, team):
    active = {"finished_at": None, "result": None}
    waiting = make_run(public.latest, bob, team, status="waiting_approval", started_at=None, **active)
    Approval.objects.create(run=waiting, expires_at=timezone.now() + timedelta(days=1))
    running = make_run(public.latest, bob, team, status="running", **active)
    ended_just_now = make_run(public.latest, bob, team, finished_at=timezone.now())
    ended = make_run(public.latest, bob, team)
    for _ in range(50):
        make_run(public.latest, bob, team)
    rows = read_rows()
    assert rows["run", waiting.pk].kinds == {"runs", "approvals"}
    assert ("run", running.pk) in rows
    assert ("run", ended_just_now.pk) in rows
    assert ("run", ended.pk) not in rows


def test_new_changed_and_ended_rows_are_changes():
    asks, stays = row("waiting_approval", kinds=["runs", "approvals"], is_active=True), row()
    before = {("run", 1): asks, ("run", 2): stays, ("run", 3): row(is_active=True), ("run", 4): row()}
    decided = changes(before, {("run", 1): row("queued"), ("run", 2): stays, ("run", 5): row(teams=[9])})
    assert [(sorted(each.kinds), set(each.teams)) for each in decided] == [
        (["approvals", "runs"], {7}),
        (["runs"], {9}),
        (["runs"], {7}),
    ]


# The feed --------------------------------------------------------------------------------------------------
def test_one_look_serves_all_pages_and_only_viewers_of_a_row_learn_of_it():
    looks = []

    def read():
        looks.append(None)
        return {("run", 1): row("running" if len(looks) > 1 else "queued")}

    async def follow():
        changed = ChangeFeed(read, pause_s=0.01)
        with (
            changed.follow(BOB, 0) as first,
            changed.follow(BOB, 0) as second,
            changed.follow(CHARLIE, 0) as stranger,
        ):
            assert await first.wait(20) == await second.wait(20) == ["runs"]
            assert await stranger.wait(0.05) == []
        await asyncio.wait_for(not_none(changed.task), 20)
        seen = len(looks)
        await asyncio.sleep(0.05)
        assert len(looks) == seen
        assert not changed.per_user

    run_in_loop(follow())


@pytest.mark.parametrize(
    ("age_s", "kinds"), [(0.0, []), (5.0, ["runs"]), (600.0, sorted(KINDS))], ids=["new", "aged", "old"]
)
def test_page_learns_of_changes_before_it_followed(age_s, kinds):
    started = {("run", 1): row(at=timezone.now() - timedelta(seconds=3))}

    async def follow():
        with ChangeFeed(lambda: started, pause_s=0.01).follow(BOB, age_s) as page:
            assert await page.wait(0.2) == kinds

    run_in_loop(follow())


# The stream ------------------------------------------------------------------------------------------------
async def _stay():
    await asyncio.sleep(3600)


def streamed(statuses, *, changed=None, query=b""):
    """Status and body of the stream, where Django answers with ``statuses`` one after the other."""
    asked, sent = [], []

    async def app(scope, receive, send):
        asked.append(dict(scope["headers"]))
        status = statuses[min(len(asked), len(statuses)) - 1]
        body = {"user": 2, "teams": [7], "is_administrator": False}
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})

    async def send(message):
        sent.append(message)

    headers = [(b"cookie", b"sessionid=1"), (b"accept-encoding", b"gzip")]
    scope = {"type": "http", "method": "GET", "path": PATH, "query_string": query, "headers": headers}
    changed = changed or ChangeFeed(dict, pause_s=0.01)
    run_in_loop(ChangesMiddleware(app, changed)(scope, _stay, send))
    assert all(b"accept-encoding" not in each and b"cookie" in each for each in asked)
    assert not changed.pages
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent)


def test_stream_ends_with_the_session(monkeypatch):
    monkeypatch.setattr(middleware, "RECHECK_PERMISSION_S", 0)
    monkeypatch.setattr(middleware, "KEEP_ALIVE_S", 0.01)
    status, body = streamed([200, 200, 302])
    assert status == 200
    assert body.count(b"still here") == 1
    assert body.endswith(b"event: end\ndata: {}\n\n")


def test_stream_names_the_kinds_that_changed_and_ends_after_a_while(monkeypatch):
    monkeypatch.setattr(middleware, "MAX_STREAM_S", 0.1)
    monkeypatch.setattr(middleware, "KEEP_ALIVE_S", 0.2)
    status, body = streamed([200], query=b"age=600000")
    assert (status, b"end" in body) == (200, False)
    assert f"event: change\ndata: {' '.join(sorted(KINDS))}\n\n".encode() in body


def test_anonymous_users_get_no_stream():
    assert streamed([302])[0] == 302


@pytest.mark.django_db
def test_pages_per_user_are_limited(monkeypatch):
    monkeypatch.setattr(feed, "MAX_PAGES_PER_USER", 1)
    monkeypatch.setattr(middleware, "MAX_STREAM_S", 0)
    changed = ChangeFeed(dict, pause_s=0.01)
    changed.per_user[2] = 1
    status, page = streamed([200], changed=changed)
    assert (status, b"LIVE_PAGES_TOO_MANY" in page) == (429, True)
    changed.per_user.clear()
    assert streamed([200], changed=changed)[0] == 200


@pytest.mark.django_db
def test_view_gives_only_the_readers_own_teams(browse, bob, charlie, team):
    assert browse(bob).get(PATH).json() == {"user": bob.pk, "teams": [team.pk], "is_administrator": False}
    assert team.pk not in browse(charlie).get(PATH).json()["teams"]
    assert browse().get(PATH).status_code == 302
