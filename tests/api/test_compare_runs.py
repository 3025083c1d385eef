import pytest

from registry.models import Team
from tests.api.conftest import assert_error
from tests.factories.runs import make_run

pytestmark = [pytest.mark.row("P5"), pytest.mark.django_db]


@pytest.fixture
def pair(public_version, bob):
    team = Team.objects.get(slug="docs")
    inputs = ({"days": 7}, {"days": 9})
    return [make_run(public_version, bob, team, request={"inputs": one}).uid for one in inputs]


def test_two_runs_are_compared(pair, as_bob):
    document = as_bob.get(f"runs/{pair[0]}/compare/{pair[1]}").json()
    assert document["inputs"]["changes"] == [
        {"kind": "changed", "pointer": "/days", "before": "7", "after": "9"}
    ]
    assert document["url"].endswith(f"/runs/{pair[0]}/compare/{pair[1]}/")


@pytest.mark.row("P2")
def test_runs_of_others_are_not_there(pair, as_charlie):
    assert_error(as_charlie.get(f"runs/{pair[0]}/compare/{pair[1]}"), 404, "NOT_FOUND")
