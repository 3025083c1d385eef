"""Remembered routes answer as Django's own."""

import pytest
from django.urls import Resolver404, get_resolver, reverse

from portal.delivery.remembered_routes import RememberedRoutes
from portal.urls import urlpatterns

pytestmark = pytest.mark.row("P9")
PATHS = ("skills/", "skills/a/report/", "skills/b/report/", "skills/a/report/1.0.0/", "mcp", "")
LONG = f"skills/{'a' * 300}/report/"


@pytest.fixture
def routes():
    return RememberedRoutes(urlpatterns[0].url_patterns)


@pytest.mark.parametrize("path", [*PATHS, LONG])
def test_same_view_and_values_each_time(routes, path):
    wanted = super(RememberedRoutes, routes).resolve(path)
    for _ in range(2):
        found = routes.resolve(path)
        assert (found.func, found.args, found.kwargs) == (wanted.func, wanted.args, wanted.kwargs)
        assert (found.view_name, found.route) == (wanted.view_name, wanted.route)


def test_unknown_path_has_no_view(routes):
    for _ in range(2):
        with pytest.raises(Resolver404):
            routes.resolve("no/such/path/at/all/")


def test_long_paths_are_not_kept_in_memory(routes):
    for path in (*PATHS, LONG):
        routes.resolve(path)
    assert routes._remembered.cache_info().currsize == len(PATHS)


def test_names_lead_to_paths_below_the_prefix():
    address = reverse("skill", args=["team-a", "report"])
    assert get_resolver().resolve(address).kwargs == {"team": "team-a", "slug": "report"}
