"""Second factors in chromium: a passkey on its virtual authenticator, and recovery codes as a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from allauth.mfa.models import Authenticator

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.row("P2", "P8")]


@pytest.fixture
def authenticator(page):
    """A device with a fingerprint sensor that always recognizes its owner."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})


@pytest.mark.slow(reason="nine pages, four of them checked for accessibility")
def test_passkey_is_added_and_signs_in_alone_and_after_the_password(
    page, server, sign_in, axe, authenticator, bob
):
    sign_in(bob)
    page.goto("/account/security/")
    page.click("[data-action=add-key]")
    page.fill("[name=name]", "Laptop")
    page.check("[name=passwordless]")
    axe()
    page.click("button[data-action=add-key]")
    with page.expect_download() as download:
        page.click("[data-action=download]")
    assert len(Path(download.value.path()).read_text().splitlines()) == 10
    axe()
    page.goto("/account/security/")
    assert page.locator("[data-part=factor][data-value=webauthn]").count() == 1
    axe()
    page.context.clear_cookies()
    page.goto("/sign-in/?next=/account/")
    page.click("[data-action=use-key]")
    page.wait_for_url(f"{server}/account/")
    page.context.clear_cookies()
    page.goto("/sign-in/")
    page.fill("input[name=username]", "bob")
    page.fill("input[name=password]", "bob-password")
    page.click("main form button >> nth=0")
    page.wait_for_url("**/sign-in/second-factor/")
    axe()
    page.click("[data-action=use-key]")
    page.wait_for_url(f"{server}/")
    page.goto("/account/")
    assert page.url == f"{server}/account/"
    assert Authenticator.objects.get(type="webauthn").last_used_at
