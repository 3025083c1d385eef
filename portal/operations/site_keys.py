"""Writes and reads a file with the two keys of a site, which operators keep apart from backups."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError

from registry.identity import site_key


@dataclass(frozen=True)
class KeyFile:
    secret_key: str
    secrets_keys: tuple[str, ...]

    @classmethod
    def of_this_site(cls) -> KeyFile:
        return cls(settings.SECRET_KEY, tuple(settings.SKILLQUAY_SECRETS_KEYS))

    @classmethod
    def read(cls, path: Path) -> KeyFile:
        """Returns the keys in the file. Raises CommandError if the file is missing or contains no keys."""
        try:
            found = json.loads(path.read_text())
            return cls(found["SKILLQUAY_SECRET_KEY"], tuple(found["SKILLQUAY_SECRETS_KEYS"].split(",")))
        except (OSError, ValueError, KeyError, AttributeError, TypeError):
            raise CommandError(
                f"Can't read keys from {path}. Choose a file that `backup --keys` wrote."
            ) from None

    def write(self, path: Path) -> None:
        document = {
            "SKILLQUAY_SECRET_KEY": self.secret_key,
            "SKILLQUAY_SECRETS_KEYS": ",".join(self.secrets_keys),
        }
        with open(path, "x", opener=_owner_only) as file:
            json.dump(document, file, indent=1)

    @property
    def fingerprint(self) -> str:
        return site_key.fingerprint(self.secret_key)

    def install(self) -> None:
        """Writes the keys to the data folder, where the next processes read them.

        Raises CommandError if a key differs from this site's and is set by the environment or is a list of
        keys.
        """
        mine = KeyFile.of_this_site()
        for name, key, current in (
            ("SKILLQUAY_SECRET_KEY", self.secret_key, mine.secret_key),
            ("SKILLQUAY_SECRETS_KEYS", ",".join(self.secrets_keys), ",".join(mine.secrets_keys)),
        ):
            if key == current:
                continue
            if os.environ.get(name, "").strip() or "," in key:
                raise CommandError(
                    f"{name} differs from the key file. Set it to the value in the key file, then "
                    "run restore again."
                )
            path = settings.SKILLQUAY_VAR / _FILES[name]
            path.unlink(missing_ok=True)
            with open(path, "x", opener=_owner_only) as file:
                file.write(key)


_FILES = {"SKILLQUAY_SECRET_KEY": "secret-key", "SKILLQUAY_SECRETS_KEYS": "secrets-key"}


def _owner_only(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
