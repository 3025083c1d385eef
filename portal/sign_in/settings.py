"""Django settings of sign-in, which django-allauth performs with our own pages."""

from __future__ import annotations

from typing import Any

from portal import env

AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
ACCOUNT_ADAPTER = "portal.sign_in.adapters.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_RATE_LIMITS = False  # registry.accounts.lock_outs and registry.rates count instead
ACCOUNT_REAUTHENTICATION_TIMEOUT = (
    5 * 60
)  # seconds after which a change of second factors needs a confirmation
ACCOUNT_LOGIN_TIMEOUT = 15 * 60  # seconds in which the second factor must follow the password
MFA_ADAPTER = "portal.sign_in.adapters.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = True  # users sign in with a user name
MFA_TOTP_TOLERANCE = 1  # periods of 30 seconds by which the clock of a phone may be wrong
SKILLQUAY_REQUIRE_SECOND_FACTOR = env.choice(
    "SKILLQUAY_REQUIRE_SECOND_FACTOR", "off", ("off", "administrators", "all")
)


def caches(redis_url: str) -> dict[str, dict[str, Any]]:
    """The cache that all web processes share: Redis, or otherwise a table of the database."""
    if redis_url:
        backend = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": redis_url}
        return {"default": backend | {"KEY_PREFIX": "skillquay:cache"}}
    # A full cache drops entries that are still valid, such as used codes.
    options = {"MAX_ENTRIES": 1_000_000}
    return {
        "default": {
            "BACKEND": "django.core.cache.backends.db.DatabaseCache",
            "LOCATION": "registry_cache",
            "OPTIONS": options,
        }
    }
