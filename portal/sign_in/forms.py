"""The forms of sign-in: password, code of an app or recovery code, passkey or security key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from allauth.mfa import app_settings
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, BaseAuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.core.cache import cache
from django.utils.translation import gettext_lazy as _
from fido2.utils import websafe_decode

from portal.sign_in.adapters import AccountAdapter, public_origin
from registry.accounts import lock_outs

_CODE_S = app_settings.TOTP_PERIOD * (2 * app_settings.TOTP_TOLERANCE + 1)  # seconds in which a code is valid
_CODE_WIDGET = {"autocomplete": "one-time-code", "inputmode": "numeric", "autofocus": True}


class SignInForm(AuthenticationForm):
    def clean(self) -> dict[str, Any]:
        """Checks user name and password. Raises LOCKED_OUT after too many failures."""
        name, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if name is not None and password:
            assert self.request is not None
            self.user_cache = AccountAdapter().authenticate(self.request, username=name, password=password)
            if self.user_cache is None:
                raise self.get_invalid_login_error()
        return self.cleaned_data


class _Code(BaseAuthenticateForm):
    """A code of the user's app, or a recovery code. Each code works once.

    Raises LOCKED_OUT after too many failures, which are counted per user across all addresses.
    """

    code = forms.CharField(
        label=_("Code"),
        max_length=20,
        help_text=_("The code of your authenticator app, or one of your recovery codes."),
        widget=forms.TextInput(attrs=_CODE_WIDGET),
    )

    def clean_code(self) -> str:
        with lock_outs.limited(self.user.username) as attempt:
            code = super().clean_code()
            if self.authenticator.type == Authenticator.Type.TOTP:
                claim_code(self.user.pk, code)
            attempt.succeeded = True
        return code


class CodeForm(_Code, AuthenticateForm):
    pass


class ConfirmCodeForm(_Code, ReauthenticateForm):
    pass


class AppForm(ActivateTOTPForm):
    """Adds an authenticator app. The first code proves that the app has the secret."""

    code = forms.CharField(label=_("Code"), max_length=20, widget=forms.TextInput(attrs=_CODE_WIDGET))

    def clean_code(self) -> str:
        with lock_outs.limited(self.user.username) as attempt:
            code = super().clean_code()
            claim_code(self.user.pk, code)
            attempt.succeeded = True
        return code


def claim_code(user_id: int, code: str) -> None:
    """Marks the code of an app as used, in all web processes. Raises ValidationError if it was used before.

    The library forgets a used code before the code expires, so the cache stores used codes as well.
    """
    digits = "".join(filter(str.isalnum, code))
    if not cache.add(f"second-factor:{user_id}:{digits}", 1, timeout=_CODE_S):
        raise get_adapter().validation_error("incorrect_code")


class _Key(AuthenticateWebAuthnForm):
    def clean_credential(self) -> Authenticator:
        _require_own_origin(self.cleaned_data["credential"])
        with _malformed_refused():
            return super().clean_credential()


class KeyForm(_Key):
    pass


class ConfirmKeyForm(_Key, ReauthenticateWebAuthnForm):
    pass


class PasskeyForm(_Key, LoginWebAuthnForm):
    pass


class NewKeyForm(AddWebAuthnForm):
    name = forms.CharField(label=_("Name"), max_length=60, initial="", widget=forms.TextInput)
    passwordless = forms.BooleanField(
        label=_("Sign in with this key alone, without a password"),
        required=False,
        help_text=_("If you select this, the key requires a fingerprint, a face or a PIN at each sign-in."),
    )
    field_order = ("name", "passwordless", "credential")

    def clean(self) -> dict[str, Any]:
        if credential := self.cleaned_data.get("credential"):
            _require_own_origin(credential)
        with _malformed_refused():
            return super().clean()


class ConfirmPasswordForm(forms.Form):
    password = forms.CharField(
        label=_("Your password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password", "autofocus": True}),
    )

    def __init__(self, data: Any = None, *, user: Any) -> None:
        super().__init__(data)
        self.user = user

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if not AccountAdapter().reauthenticate(self.user, password):
            raise forms.ValidationError(_("Incorrect password."), code="incorrect_password")
        return password


def _require_own_origin(credential: Any) -> None:
    """Raises ValidationError unless the browser created the credential on this site. The library also accepts
    other ports and subdomains.
    """
    with _malformed_refused():
        client = json.loads(websafe_decode(credential["response"]["clientDataJSON"]))
        if client["origin"] != public_origin():
            raise get_adapter().validation_error("incorrect_code")


@contextmanager
def _malformed_refused() -> Iterator[None]:
    """Raises a ValidationError for the errors with which the FIDO2 library answers malformed credentials."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise get_adapter().validation_error("incorrect_code") from error
