"""Main paths of the account's pages."""

from __future__ import annotations

from allauth.mfa.models import Authenticator

from registry.accounts import invitations
from registry.device_logins import logins
from registry.identity import tokens
from registry.models import Membership, Role, Token, User
from tests.browser.main_paths import main_path
from tests.browser.main_paths.site import DemoSite
from tests.browser.visitor import Visitor
from tests.factories.second_factors import code_of_app

SAVE = "main form button.primary"
NEW_PASSWORD = "a-better-pass-phrase"


def _token(site: DemoSite) -> Token:
    until = site.now + site.day
    alice = site.user("alice")
    name = site.new_name("token")
    return tokens.issue(alice, name=name, scopes=["read", "run"], expires_at=until, by=site.actor())[0]


def _enter_name_and_password(visitor: Visitor, user: User) -> None:
    visitor.fill("[name=username]", user.username)
    visitor.fill("[name=password]", f"{user.username}-password")
    visitor.press(SAVE)


def _enter_new_password(visitor: Visitor) -> None:
    for field in ("new_password1", "new_password2"):
        visitor.fill(f"[name={field}]", NEW_PASSWORD)


@main_path("account/")
def change_the_profile(visitor: Visitor) -> None:
    visitor.open("/account/")
    visitor.fill("[name=first_name]", "Alice")
    visitor.press(SAVE)
    visitor.expect_message()


@main_path("account/tokens/")
def create_a_token(visitor: Visitor) -> None:
    name = visitor.site.new_name("token")
    visitor.open("/account/tokens/")
    visitor.fill("[name=name]", name)
    visitor.tick("[name=scopes][value=run]")
    visitor.tick("[name=expires_at][value='7']")
    visitor.press("section.card form button.primary")
    visitor.see("[data-part=secret]")
    assert set(Token.objects.get(name=name).scopes) == {"read", "run"}


@main_path("account/tokens/<str:uid>/")
def rotate_a_token(visitor: Visitor) -> None:
    token = _token(visitor.site)
    visitor.open(f"/account/tokens/{token.uid}/")
    visitor.tick("[name=overlap_hours][value='1']")
    visitor.press("[data-action=rotate]")
    visitor.see("[data-part=secret]")


@main_path("account/tokens/<str:uid>/rules/")
def add_a_rule_to_a_token(visitor: Visitor) -> None:
    token, name = _token(visitor.site), visitor.site.new_name("data-platform/tool")
    visitor.open(f"/account/tokens/{token.uid}/rules/")
    visitor.tick("[name=effect][value=deny]")
    visitor.fill("[name=name]", name)
    visitor.press("[data-action=add-rule]")
    visitor.see(f"[data-part=rule][data-value='{name}']")


@main_path("account/sessions/", person="")
def end_other_sessions(visitor: Visitor) -> None:
    user = visitor.site.new_user()
    visitor.site.session(user)
    visitor.sign_in_as(user)
    visitor.open("/account/sessions/")
    visitor.press("[data-part=session][data-state=other] [data-action=end-session]")
    visitor.expect_message()
    assert visitor.count("[data-part=session]") == 1


@main_path("account/password/", person="")
def change_the_password(visitor: Visitor) -> None:
    user = visitor.site.new_user()
    visitor.sign_in_as(user)
    visitor.open("/account/password/")
    visitor.fill("[name=old_password]", f"{user.username}-password")
    _enter_new_password(visitor)
    visitor.press(SAVE)
    visitor.expect_message()
    user.refresh_from_db()
    assert user.check_password(NEW_PASSWORD)


@main_path("account/security/", "account/security/confirm/", "account/security/app/", person="")
def add_an_authenticator_app(visitor: Visitor) -> None:
    user = visitor.site.new_user()
    visitor.sign_in_as(user)
    visitor.open("/account/security/")
    visitor.press("[data-action=add-app]")
    visitor.arrive("**/account/security/confirm/*")
    visitor.fill("[name=password]", f"{user.username}-password")
    visitor.press("[data-action=confirm]")
    visitor.arrive("**/account/security/app/")
    secret = visitor.page.inner_text("#secret").replace(" ", "")
    visitor.fill("[name=code]", code_of_app(secret))
    visitor.press("[data-action=add-app]")
    visitor.see("[data-action=download], [data-part=recovery-codes]")
    assert Authenticator.objects.filter(user=user, type="totp").exists()


@main_path("account/security/keys/new/", person="")
def add_a_key(visitor: Visitor) -> None:
    """Keys need scripts; the page says so to visitors without."""
    user = visitor.site.new_user()
    visitor.sign_in_as(user)
    if visitor.form.has_scripts:
        visitor.add_authenticator()
    visitor.open("/account/security/keys/new/")
    visitor.fill("[name=password]", f"{user.username}-password")
    visitor.press("[data-action=confirm]")
    visitor.arrive("**/account/security/keys/new/")
    if not visitor.form.has_scripts:
        visitor.see("main noscript p")
        return
    visitor.fill("[name=name]", "Laptop")
    visitor.press("button[data-action=add-key]")
    visitor.see("[data-action=download]")
    assert Authenticator.objects.filter(user=user, type="webauthn").exists()


@main_path("account/erase/", person="")
def erase_the_account(visitor: Visitor) -> None:
    user = visitor.site.new_user()
    visitor.sign_in_as(user)
    visitor.open("/account/erase/")
    visitor.fill("[name=password]", f"{user.username}-password")
    visitor.fill("[name=confirmation]", user.username)
    visitor.press("main form button.danger")
    visitor.expect_message()
    assert User.objects.get(pk=user.pk).erased_at


@main_path("account/identities/")
def read_linked_accounts(visitor: Visitor) -> None:
    visitor.open("/account/")
    visitor.press("main a[href='/account/identities/']")
    visitor.see("[data-part=empty]")


@main_path("account/install-links/")
def create_an_install_link(visitor: Visitor) -> None:
    name = visitor.site.new_name("link")
    visitor.open("/account/install-links/")
    visitor.fill("[name=target]", "data-platform/csv-profile")
    visitor.fill("[name=name]", name)
    visitor.tick("[name=days][value='7']")
    visitor.press("section.card form button.primary")
    visitor.see("[data-part=made]")


@main_path("account/device/")
def authorize_a_client(visitor: Visitor) -> None:
    started = logins.start(visitor.site.new_name("client"))
    visitor.open("/account/device/")
    visitor.fill("[name=code]", started.code)
    visitor.press(SAVE)
    visitor.see("[data-part=device-code]")
    visitor.press("[name=decision][value=approve]")
    visitor.arrive("**/account/tokens/")
    visitor.expect_message()


@main_path("join/<str:secret>/", person="")
def join_a_team(visitor: Visitor) -> None:
    site, user = visitor.site, visitor.site.new_user()
    invitation = invitations.invite(site.actor(), team=site.team, role=Role.VIEWER)
    visitor.sign_in_as(user)
    visitor.open(invitation.url)
    visitor.press(SAVE)
    visitor.expect_message()
    assert Membership.objects.filter(user=user, team=site.team).exists()


@main_path("sign-in/", "", person="")
def sign_in_and_out(visitor: Visitor) -> None:
    user = visitor.site.new_user()
    visitor.open("/")
    visitor.press("main a[href^='/sign-in/']")
    visitor.arrive("**/sign-in/**")
    _enter_name_and_password(visitor, user)
    visitor.see("[data-part=first-step]")


@main_path("sign-in/second-factor/", person="")
def sign_in_with_an_app(visitor: Visitor) -> None:
    user = visitor.site.new_user()
    secret = visitor.site.add_app(user)
    visitor.open("/sign-in/")
    _enter_name_and_password(visitor, user)
    visitor.arrive("**/sign-in/second-factor/")
    visitor.fill("[name=code]", code_of_app(secret))
    visitor.press(SAVE)
    visitor.see("[data-part=first-step]")


@main_path("forgot-password/", person="")
def request_a_password(visitor: Visitor) -> None:
    visitor.open("/forgot-password/")
    visitor.fill("[name=email]", "nobody@example.org")
    visitor.press(SAVE)
    visitor.see("[data-state=sent]")


@main_path("sign-up/", person="")
def sign_up(visitor: Visitor) -> None:
    visitor.open("/sign-up/")
    visitor.fill("[name=email]", f"{visitor.site.new_name('new')}@example.org")
    visitor.press(SAVE)
    visitor.see("[data-state=sent]")


@main_path("reset-password/<str:uidb64>/<str:token>/", person="")
def set_a_new_password(visitor: Visitor) -> None:
    user = visitor.site.new_user()
    visitor.open(visitor.site.reset_path(user))
    _enter_new_password(visitor)
    visitor.press(SAVE)
    visitor.arrive("**/sign-in/**")
    user.refresh_from_db()
    assert user.check_password(NEW_PASSWORD)
