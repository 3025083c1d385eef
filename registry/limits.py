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
