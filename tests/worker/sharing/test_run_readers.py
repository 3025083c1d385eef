"""The team's setting of who can read its runs: the queryset and the table of permissions agree."""

from __future__ import annotations

import pytest

from registry.identity.actors import ANONYMOUS, Actor
from registry.identity.permissions import Action, Standing, may
from registry.models import Membership, Role, RunReaders, Team, Token, Version
from registry.packages.problems import Refusal
from tests.factories.runs import make_run
from tests.refusing import code
from worker.annotations.marks import set_pinned
from worker.daily_runs.roll_up import roll_up_all
from worker.models import DailyRuns, Run
from worker.retention.erase import erase_run
from worker.runs.cancel import cancel

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2", "P5")]


@pytest.fixture
def run(hello, alice):
    return make_run(Version.objects.get(), alice, hello.skill.team)


@pytest.fixture
def person_of(run, django_user_model):
    def person(kind):
        if kind == Standing.ANONYMOUS:
            return ANONYMOUS
        user = django_user_model.objects.create_user(f"a-{kind}", is_superuser=kind == "administrator")
        if kind in Role.values:
            Membership.objects.create(team=run.team, user=user, role=kind)
        return Actor(user=user)

    return person


@pytest.mark.parametrize("readers", RunReaders)
@pytest.mark.parametrize("kind", Standing)
def test_setting_opens_runs_for_reading_and_never_for_control(run, person_of, kind, readers):
    Team.objects.update(run_readers=readers)
    team, actor = Team.objects.get(pk=run.team_id), person_of(kind)
    reads = Run.objects.readable_by(actor).filter(pk=run.pk).exists()
    assert reads is may(actor, Action.READ_RUNS, team=team)
    controls = kind in ("maintainer", "owner", "administrator")
    assert Run.objects.controlled_by(actor).filter(pk=run.pk).exists() is controls
    for call in (cancel, erase_run):
        refused = None
        try:
            call(run, actor=actor)
        except Refusal as refusal:
            refused = refusal.code
        assert (refused is None) is controls


@pytest.mark.parametrize("readers", RunReaders)
@pytest.mark.parametrize("kind", Standing)
def test_counts_per_day_are_readable_like_the_runs(run, person_of, kind, readers):
    Team.objects.update(run_readers=readers)
    roll_up_all()
    actor = person_of(kind)
    expected = Run.objects.readable_by(actor).filter(pk=run.pk).exists()
    assert DailyRuns.objects.readable_by(actor).exists() is expected


def test_token_without_the_scope_reads_no_shared_run(run, bob):
    Team.objects.update(run_readers="team")
    roll_up_all()
    for scope, expected in (("read", True), ("run", False)):
        actor = Actor(user=bob, token=Token(owner=bob), scopes=frozenset({scope}))
        assert Run.objects.readable_by(actor).filter(pk=run.pk).exists() is expected
        assert DailyRuns.objects.readable_by(actor).exists() is expected


def test_viewer_reads_shared_runs_but_marks_none(run, bob):
    Team.objects.update(run_readers="team")
    set_pinned(run, True, Actor(user=bob))
    Membership.objects.filter(user=bob).update(role=Role.VIEWER)
    assert code(set_pinned, run, False, Actor(user=bob)) == "FORBIDDEN"
