"""Every prepared read returns the rows of its queryset, for actors of many shapes and for many values."""

from __future__ import annotations

import inspect
import sys
from datetime import UTC, datetime, timedelta
from itertools import cycle, product
from typing import Any

import pytest
from django.contrib.auth import SESSION_KEY
from django.db.models import Model
from django.utils import timezone

import portal.urls
from registry.core.sql import evaluate, prepared
from registry.identity.actors import ANONYMOUS, Actor
from registry.models import (
    Canonical,
    Channel,
    EntryCommandLine,
    EntryNeeds,
    File,
    Membership,
    PinnedSkill,
    Role,
    RunReaders,
    Skill,
    Team,
    Token,
    TriggerTestResult,
    User,
    Version,
)
from registry.models.session import SessionStore, UserSession
from registry.packages.checks.cases import CASES_YAML
from registry.search.query import Filters
from registry.usage.scores import BEST_FIRST
from tests.factories.runs import make_past_run, make_run
from tests.factories.skills import publish_files, tidy_files
from worker.daily_runs.roll_up import roll_up
from worker.models import (
    Approval,
    Attempt,
    CaseResult,
    DependencyBuild,
    ModuleLoad,
    Notification,
    NotificationEvent,
    Run,
    RuntimeChoice,
)

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]
MEMBERSHIPS: dict[str, dict[int, Role]] = {
    **{f"{role}-{at}": {at: role} for role in Role for at in (0, 3)},
    "none": {},
    "three": {0: Role.VIEWER, 1: Role.MEMBER, 2: Role.OWNER},
    "four": {0: Role.MEMBER, 1: Role.MEMBER, 2: Role.MEMBER, 3: Role.MAINTAINER},
    "root": {},
    "root-in-team": {1: Role.VIEWER},
    "service": {2: Role.MAINTAINER},
}


@pytest.fixture
def teams(db):
    readers = cycle(RunReaders.values)
    return [
        Team.objects.create(slug=f"team-{n}", name=f"Team {n}", run_readers=next(readers)) for n in range(4)
    ]


@pytest.fixture
def users(teams):
    found = []
    for name, roles in MEMBERSHIPS.items():
        kind = "service" if name == "service" else "person"
        user = User.objects.create_user(name, is_superuser=name.startswith("root"), kind=kind)
        Membership.objects.bulk_create(
            Membership(user=user, team=teams[at], role=role) for at, role in roles.items()
        )
        found.append(user)
    return found


@pytest.fixture
def actors(users, teams):
    def with_token(user, *scopes, team=None):
        return Actor(user=user, token=Token(team=team), scopes=frozenset(scopes))

    few = [user for user in users if user.username in ("owner-0", "three", "root", "service", "none")]
    return [
        ANONYMOUS,
        Actor(is_shell=True),
        Actor(user=users[0], operator=Actor(is_shell=True)),
        *(Actor(user=user) for user in users),
        *(with_token(user, "run") for user in few),
        *(with_token(user, "read", "settings") for user in few),
        *(with_token(user, "read", team=teams[0]) for user in few),
        *(with_token(user, "run", team=teams[2]) for user in few),
    ]


@pytest.fixture
def versions(teams, users):
    found, root = [], next(user for user in users if user.username == "root")
    for at, team in enumerate(teams[:3]):
        for number in ("1.0.0", "1.1.0"):
            version = publish_files(tidy_files(number), team=team, user=root)
            found.append(version)
        visibility = ("private", "site", "public")[at]
        Skill.objects.filter(pk=version.skill_id).update(
            visibility=visibility,
            usage_count=2 * at,
            last_used_at=timezone.now() - timedelta(days=5 * at) if at else None,
            hot_key=at,
            search_scope=(f"team:{team.pk}", "site", "public")[at],
            paths=["*.py"],
        )
        for user in users[at::3]:
            PinnedSkill.objects.create(user=user, skill=version.skill)
        Canonical.objects.create(
            slug=f"name-{at}", skill=version.skill, version=version, digest=version.digest
        )
    for at, version in enumerate(found):
        _add_rows(version, users[at])
    Version.objects.filter(pk=found[2].pk).update(held_at=timezone.now(), released_at=None)
    return found


def _add_rows(version, user):
    Channel.objects.create(skill=version.skill, name=f"channel-{version.number}", version=version)
    for name in ("b", "a"):
        EntryNeeds.objects.create(version=version, path=f"scripts/{name}.py", document={})
        ModuleLoad.objects.create(version=version, path=f"{name}.py")
        build = DependencyBuild.objects.create(
            key=f"{version.pk}{name}", kind="python", platform=name, spec="{}"
        )
        build.versions.add(version)
    for origin in ("package", "accepted"):
        TriggerTestResult.objects.create(
            version=version, utterance=origin, must_match=True, passed=True, origin=origin
        )
    RuntimeChoice.objects.create(version=version, name="python", chosen_by=user)
    EntryCommandLine.objects.create(version=version, script="a", path="scripts/a.py", document={})
    File.objects.create(version=version, path=CASES_YAML, digest=version.digest, size=1, is_text=True)
    CaseResult.objects.create(version=version, name="case", problem={"code": "X"})


@pytest.fixture
def runs(versions, users, teams):
    """Runs by every user in every team, counted and uncounted, ended and waiting, with child runs."""
    found, statuses = [], cycle(("succeeded", "failed", "waiting_approval"))
    for number, (user, team) in enumerate(product(users, teams)):
        version = versions[number % len(versions)]
        grants = {"secrets": {f"KEY_{number % 3}": "x"}}
        run = make_run(version, user, team, status=next(statuses), grants=grants)
        if run.status == "waiting_approval":
            Run.objects.filter(pk=run.pk).update(finished_at=None)
            Approval.objects.create(run=run, expires_at=timezone.now() + timedelta(days=1))
        elif number % 4 == 0:
            make_run(versions[0], user, team, parent=run)
        else:
            make_past_run(version, user, team, days=number % 9)
        found.append(run)
    connected = Attempt.objects.filter(run__in=found[::3])
    connected.update(network=[{"host": "example.org", "allowed": True, "count": 2}])
    Run.objects.filter(pk__in=[run.pk for run in found[::2]]).update(is_counted=False)
    while roll_up():
        pass
    Run.objects.filter(pk__in=[run.pk for run in found[::5]]).update(is_counted=False)
    _notify(found, users)
    return found


@pytest.fixture
def tokens(users):
    for user, stored, previous in ((users[0], "a" * 64, "c" * 64), (users[1], "d" * 64, "b" * 64)):
        Token.objects.create(
            owner=user,
            name=stored[:1],
            secret_hash=stored,
            previous_hash=previous,
            previous_expires_at=timezone.now() + timedelta(days=2),
            expires_at=timezone.now() + timedelta(days=9),
        )


@pytest.fixture
def sessions(users):
    for user in users:
        session = SessionStore()
        session[SESSION_KEY] = str(user.pk)
        session.save()


def _notify(runs, users):
    now = timezone.now()
    for run in runs[::3]:
        for kind, fields in (("run_failed", {"run": run}), ("approval", {"run": run})):
            event = NotificationEvent.objects.create(
                kind=kind, at=now, skill=run.skill, team=run.team, **fields
            )
            for user in users[::2]:
                Notification.objects.create(event=event, user=user, created_at=now)


def _prepared_reads():
    assert portal.urls.urlpatterns  # imports all pages
    floors = ("registry.", "worker.", "portal.")
    modules = [module for name, module in sorted(sys.modules.items()) if name.startswith(floors)]
    return {
        f"{value.build.__module__}.{value.build.__name__}": value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, prepared)
    }


READS = _prepared_reads()


@pytest.fixture
def candidates(actors, versions, users, teams, runs, sessions, tokens):
    """The arguments of prepared reads, by the name of the parameter."""
    skills = [version.skill_id for version in versions[::2]]
    now = datetime.now(UTC)
    return {
        "actor": actors,
        "skill": [*skills, 0],
        "skill_id": [*skills, 0],
        "version": [version.pk for version in versions],
        "user": [user.pk for user in users],
        "key": [user.pk for user in users],
        "session": list(UserSession.objects.values_list("session_key", flat=True)),
        "now": [now, now + timedelta(days=30)],
        "team": [team.pk for team in teams],
        "number": ["1.1.0", "1.0.0"],
        "team_slug": ["team-0", "team-2", "absent"],
        "slug": sorted({version.skill.slug for version in versions}),
        "stored": ["a" * 64, "b" * 64],
        "cut": [now - timedelta(days=7)],
        "least": [-1.0],
        "hot_key": [1e300],
        "count": [2**31 - 1, 3],
        "after": [0],
        "for_agents": [False, True],
        "precedence": [version.precedence for version in versions[:2]],
        "first": [(now - timedelta(days=days)).date() for days in (4, 90)],
        "sees_all": [False, True],
        "sees_held": [False, True],
        "filters": [
            Filters(),
            Filters(for_people=True),
            Filters(team="team-1", for_people=True, for_agents=True),
            Filters(team="team-2", tag="reports", kind="script"),
            Filters(team="team-2", tag="", kind="script", language="en"),
        ],
        "facet": ["tag", "kind"],
        "column": ["skills", "for_people"],
        "order": BEST_FIRST,
        "limit": [1, 4],
        "teams": [[team.pk for team in teams[at:]] for at in range(3)],
        "skills": [skills, skills[1:]],
        "slugs": [sorted({version.skill.slug for version in versions})],
        "new_since": [now - timedelta(days=7)],
        "is_from_teams": [False, True],
    }


def _calls(read, candidates):
    """The arguments of calls with every combination of the candidates: positional ones and constants."""
    parameters = inspect.signature(read.build).parameters
    constants = [name for name, each in parameters.items() if each.kind is each.KEYWORD_ONLY]
    more = next((name for name, each in parameters.items() if each.kind is each.VAR_POSITIONAL), None)
    for values in product(*(candidates[name] for name in parameters)):
        chosen = dict(zip(parameters, values, strict=True))
        if more:
            args = [chosen[name] for name in parameters if name != more]
            yield [*args, *chosen[more]], {}
            continue
        yield (
            [chosen[name] for name in parameters if name not in constants],
            {n: chosen[n] for n in constants},
        )


def _contents(rows):
    return [_columns(row) if isinstance(row, Model) else row for row in rows]


def _columns(row):
    state = row._state.fields_cache
    own = {name: value for name, value in vars(row).items() if not name.startswith("_")}
    return own | {name: value and _columns(value) for name, value in state.items()}


@pytest.mark.slow(reason="reads as 38 actors")
def test_prepared_reads_return_the_rows_of_their_querysets(candidates):
    for name, read in READS.items():
        calls = list(_calls(read, candidates))
        expected = [_contents(read.build(*args, **constants)) for args, constants in calls]
        assert any(expected), name
        assert [_contents(read(*args, **constants)) for args, constants in calls] == expected, name


def test_all_reads_of_an_actor_in_one_statement_return_the_same_rows(candidates):
    for actor in candidates["actor"]:
        own: dict[str, Any] = candidates | {"actor": [actor]}
        calls = [(read, *next(_calls(read, own))) for read in READS.values()]
        rows = [read(*args, **constants) for read, args, constants in calls]
        evaluate(*rows)
        assert [_contents(each) for each in rows] == [
            _contents(read.build(*args, **constants)) for read, args, constants in calls
        ]
