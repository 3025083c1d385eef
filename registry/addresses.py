from django.conf import settings


def absolute(path: str) -> str:
    """The public address of a path such as "/skills/": never made from Host, which a stranger writes."""
    return f"{settings.SKILLQUAY_PUBLIC_URL.rstrip('/')}/{path.lstrip('/')}"
