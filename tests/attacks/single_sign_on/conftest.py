"""An issuer that tests make hostile."""

from __future__ import annotations

import pytest

from tests.servers.issuer import (
    run_issuer,
    settings_of,
)


@pytest.fixture
def issuer(settings, monkeypatch):
    settings.SKILLQUAY_OUTBOUND_ALLOW = ["127.0.0.1"]
    monkeypatch.setattr("registry.single_sign_on.discovery.TIMEOUT", 10.0)
    with run_issuer() as issuer:
        settings.SKILLQUAY_OIDC = {"acme": settings_of(issuer)}
        yield issuer


@pytest.fixture
def configure(issuer, settings):
    """``configure(creates_users=False)``: changes the settings of the issuer."""

    def change(**more):
        settings.SKILLQUAY_OIDC = {"acme": settings_of(issuer, **more)}

    return change
