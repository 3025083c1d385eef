from __future__ import annotations

from collections.abc import Iterable

from django.apps import AppConfig


class RegistryConfig(AppConfig):
    name = "registry"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from registry import codes  # noqa: F401  (declares them)
        from registry.api import codes as api_codes  # noqa: F401
        from registry.events import codes as event_codes  # noqa: F401
        from registry.imports import archive, remote_codes  # noqa: F401
        from registry.imports import codes as import_codes  # noqa: F401
        from registry.listing import codes as listing_codes  # noqa: F401
        from registry.outbound import codes as outbound_codes  # noqa: F401
        from registry.reporting import codes as report_codes  # noqa: F401
        from registry.secrets import codes as secret_codes  # noqa: F401
        from registry.storage import register_references

        register_references(_version_digests)
        register_references(archive.references)


def _version_digests() -> Iterable[str]:
    from registry.models import Version

    return Version.objects.values_list("digest", flat=True).distinct().iterator()
