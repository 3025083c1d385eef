"""Mails about changes of a way to sign in, to the person whose account it is."""

from __future__ import annotations

import time

import pytest
from django.test import Client

from registry.accounts.second_factors import reset
from registry.models import AuditEntry
from tests.factories.second_factors import add_app
from tests.servers.mail import run_mail_server

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2"), pytest.mark.usefixtures("https")]


@pytest.fixture
def server(settings):
    with run_mail_server() as server:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address[:2]
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        settings.EMAIL_HOST_USER = ""
        yield server


@pytest.fixture
def client(bob):
    bob.email = "bob@example.com"
    bob.save()
    client = Client(headers={"accept-language": "en"})
    client.post("/sign-in/", {"username": "bob", "password": "bob-password"}, secure=True)
    return client


def change_password(client):
    new = {"new_password1": "correct horse battery", "new_password2": "correct horse battery"}
    client.post("/account/password/", {"old_password": "bob-password", **new}, secure=True)


def change_address(client):
    client.post("/account/", {"first_name": "Bob", "email": "eve@example.com"}, secure=True)


@pytest.mark.parametrize(
    ("change", "action"),
    [
        (change_password, "user.change_password"),
        (change_address, "user.change_email"),
        (add_app, "user.add_second_factor"),
    ],
)
def test_change_is_recorded_and_mailed_to_the_earlier_address(
    server, client, bob, django_capture_on_commit_callbacks, change, action
):
    with django_capture_on_commit_callbacks(execute=True):
        change(client)
    assert AuditEntry.objects.filter(action=action, user=bob).count() == 1
    (message,) = _received(server)
    assert message["To"] == "bob@example.com"
    assert "/account/sessions/" in message.get_content()
    assert "bob" in message.get_content()


def test_user_is_told_that_an_administrator_removed_the_factors(
    server, client, bob, actor_of, administrator, django_capture_on_commit_callbacks
):
    bob.refresh_from_db()
    with django_capture_on_commit_callbacks(execute=True):
        reset(bob, actor_of(administrator))
    assert len(_received(server)) == 1


def test_mail_server_that_fails_stops_no_change(server, client, bob, django_capture_on_commit_callbacks):
    server.refuses = True
    with django_capture_on_commit_callbacks(execute=True):
        change_password(client)
    bob.refresh_from_db()
    assert bob.check_password("correct horse battery")


def _received(server):
    until = time.monotonic() + 5
    while not server.messages and time.monotonic() < until:
        time.sleep(0.01)
    return server.messages
