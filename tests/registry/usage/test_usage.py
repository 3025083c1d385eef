from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from math import log

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.models import Skill, Use, UseDay
from registry.usage import recording
from registry.usage import scores as usage

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.fixture
def skill(team):
    return Skill.objects.create(team=team, slug="report", name="Report")


@pytest.mark.row("D9")
@pytest.mark.parametrize(
    ("count", "days", "expected"),
    [(0, 0, 0), (1, 0, 1), (8, 7, 4), (8, 14, 2), (10, 21, 1.25), (10, 28, 1), (10, 365, 1), (3, -1, 3)],
)
def test_the_score_halves_each_week_down_to_a_tenth(count, days, expected):
    assert usage.score(count, NOW - timedelta(days=days), NOW) == pytest.approx(expected)


@pytest.mark.row("D9")
def test_what_was_never_used_scores_nothing():
    assert usage.score(0, None, NOW) == 0


@pytest.mark.row("D9")
@pytest.mark.django_db
def test_calls_of_one_caller_within_a_minute_count_once(skill):
    moments = [0, 1, 59.9, 60, 61, 119.9, 120]
    counted = [recording.record_use(skill, "user:1", "run", now=NOW + timedelta(seconds=s)) for s in moments]
    assert counted == [True, False, False, True, False, False, True]
    skill.refresh_from_db()
    assert (skill.usage_count, skill.last_used_at) == (3, NOW + timedelta(seconds=120))


@pytest.mark.row("D9")
@pytest.mark.django_db
def test_another_kind_of_use_within_the_minute_does_not_count_either(skill):
    assert recording.record_use(skill, "user:1", "load", now=NOW)
    assert not recording.record_use(skill, "user:1", "run", now=NOW)


@pytest.mark.row("D9")
@pytest.mark.django_db
def test_another_caller_and_another_skill_count_for_themselves(skill, team):
    other = Skill.objects.create(team=team, slug="other", name="Other")
    assert recording.record_use(skill, "user:1", "run", now=NOW)
    assert recording.record_use(skill, "user:2", "run", now=NOW)
    assert recording.record_use(other, "user:1", "run", now=NOW)
    skill.refresh_from_db()
    assert skill.usage_count == 2
    assert Use.objects.count() == 3
    later = [NOW + timedelta(minutes=2, seconds=second) for second in (0, 10)]
    assert [recording.record_use(skill, "user:3", "run", now=at) for at in later] == [True, False]


@pytest.mark.row("D9")
@pytest.mark.django_db
def test_the_order_by_use_is_exact(team):
    dice = random.Random(9)
    skills = []
    for n in range(300):
        count, last = dice.randint(1, 60), NOW - timedelta(hours=dice.randint(0, 2000))
        used = {"usage_count": count, "last_used_at": last, "hot_key": _heat(count, last)}
        skills.append(Skill.objects.create(team=team, slug=f"s{n}", name=f"S{n}", **used))
    unused = Skill.objects.create(team=team, slug="unused", name="Unused")
    for limit in (1, 5, 20, 100):
        exact = sorted(skills, key=lambda s: (-usage.score(s.usage_count, s.last_used_at, NOW), s.pk))[:limit]
        assert usage.most_used(Skill.objects.all(), limit, now=NOW) == exact
    assert unused not in usage.most_used(Skill.objects.all(), 1000, now=NOW)
    assert usage.most_used(Skill.objects.all(), 9, start=4, now=NOW) == exact[4:9]
    assert usage.most_used(Skill.objects.filter(pk__in=[]), 5, now=NOW) == []


@pytest.mark.row("D9")
@pytest.mark.django_db
def test_pages_of_any_length_together_are_the_order_of_the_formula(team):
    dice = random.Random(4)
    for n in range(120):
        count, last = dice.randint(0, 40), NOW - timedelta(hours=dice.randint(0, 1200))
        used = {"usage_count": count, "last_used_at": last, "hot_key": _heat(count, last)} if count else {}
        Skill.objects.create(team=team, slug=f"s{n}", name=f"S{n}", **used)
    exact = sorted(
        Skill.objects.all(), key=lambda s: (-usage.score(s.usage_count, s.last_used_at, NOW), s.pk)
    )
    for length in (1, 7, 120, 121):
        seen: list[int] = []
        place: usage.ScorePosition | None = usage.ScorePosition(NOW.timestamp())
        while place:
            keys, place = usage.keys_by_score(Skill.objects.all(), length, place)
            seen += keys
        assert seen == [skill.pk for skill in exact]


_USED = st.tuples(st.integers(1, 1000), st.integers(0, 5000))  # times, the last one so many hours ago


@pytest.mark.row("D9")
@pytest.mark.django_db
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(uses=st.lists(_USED, min_size=1, max_size=12), limit=st.integers(1, 12), days=st.integers(0, 200))
def test_the_most_used_are_those_that_the_formula_says_whenever_it_is_asked(team, uses, limit, days):
    Skill.objects.all().delete()
    for n, (count, hours) in enumerate(uses):
        last = NOW - timedelta(hours=hours)
        used = {"usage_count": count, "last_used_at": last, "hot_key": _heat(count, last)}
        Skill.objects.create(team=team, slug=f"s{n}", name=f"S{n}", **used)
    later = NOW + timedelta(days=days)
    scores = sorted(
        (usage.score(s.usage_count, s.last_used_at, later) for s in Skill.objects.all()), reverse=True
    )
    found = usage.most_used(Skill.objects.all(), limit, now=later)
    assert [usage.score(s.usage_count, s.last_used_at, later) for s in found] == pytest.approx(scores[:limit])


@pytest.mark.row("D9")
@pytest.mark.django_db
def test_uses_are_counted_by_kind_version_and_day(skill):
    uses = [("user:1", "run", 100), ("user:1", "load", 1), ("user:1", "run", 0), ("user:2", "run", 0)]
    for caller, kind, age in uses:
        recording.record_use(skill, caller, kind, version="1.0.0", now=NOW - timedelta(days=age))
    recording.record_use(skill, "user:3", "install", now=NOW)
    days = usage.uses_by_day(skill, now=NOW)
    assert len(days) == 90
    assert days[-1].day == NOW.date()
    assert [day.counts for day in days[-2:]] == [{"load": 1}, {"run": 2, "install": 1}]
    assert sum(day.total for day in days) == 4
    assert usage.uses_by_kind(skill) == {"run": 3, "load": 1, "install": 1}
    assert usage.uses_by_version(skill) == {"1.0.0": {"run": 3, "load": 1}, "": {"install": 1}}


@pytest.mark.row("D9")
@pytest.mark.django_db
def test_what_the_hold_keeps_back_is_counted_nowhere(skill):
    for second in (0, 30):
        recording.record_use(skill, "user:1", "run", now=NOW + timedelta(seconds=second))
    assert UseDay.objects.get().count == Use.objects.get().count == 1


@pytest.mark.row("D9")
@pytest.mark.django_db
def test_a_score_says_how_it_came_about(skill):
    recording.record_use(skill, "user:1", "run", now=NOW)
    skill.refresh_from_db()
    fresh, old = usage.explain_score(skill, now=NOW), usage.explain_score(skill, now=NOW + timedelta(days=24))
    assert (fresh.count, fresh.days, fresh.factor, fresh.value, fresh.is_floor) == (1, 0, 1, 1, False)
    assert (old.days, old.value, old.is_floor) == (24, 0.1, True)


@pytest.mark.row("D9")
@pytest.mark.django_db
def test_the_stored_heat_is_the_logarithm_of_the_decayed_count(skill):
    for minute in range(5):
        recording.record_use(skill, "user:1", "run", now=NOW + timedelta(minutes=minute))
    skill.refresh_from_db()
    assert skill.hot_key == pytest.approx(_heat(5, NOW + timedelta(minutes=4)))


def _heat(count, last):
    return log(count) + last.timestamp() * log(2) / (7 * 86400)
