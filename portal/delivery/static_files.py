"""Static files with hashed names and compressed copies, in the folder ``static`` of the data folder.

Without these copies, as in tests, pages use the original names, and the installed files are served.
"""

import hashlib
from pathlib import Path
from typing import Any

import brotli
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from whitenoise.compress import Compressor
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.storage import CompressedManifestStaticFilesStorage

UNUSED = (
    *(
        "*.map",
        "*LICENSE*",
        "rest_framework/*",
        "django_htmx/ext/*",
        "django_htmx/htm*-?.js",
        "*/htm*-4.min.js",
    ),
    *("drf_spectacular_sidecar/redoc/*", "*/oauth2-redirect.*", "*/swagger-ui-standalone-preset.js"),
)
_LARGE_BYTES = 100_000  # the best brotli quality takes 16 seconds for Swagger UI


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """Serves static files; those with a hash in their name may be cached for a year."""

    FOREVER = 31_536_000  # seconds

    def add_files(self, root: str, prefix: str | None = None) -> None:
        if Path(root).is_dir():
            super().add_files(root, prefix)


class StaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Adds a hash of the content to file names. Ignores the copies if the installed files have changed
    since.
    """

    patterns = ()  # no file has a URL of another one to replace

    def load_manifest(self) -> tuple[dict[str, str], str]:
        return super().load_manifest() if _is_current() else ({}, "")

    def stored_name(self, name: str) -> str:
        return str(super().stored_name(name)) if self.hash_key(name) in self.hashed_files else name

    def create_compressor(self, **options: Any) -> Compressor:
        return _QuickCompressor(**options)


class _QuickCompressor(Compressor):  # type: ignore[misc]
    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        return bytes(brotli.compress(data, quality=5 if len(data) > _LARGE_BYTES else 11))


def collect_static_files() -> bool:
    """Copies the static files that pages use if any has changed, and returns whether it did.

    Keeps older copies, because pages that are open in a browser may still request them.
    """
    if _is_current():
        return False
    _stamp().unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=[*UNUSED])
    _stamp().write_text(_source_digest())
    return True


def _is_current() -> bool:
    return _stamp().is_file() and _stamp().read_text() == _source_digest()


def _stamp() -> Path:
    return Path(settings.SKILLQUAY_VAR, "static.sources")


def _source_digest() -> str:
    """A digest of the names, sizes and times of the files that are copied."""
    digest = hashlib.sha256(repr(UNUSED).encode())
    for finder in get_finders():
        for name, storage in finder.list(UNUSED):
            digest.update(f"{name}\0{storage.size(name)}\0{storage.get_modified_time(name)}\n".encode())
    return digest.hexdigest()
