"""Uses by clients without a token: one per skill, address and day."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.identity import client_address
from registry.models import Skill, Use
from registry.usage.recording import record_use

pytestmark = [pytest.mark.django_db, pytest.mark.row("D9")]


@pytest.fixture
def skill(team):
    return Skill.objects.create(team=team, slug="report", name="Report")


@pytest.fixture
def noon():
    return timezone.now().replace(hour=12)


def use(skill, address, at):
    with client_address.bind(address):
        return record_use(skill, "anonymous", "install", now=at)


def test_client_without_token_counts_once_per_address_and_day(skill, noon):
    assert use(skill, "192.0.2.1", noon)
    assert not use(skill, "192.0.2.1", noon + timedelta(hours=3))
    assert use(skill, "192.0.2.2", noon + timedelta(hours=3))
    assert use(skill, "192.0.2.1", noon + timedelta(days=1))
    skill.refresh_from_db()
    assert skill.usage_count == 3


def test_address_is_not_stored_and_rows_of_earlier_days_are_removed(skill, noon):
    use(skill, "192.0.2.1", noon - timedelta(days=3))
    assert record_use(skill, "user:1", "install", now=noon - timedelta(days=3))
    use(skill, "192.0.2.1", noon)
    callers = sorted(Use.objects.values_list("caller", flat=True))
    assert len(callers) == 2
    assert callers[1] == "user:1"
    assert "192.0.2.1" not in callers[0]
