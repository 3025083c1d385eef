"""Adapters that apply this site's rules to django-allauth's login flow."""

from __future__ import annotations

import time
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from allauth.account import app_settings
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from qrcode.image.svg import SvgPathFillImage
from qrcode.main import make

from portal.sign_in.language import remember_language
from registry.accounts import lock_outs
from registry.core import sealing
from registry.models import User


class AccountAdapter(DefaultAccountAdapter):
    def get_login_stages(self) -> list[str]:
        return ["portal.sign_in.stages.SecondFactorStage"]

    def get_client_ip(self, request: HttpRequest) -> str:
        return str(request.META.get("REMOTE_ADDR", ""))

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """The active user with this name and password, or None. Raises LOCKED_OUT after too many failures,
        for unknown names too.
        """
        name, password = credentials["username"], credentials["password"]
        with lock_outs.limited(name, request.META.get("REMOTE_ADDR", "")) as attempt:
            user = authenticate(request, username=name, password=password)
            attempt.succeeded = user is not None
        return user if isinstance(user, User) else None

    def respond_user_inactive(self, request: HttpRequest, user: AbstractBaseUser) -> HttpResponse:
        return redirect("sign-in")

    def post_login(self, request: HttpRequest, user: AbstractBaseUser, **options: Any) -> HttpResponse:
        response = super().post_login(request, user, **options)
        if isinstance(user, User) and user.language:
            remember_language(response, user.language)
        return response

    def is_reauthentication_required(self, *, app: str, **options: Any) -> bool:
        """False for five minutes after sign-in or a confirmation."""
        records = get_authentication_records(context.request, context.request.user)
        return not any(
            time.time() - record["at"] < app_settings.REAUTHENTICATION_TIMEOUT for record in records
        )

    def add_message(self, *args: Any, **options: Any) -> None:
        """Does nothing, because the pages add their own messages."""


class SecondFactorAdapter(DefaultMFAAdapter):
    def get_totp_label(self, user: AbstractBaseUser) -> str:
        return user.get_username()

    def get_totp_issuer(self) -> str:
        return f"Skillquay {_host()}"

    def build_totp_svg(self, url: str) -> str:
        picture: str = make(url, image_factory=SvgPathFillImage, border=2).to_string(encoding="unicode")
        return picture

    def encrypt(self, text: str) -> str:
        return sealing.seal(text)

    def decrypt(self, encrypted_text: str) -> str:
        return sealing.unseal(encrypted_text)

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return {"id": _host(), "name": "Skillquay"}

    def get_public_key_credential_user_entity(self, user: AbstractBaseUser) -> dict[str, Any]:
        entity = super().get_public_key_credential_user_entity(user)
        return entity | {"display_name": user.get_username(), "name": user.get_username()}


def public_origin() -> str:
    return "{0.scheme}://{0.netloc}".format(urlsplit(settings.SKILLQUAY_PUBLIC_URL)).lower()


def supports_keys() -> bool:
    """Whether browsers allow passkeys and security keys at the site's address.

    The address must have a host name, and use HTTPS unless the host is localhost.
    """
    try:
        ip_address(_host())
    except ValueError:
        return public_origin().startswith("https://") or _host() == "localhost"
    return False


def _host() -> str:
    return urlsplit(settings.SKILLQUAY_PUBLIC_URL).hostname or ""
