from django.conf import settings

from registry.packages.limits import Limits


def package_limits() -> Limits:
    """How large a package may be on this site."""
    return Limits(
        archive=settings.SKILLQUAY_ARCHIVE_BYTES,
        unpacked=settings.SKILLQUAY_UNPACKED_BYTES,
        file=settings.SKILLQUAY_FILE_BYTES,
        entries=settings.SKILLQUAY_ARCHIVE_ENTRIES,
    )


def import_limits() -> Limits:
    """How large an archive with many packages may be; each package in it is then held to its own limits."""
    return Limits(
        archive=settings.SKILLQUAY_IMPORT_ARCHIVE_BYTES,
        unpacked=settings.SKILLQUAY_IMPORT_UNPACKED_BYTES,
        file=settings.SKILLQUAY_IMPORT_UNPACKED_BYTES,
        entries=settings.SKILLQUAY_IMPORT_ENTRIES,
    )
