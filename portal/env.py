"""Typed readers of environment variables; invalid values raise ImproperlyConfigured at start."""

from __future__ import annotations

import errno
import ipaddress
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured


def text(name: str, default: str = "") -> str:
    """The value; an empty variable counts as unset, as in compose and unit files."""
    return os.environ.get(name, "").strip() or default


def flag(name: str, default: bool) -> bool:
    value = text(name, "1" if default else "0").lower()
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise _invalid(name, value, "1 or 0")


def number(name: str, default: int, *, minimum: int = 0, maximum: int = 2**53) -> int:
    value = text(name, str(default))
    if not value.isascii() or not value.isdigit() or not minimum <= int(value) <= maximum:
        raise _invalid(name, value, f"a whole number from {minimum} to {maximum}")
    return int(value)


def choice(name: str, default: str, choices: tuple[str, ...]) -> str:
    value = text(name, default)
    if value not in choices:
        raise _invalid(name, value, "one of " + ", ".join(choices))
    return value


def names(name: str, default: tuple[str, ...] = ()) -> list[str]:
    value = text(name, ",".join(default))
    return [part.strip() for part in value.split(",") if part.strip()]


def pairs(name: str) -> dict[str, str]:
    """A mapping from a list such as ``opus=large, sonnet[1m]=long``."""
    found = {}
    for part in names(name):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not key or not equals or not value:
            raise _invalid(name, part, "a list as opus=large-model,sonnet=small-model")
        found[key] = value
    return found


def host(name: str, default: str) -> str:
    """An IP address or host name to bind to."""
    value = text(name, default)
    if not _is_network(value) and not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?", value):
        raise _invalid(name, value, "an IP address or a host name")
    return value


def networks(name: str) -> list[str]:
    """IP addresses or networks, separated by commas; ``*`` trusts every address."""
    value = names(name)
    if wrong := [part for part in value if part != "*" and not _is_network(part)]:
        raise _invalid(name, wrong[0], "IP addresses or networks, separated by commas")
    return value


def hosts(name: str) -> list[str]:
    """Hosts with optional ports, IP addresses and networks, separated by commas."""
    value = names(name)
    host = r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?)(:[0-9]{1,5})?"
    if wrong := [part for part in value if not _is_network(part) and not re.fullmatch(host, part)]:
        raise _invalid(name, wrong[0], "hosts, IP addresses or networks, separated by commas")
    return value


def sources() -> dict[str, dict[str, str]]:
    """The ``SKILLQUAY_SOURCE_<NAME>_<FIELD>`` variables by name and field, both in lower case."""
    found: dict[str, dict[str, str]] = {}
    fields = "ENDPOINT|REGION|ACCESS_KEY|SECRET_KEY|TOKEN|TEAMS"
    for name in sorted(os.environ):
        if match := re.fullmatch(rf"SKILLQUAY_SOURCE_([A-Z0-9]+)_({fields})", name):
            found.setdefault(match[1].lower(), {})[match[2].lower()] = text(name)
    return found


def secret(name: str, *, needed_by: str) -> str:
    """The value of ``name``, which is required if the variable ``needed_by`` is set."""
    value = text(name)
    if text(needed_by) and not value:
        raise _invalid(name, value, f"a secret, because {needed_by} is set")
    return value


def stored_key(path: Path) -> str:
    """The key in ``path``, created on first use with mode 600; readers never see a partial file."""
    try:
        if not path.exists():
            _make_key(path)
        key = path.read_text()
    except OSError as error:
        raise ImproperlyConfigured(f"Can't read or create the key {path}: {error.strerror}.") from None
    if key.strip("\0 \n"):
        return key
    raise ImproperlyConfigured(
        f"{path} is empty. Put it back from a backup; without one delete it, and a new one is "
        "created: users must sign in again, and secrets must be set again."
    )


def _make_key(path: Path) -> None:
    temporary = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    try:
        with open(temporary, "x", opener=_owner_only) as file:
            file.write(secrets.token_urlsafe(48))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process was first: its key is used
            os.link(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _owner_only(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def file(name: str) -> str:
    value = text(name)
    if value and not Path(value).is_file():
        raise _invalid(name, value, "a file")
    return value


def _is_network(value: str) -> bool:
    try:
        ipaddress.ip_network(value)
    except ValueError:
        return False
    return True


def folder(name: str, default: Path) -> Path:
    value = text(name)
    path = Path(value).expanduser().absolute() if value else default
    if path.is_file():
        raise _invalid(name, value, "a folder")
    return path


def writable_folder(name: str, default: Path) -> Path:
    """The folder, created if missing; raises ImproperlyConfigured if this user can't write to it."""
    try:
        path = folder(name, default)
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise ImproperlyConfigured(
            f"Can't write to the data folder {text(name) or default}: {error.strerror}. "
            f"Make user {os.geteuid()} its owner, or set {name} to another folder."
        ) from None
    return path


def url(name: str, default: str, schemes: tuple[str, ...]) -> str:
    value = text(name, default)
    if not value:
        return ""
    parts = urlsplit(value)
    location = parts.hostname if parts.scheme in {"http", "https"} else parts.netloc or parts.path
    if parts.scheme not in schemes or not location:
        raise _invalid(
            name, value.split("@")[-1], "an address such as " + " or ".join(f"{s}://…" for s in schemes)
        )
    return value.rstrip("/")


def _invalid(name: str, value: str, expected: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"{name}={value!r}: expected {expected}. See docs/reference/settings.md.")
