"""Sign-up, mailed invitations and forgotten passwords, with a real mail server."""

from __future__ import annotations

import re
import time

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from portal import env
from registry.models import Invitation, User
from tests.pages import part, parts
from tests.servers.mail import run_mail_server

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


@pytest.fixture
def mail(settings):
    with run_mail_server() as server:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address[:2]
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        settings.EMAIL_HOST_USER = ""
        yield server


@pytest.fixture(autouse=True)
def no_mail(settings):
    settings.EMAIL_HOST, settings.SKILLQUAY_SIGN_UP, settings.SKILLQUAY_SIGN_UP_DOMAINS = "", "closed", []


@pytest.fixture
def mei(db):
    return User.objects.create_user("mei", email="mei@example.com", password="mei-password")


def received(server, count=1):
    """The mails, once this many have arrived."""
    until = time.monotonic() + 5
    while len(server.messages) < count and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.05)
    assert len(server.messages) == count
    return server.messages


def path_in(message):
    found = re.search(r"http://127\.0\.0\.1:8000(/\S+)", message.get_content())
    assert found
    return found[1]


def invite(client, email="tom@example.com"):
    given = {"form": "invite", "invite-email": email, "invite-role": "member", "invite-days": "7"}
    return client.post("/site/users/", given)


def test_invitation_is_mailed_with_its_link(mail, browse, administrator):
    page = invite(browse(administrator))
    assert part(page, "mailed")["state"] == "sent"
    (message,) = received(mail)
    assert message["To"] == "tom@example.com"
    joined = Client().post(path_in(message), {"username": "tom", "password": "correct horse battery"})
    assert joined.status_code == 302
    assert User.objects.get(username="tom").email == "tom@example.com"


def test_failed_mail_is_shown_and_the_link_can_be_copied(mail, browse, administrator):
    mail.refuses = True
    page = invite(browse(administrator))
    assert part(page, "mailed")["state"] == "failed"
    assert "/join/" in part(page, "invited").text


def test_without_a_mail_server_nothing_is_mailed(browse, administrator, mailoutbox):
    assert not parts(invite(browse(administrator)), "mailed")
    assert not mailoutbox
    assert Client().get("/forgot-password/").status_code == 404


def test_reset_link_is_mailed_to_the_user(mail, browse, administrator, mei):
    page = browse(administrator).post(f"/site/users/{mei.uid}/reset-password/")
    assert part(page, "mailed")["state"] == "sent"
    assert Client().get(path_in(received(mail)[0]), follow=True).status_code == 200


def test_mail_speaks_the_language_of_the_page(mail, browse, administrator):
    invite(browse(administrator, language="zh-hans"))
    assert re.search("[\u4e00-\u9fff]", received(mail)[0]["Subject"])


def test_forgotten_password_is_set_by_a_mailed_link_that_works_once(mail, mei):
    Client().post("/forgot-password/", {"email": "MEI@example.com"})
    assert User.objects.get(pk=mei.pk).check_password("mei-password")
    link = path_in(received(mail)[0])
    client = Client()
    form = client.get(link, follow=True).redirect_chain[-1][0]
    chosen = "correct horse battery"
    client.post(form, {"new_password1": chosen, "new_password2": chosen})
    assert User.objects.get(pk=mei.pk).check_password(chosen)
    assert Client().get(link, follow=True).status_code == 404


def content(answer):
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", answer.content.decode())


@pytest.mark.parametrize("path", ["/forgot-password/", "/sign-up/"])
def test_answer_is_the_same_for_known_and_unknown_addresses(mail, settings, mei, path):
    settings.SKILLQUAY_SIGN_UP = "open"
    known, unknown = (Client().post(path, {"email": f"{name}@example.com"}) for name in ("mei", "nobody"))
    assert content(known) == content(unknown)
    assert part(known, state="sent")


@pytest.mark.parametrize("change", [{"is_active": False}, {"password": "!"}])
def test_forgotten_password_of_an_unusable_account_is_not_mailed(mail, mei, change):
    User.objects.filter(pk=mei.pk).update(**change)
    Client().post("/forgot-password/", {"email": mei.email})
    received(mail, 0)


def test_sign_up_is_closed_by_default(mail):
    assert Client().get("/sign-up/").status_code == 404
    assert Client().post("/sign-up/", {"email": "tom@example.com"}).status_code == 404
    assert not Invitation.objects.exists()


def test_person_signs_up_with_a_mailed_link(mail, settings):
    settings.SKILLQUAY_SIGN_UP, settings.SKILLQUAY_SIGN_UP_DOMAINS = "domain", ["example.com"]
    Client().post("/sign-up/", {"email": "tom@EXAMPLE.com"})
    link = path_in(received(mail)[0])
    Client().post(link, {"username": "tom", "password": "correct horse battery"})
    user = User.objects.get(username="tom")
    assert (user.email, user.is_superuser) == ("tom@example.com", False)
    assert Client().get(link).status_code == 404


@pytest.mark.parametrize("email", ["tom@evil.example", "tom@sub.example.com", "tom@example.com.evil.example"])
def test_other_domains_get_no_account(mail, settings, email):
    settings.SKILLQUAY_SIGN_UP, settings.SKILLQUAY_SIGN_UP_DOMAINS = "domain", ["example.com"]
    Client().post("/sign-up/", {"email": email})
    received(mail, 0)
    assert not Invitation.objects.exists()


def test_address_with_an_account_gets_its_user_name_instead_of_a_link(mail, settings, mei):
    settings.SKILLQUAY_SIGN_UP = "open"
    Client().post("/sign-up/", {"email": mei.email})
    assert "mei" in received(mail)[0].get_content()
    assert not Invitation.objects.exists()


def test_open_site_without_mail_leads_to_the_account_at_once(settings):
    settings.SKILLQUAY_SIGN_UP = "open"
    link = Client().post("/sign-up/")["Location"]
    joined = Client().post(link, {"username": "tom", "password": "correct horse battery"})
    assert joined.status_code == 302
    assert User.objects.filter(username="tom").exists()


def test_sign_up_and_forgotten_passwords_are_limited(mail, settings, rate_limits):
    settings.SKILLQUAY_SIGN_UP = "open"
    rate_limits(sign_in=1)
    answers = [Client().post(path, {"email": "x@y.example"}) for path in ("/sign-up/", "/forgot-password/")]
    assert [answer.status_code for answer in answers] == [200, 429]


@pytest.mark.parametrize("value", ["http://mail", "smtp://", "smtp://mail?tls=maybe"])
def test_setting_of_the_mail_server_is_checked(monkeypatch, value):
    monkeypatch.setenv("SKILLQUAY_EMAIL_URL", value)
    with pytest.raises(ImproperlyConfigured, match="SKILLQUAY_EMAIL_URL"):
        env.mail_server("SKILLQUAY_EMAIL_URL")


def test_mail_server_has_tls_by_default(monkeypatch):
    monkeypatch.setenv("SKILLQUAY_EMAIL_URL", "smtp://me:p%40ss@mail.example")
    read = env.mail_server("SKILLQUAY_EMAIL_URL")
    assert (read["EMAIL_PORT"], read["EMAIL_USE_TLS"], read["EMAIL_HOST_PASSWORD"]) == (587, True, "p@ss")


def test_sign_up_by_domain_requires_domains_and_mail(monkeypatch):
    monkeypatch.setenv("SKILLQUAY_SIGN_UP", "domain")
    with pytest.raises(ImproperlyConfigured, match="SKILLQUAY_SIGN_UP"):
        env.sign_up("SKILLQUAY_SIGN_UP", domains="SKILLQUAY_SIGN_UP_DOMAINS", mail="SKILLQUAY_EMAIL_URL")
