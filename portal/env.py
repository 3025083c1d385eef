"""Typed readers of environment variables; invalid values raise ImproperlyConfigured at start."""

from __future__ import annotations

import errno
import ipaddress
import os
import re
import secrets
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured
from rapidfuzz.distance import OSA
from rapidfuzz.process import extractOne

_ROLES = ("viewer", "member", "maintainer", "owner")
_PREFIX = "SKILLQUAY_"
_CLIENT_NAMES = {"SKILLQUAY_TOKEN", "SKILLQUAY_URL"}  # variables of clients on the same machine
_SHORT = 8  # length in letters; a shorter name may differ by one letter, a longer one by two
_names: set[str] = set()  # names of the variables that were read
_MAX_ISSUER = 200  # maximum length of the column in the table of identities


def text(name: str, default: str = "") -> str:
    """The stripped value, or ``default`` if it is empty: compose files set unused variables to ""."""
    _names.add(name)
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


def processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def choice(name: str, default: str, choices: tuple[str, ...]) -> str:
    value = text(name, default)
    if value not in choices:
        raise _invalid(name, value, "one of " + ", ".join(choices))
    return value


def url_path(name: str) -> str:
    """A path of a URL that begins and ends with a slash, or ""."""
    value = text(name)
    if value and not re.fullmatch(r"/(?:[A-Za-z0-9._-]+/)+", value):
        raise _invalid(name, value, "a path such as /stored-files/")
    return value


def names(name: str, default: tuple[str, ...] = ()) -> list[str]:
    value = text(name, ",".join(default))
    return [part.strip() for part in value.split(",") if part.strip()]


def pairs(name: str) -> dict[str, str]:
    """The mapping in a value such as ``opus=large, sonnet[1m]=long``; {} if it is unset."""
    found = {}
    for part in names(name):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not key or not equals or not value:
            raise _invalid(name, part, "a list such as opus=large-model,sonnet=small-model")
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
    """The values of ``SKILLQUAY_SOURCE_<NAME>_<FIELD>`` by name and field, both in lower case."""
    found: dict[str, dict[str, str]] = {}
    fields = "ENDPOINT|REGION|ACCESS_KEY|SECRET_KEY|TOKEN|TEAMS"
    for name in sorted(os.environ):
        if match := re.fullmatch(rf"SKILLQUAY_SOURCE_([A-Z0-9]+)_({fields})", name):
            found.setdefault(match[1].lower(), {})[match[2].lower()] = text(name)
    return found


def issuers() -> dict[str, dict[str, Any]]:
    """The OIDC issuers in ``SKILLQUAY_OIDC_<NAME>_<FIELD>`` by name, in lower case, with the fields of
    ``registry.single_sign_on.issuers.Issuer``.
    """
    pattern = re.compile(r"SKILLQUAY_OIDC_([A-Z0-9]+)_ISSUER")
    matches = [match for name in sorted(os.environ) if (match := pattern.fullmatch(name)) and text(name)]
    return {match[1].lower(): _issuer(match[0].removesuffix("_ISSUER"), match[1]) for match in matches}


def _issuer(name: str, issuer: str) -> dict[str, Any]:
    address = text(f"{name}_ISSUER")
    parts = urlsplit(address)
    is_local = parts.scheme == "http" and parts.hostname in {"127.0.0.1", "::1", "localhost"}
    if not parts.hostname or parts.query or parts.fragment or not (parts.scheme == "https" or is_local):
        raise _invalid(
            f"{name}_ISSUER", address.split("@")[-1], "an https:// address (http:// on this machine)"
        )
    if len(address) > _MAX_ISSUER:
        raise _invalid(f"{name}_ISSUER", address, f"at most {_MAX_ISSUER} characters")
    return {
        "url": address,  # compared exactly, including a slash at the end
        "client_id": secret(f"{name}_CLIENT_ID", needed_by=f"{name}_ISSUER"),
        "client_secret": text(f"{name}_CLIENT_SECRET"),
        "label": text(f"{name}_LABEL", issuer.capitalize()),
        "groups_claim": text(f"{name}_GROUPS_CLAIM", "groups"),
        "groups": tuple(_group_role(f"{name}_GROUPS", part) for part in names(f"{name}_GROUPS")),
        "administrator_group": text(f"{name}_ADMINISTRATOR_GROUP"),
        "creates_users": flag(f"{name}_CREATE_USERS", False),
    }


def _group_role(name: str, part: str) -> tuple[str, str, str]:
    """The group, team and role in ``group=team:role``. A group may contain ``=``."""
    group, equals, given = part.rpartition("=")
    team, colon, role = given.strip().partition(":")
    if not (group.strip() and equals and team and colon) or role not in _ROLES:
        raise _invalid(
            name,
            part,
            "a list such as engineers=docs:member,leads=docs:owner with the roles " + ", ".join(_ROLES),
        )
    return group.strip(), team, role


def sign_up(name: str, *, domains: str, mail: str) -> str:
    """The sign-up mode: closed, invitation, domain or open. ``domain`` requires domains and a mail server."""
    value = choice(name, "closed", ("closed", "invitation", "domain", "open"))
    if value == "domain" and not (text(domains) and text(mail)):
        raise _invalid(name, value, f"{domains} and {mail} with this value")
    return value


def mail_server(name: str) -> dict[str, Any]:
    """Django's EMAIL_… settings for ``smtp://user:password@host:port?tls=starttls|implicit|none``."""
    parts = urlsplit(text(name))
    tls = parse_qs(parts.query).get("tls", ["starttls"])[-1]
    ports = {"starttls": 587, "implicit": 465, "none": 25}
    if text(name) and (parts.scheme != "smtp" or not parts.hostname or tls not in ports):
        raise _invalid(name, text(name).split("@")[-1], "smtp://user:password@host:587?tls=starttls")
    return {
        "EMAIL_HOST": parts.hostname or "",  # "": no mail
        "EMAIL_PORT": parts.port or ports[tls],
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": tls == "starttls",
        "EMAIL_USE_SSL": tls == "implicit",
        "EMAIL_TIMEOUT": 10,  # seconds
    }


def secret(name: str, *, needed_by: str) -> str:
    """The value of ``name``, which is required if the variable ``needed_by`` is set."""
    value = text(name)
    if text(needed_by) and not value:
        raise _invalid(name, value, f"a secret, because {needed_by} is set")
    return value


def require_package(module: str, optional_set: str, *, needed_by: str) -> None:
    """Raises ImproperlyConfigured if the variable ``needed_by`` is set but ``module``, which belongs to an
    optional set of packages, is not installed.
    """
    if text(needed_by) and find_spec(module) is None:
        raise ImproperlyConfigured(
            f"{needed_by} needs packages that are not installed. Run `make .venv/{optional_set}`, or "
            f"`pip install -r requirements.txt -r requirements/{optional_set}.txt`."
        )


def stored_key(path: Path) -> str:
    """The key in ``path``, created on first use with mode 600; other processes never read a partial file.

    Raises ImproperlyConfigured if the file is empty, or can't be read or created.
    """
    try:
        if not path.exists():
            _make_key(path)
        key = path.read_text()
    except OSError as error:
        raise ImproperlyConfigured(
            f"Can't read or create the key file {path}: {error.strerror}. Make the folder writable."
        ) from None
    if key.strip("\0 \n"):
        return key
    raise ImproperlyConfigured(
        f"The key file {path} is empty. Restore the file from a backup, or delete it to create a "
        "new key; users "
        "must then sign in again and teams must set their secrets again."
    )


def _make_key(path: Path) -> None:
    temporary = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    try:
        with open(temporary, "x", opener=_owner_only) as file:
            file.write(secrets.token_urlsafe(48))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process has stored its key, which is used
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


def require_known_names() -> None:
    """Raises ImproperlyConfigured for a variable whose name resembles that of a setting, such as
    SKILLQUAY_PROT.

    Call this after all settings have been read.
    """
    known = {name: name.removeprefix(_PREFIX) for name in _names if name.startswith(_PREFIX)}
    for name in sorted(os.environ):
        if not name.startswith(_PREFIX) or name in _names | _CLIENT_NAMES:
            continue
        typed = name.removeprefix(_PREFIX)
        found = extractOne(typed, known, scorer=OSA.distance, score_cutoff=1 if len(typed) < _SHORT else 2)
        if found:
            raise ImproperlyConfigured(
                f"The setting {name} does not exist; a similar one is {found[2]}. Correct the "
                "name, as listed in "
                "docs/reference/settings.md."
            )


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
    """The folder, created with mode 700 if it is missing.

    Raises ImproperlyConfigured if the process can't write to the folder.
    """
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
