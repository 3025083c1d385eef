"""Public URLs of this site."""

from django.conf import settings


def absolute_url(path: str) -> str:
    """The public URL of a path such as "/skills/". Ignores the Host header, because clients control it."""
    return f"{settings.SKILLQUAY_PUBLIC_URL.rstrip('/')}/{path.lstrip('/')}"
