"""System checks that warn operators of unsafe settings when the site starts; their ids are stable."""

import ipaddress
from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Warning, register
from django.db import DatabaseError

from registry.core.text import RESERVED_SLUGS
from registry.models import Team

OPERATOR = "operator"  # ``up`` runs only checks with this tag, because others load all pages


@register(OPERATOR)
def public_address_is_safe(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    if _is_loopback(settings.SKILLQUAY_BIND) or settings.SKILLQUAY_PUBLIC_URL.startswith("https://"):
        return []
    return [
        Warning(
            f"Passwords and tokens are sent unencrypted: SKILLQUAY_BIND is {settings.SKILLQUAY_BIND} and "
            "SKILLQUAY_PUBLIC_URL does not start with https://.",
            hint="Put a TLS proxy in front of the site and set SKILLQUAY_PUBLIC_URL=https://…; "
            "docs/howto/run-a-production-site.md describes how.",
            id="skillquay.W001",
        )
    ]


@register(OPERATOR)
def scripts_run_isolated(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    if settings.SKILLQUAY_SANDBOX != "unsafe":
        return []
    return [
        Warning(
            "Scripts run without isolation, with all rights of the worker: SKILLQUAY_SANDBOX is unsafe.",
            hint=(
                "Remove the setting SKILLQUAY_SANDBOX; `manage.py sandbox_doctor` shows which "
                "isolation tiers work."
            ),
            id="skillquay.W002",
        )
    ]


@register(OPERATOR)
def team_slugs_are_free(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    try:
        taken = sorted(Team.objects.filter(slug__in=RESERVED_SLUGS).values_list("slug", flat=True))
    except DatabaseError:  # no tables yet or no database; ``up`` reports this itself
        return []
    return [
        Warning(
            f"Package managers may not reach the skills of the team {slug}: the site uses the address "
            f"/{slug}/ itself.",
            hint="Move the skills to a team with another slug.",
            id="skillquay.W003",
        )
        for slug in taken
    ]


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"
