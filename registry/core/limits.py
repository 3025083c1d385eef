"""Size limits of packages and imports, from settings."""

from django.conf import settings

from registry.packages.limits import Limits


def package_limits() -> Limits:
    return Limits(
        archive=settings.SKILLQUAY_MAX_ARCHIVE_BYTES,
        unpacked=settings.SKILLQUAY_MAX_UNPACKED_BYTES,
        file=settings.SKILLQUAY_MAX_FILE_BYTES,
        entries=settings.SKILLQUAY_MAX_ARCHIVE_ENTRIES,
    )


def import_limits() -> Limits:
    """The size limits of an archive with many packages; each package in it also has its own limits."""
    return Limits(
        archive=settings.SKILLQUAY_MAX_IMPORT_ARCHIVE_BYTES,
        unpacked=settings.SKILLQUAY_MAX_IMPORT_UNPACKED_BYTES,
        file=settings.SKILLQUAY_MAX_IMPORT_UNPACKED_BYTES,
        entries=settings.SKILLQUAY_MAX_IMPORT_ENTRIES,
    )
