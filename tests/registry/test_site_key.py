"""The site's secret key: recorded once, as a fingerprint; another one is recognized."""

from __future__ import annotations

import json

import pytest
from allauth.mfa.models import Authenticator
from django.core.management import CommandError, call_command

from registry.core import sealing
from registry.events import webhooks
from registry.identity import site_key
from registry.identity.actors import Actor
from registry.models import SiteKey

pytestmark = [pytest.mark.django_db, pytest.mark.row("P9")]


def test_first_recorded_key_is_the_site_s(settings):
    assert site_key.is_accepted(), "a site without a recorded key accepts any"
    site_key.record()
    assert site_key.is_accepted()
    settings.SECRET_KEY = "another"
    site_key.record()
    assert not site_key.is_accepted()


def test_database_reveals_nothing_of_the_key(settings):
    settings.SECRET_KEY = "a-key-of-the-site"
    site_key.record()
    (stored,) = SiteKey.objects.values_list("fingerprint", flat=True)
    assert settings.SECRET_KEY not in stored


def test_accept_secret_key_makes_this_host_s_key_the_site_s(settings, administrator, capsys):
    site_key.record()
    settings.SECRET_KEY = "another"
    call_command("accept_secret_key", "--json")
    assert json.loads(capsys.readouterr().out)["changed"] is True
    assert site_key.is_accepted()


def test_rotated_key_keeps_resealed_secrets(settings, administrator, alice, team, capsys):
    old = settings.SECRET_KEY
    endpoint, secret = webhooks.create(team, name="ci", actor=Actor(user=alice))
    factor = Authenticator.objects.create(user=alice, type="totp", data={"secret": sealing.seal("TOTP")})
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new", [old]
    endpoint.refresh_from_db()
    assert sealing.unseal(endpoint.secret) == secret
    call_command("reseal_secrets", "--json")
    assert json.loads(capsys.readouterr().out)["second_factors"] == 1
    settings.SECRET_KEY_FALLBACKS = []
    endpoint.refresh_from_db()
    factor.refresh_from_db()
    assert (sealing.unseal(endpoint.secret), sealing.unseal(factor.data["secret"])) == (secret, "TOTP")


def test_only_administrators_accept_a_key(alice, administrator, settings):
    site_key.record()
    settings.SECRET_KEY = "another"
    with pytest.raises(SystemExit):
        call_command("accept_secret_key", "--as", "alice", "--json")
    assert not site_key.is_accepted()


def test_up_with_another_key_is_refused_with_one_line(settings):
    site_key.record()
    settings.SECRET_KEY = "another"
    with pytest.raises(CommandError, match="SKILLQUAY_SECRET_KEY"):
        call_command("up")
