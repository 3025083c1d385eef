"""Recognizes hosts and secret names in string constants of scripts."""

from __future__ import annotations

import re

_URL = re.compile(r"(?:https?|wss?)://([A-Za-z0-9.-]{1,253})(?::(\d{1,5}))?(?=[/?#]|$)")
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{2,99}")
_SECRET_PARTS = frozenset(
    [
        "APIKEY",
        "APITOKEN",
        "CREDENTIAL",
        "CREDENTIALS",
        "KEY",
        "PASS",
        "PASSPHRASE",
        "PASSWD",
        "PASSWORD",
        "PAT",
        "SECRET",
        "TOKEN",
    ]
)
_NO_SECRETS = frozenset({"SSH_PASS", "MAX_TOKEN", "PUBLIC_KEY", "PRIMARY_KEY", "FOREIGN_KEY", "CACHE_KEY"})
# Names of XML namespaces, schemas and examples, to which no script connects.
_NAMESPACES = (
    *("w3.org", "schemas.openxmlformats.org", "schemas.microsoft.com", "purl.org", "purl.oclc.org"),
    *("xmlsoap.org", "json-schema.org", "schema.org", "openoffice.org", "oasis-open.org", "ns.adobe.com"),
    *("xml.org", "example.com", "example.org", "example.net", "your-domain.com", "yourdomain.com"),
)
_RESERVED = (".local", ".localhost", ".test", ".example", ".invalid", ".internal")


def host_of(text: str) -> str:
    """The host of a text that starts with a URL, such as ``example.org`` or ``example.org:8080``, or "".

    Omits the ports 80 and 443. Returns "" for IP addresses, URLs of namespaces, and names that are reserved
    for examples and local networks.
    """
    match = _URL.match(text)
    if match is None:
        return ""
    host = match[1].lower().rstrip(".")
    if not _HOST.fullmatch(host) or host.endswith(_RESERVED):
        return ""
    if any(host == each or host.endswith(f".{each}") for each in _NAMESPACES):
        return ""
    return host if match[2] in (None, "443", "80") else f"{host}:{match[2]}"


def is_secret_name(name: str) -> bool:
    """Whether an environment variable of this name probably has a secret value."""
    parts = name.split("_")
    return bool(_VARIABLE.fullmatch(name) and name not in _NO_SECRETS and _SECRET_PARTS.intersection(parts))
