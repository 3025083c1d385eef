"""Install links by API."""

from __future__ import annotations

import pytest

from registry.models import Token
from tests.factories.skills import publish_files, tidy_files

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7")]


def test_links_are_created_listed_and_revoked(team, alice, bob, token_api):
    publish_files(tidy_files(), team=team, user=alice)
    api = token_api(alice, "administer", "read")
    made = api.post("/api/v1/install-links", {"target": "docs/weekly-report", "days": 1})
    assert made.status_code == 201
    assert made.json()["address"].endswith("/docs/weekly-report")
    listed = api.get("/api/v1/install-links").json()["items"]
    assert [(row["target"], row["state"]) for row in listed] == [("docs/weekly-report", "active")]
    assert "address" not in listed[0]
    uid = made.json()["id"]
    assert token_api(bob, "administer").get("/api/v1/install-links").json()["items"] == []
    assert token_api(bob, "administer")("DELETE", f"/api/v1/install-links/{uid}").status_code == 404
    assert api("DELETE", f"/api/v1/install-links/{uid}").status_code == 204
    assert api.get("/api/v1/install-links").json()["items"][0]["state"] == "revoked"
    assert uid not in [row["id"] for row in api.get("/api/v1/tokens").json()["items"]]


def test_token_without_the_scope_and_invalid_values_are_refused(team, alice, token_api):
    assert token_api(alice).post("/api/v1/install-links", {"target": "docs"}).status_code == 403
    api = token_api(alice, "administer", "read")
    for body, code in (
        ({"target": "docs", "days": 91}, "FIELD_INVALID"),
        ({"target": "a/b/c"}, "INSTALL_LINK_TARGET"),
        ({}, "FIELD_REQUIRED"),
        ({"target": "absent"}, "NOT_FOUND"),
    ):
        assert api.post("/api/v1/install-links", body).json()["code"] == code
    assert not Token.objects.filter(is_link=True).exists()
