"""Changes of a user's own second factors, with their entries in the audit log."""

from __future__ import annotations

from typing import Any

from allauth.mfa.base.internal.flows import delete_and_cleanup
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.flows import generate_recovery_codes
from allauth.mfa.totp.internal.flows import activate_totp
from allauth.mfa.webauthn.internal.flows import add_authenticator
from django.db import transaction
from django.http import HttpRequest

from portal.sign_in.forms import AppForm, NewKeyForm
from registry.accounts.second_factors import record_change
from registry.models import User


@transaction.atomic
def add_app(request: HttpRequest, user: User, form: AppForm) -> list[str]:
    """Adds the authenticator app. Returns new recovery codes if the user had none, otherwise []."""
    factor, codes = activate_totp(request, form)
    record_change(user, "add", factor.type)
    return _codes(codes)


@transaction.atomic
def add_key(request: HttpRequest, user: User, form: NewKeyForm) -> list[str]:
    """Adds the key. Returns new recovery codes if the user had none, otherwise []."""
    given = form.cleaned_data
    factor, codes = add_authenticator(request, name=given["name"], credential=given["credential"])
    record_change(user, "add", factor.type)
    return _codes(codes)


@transaction.atomic
def rename_key(factor: Authenticator, name: str) -> None:
    factor.data["name"] = name
    factor.save(update_fields=["data"])


@transaction.atomic
def remove(request: HttpRequest, user: User, factor: Authenticator) -> None:
    """Removes the factor, and with the last one the recovery codes."""
    delete_and_cleanup(request, factor)
    record_change(user, "remove", factor.type)


@transaction.atomic
def renew_codes(request: HttpRequest, user: User) -> list[str]:
    """Replaces the recovery codes and returns the new ones."""
    codes = _codes(generate_recovery_codes(request))
    record_change(user, "renew", Authenticator.Type.RECOVERY_CODES.value)
    return codes


def _codes(authenticator: Authenticator | None) -> list[str]:
    codes: Any = authenticator.wrap().get_unused_codes() if authenticator else []
    return [f"{code[:4]} {code[4:]}" for code in codes]
