from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate

if TYPE_CHECKING:
    from registry.versions.publishing.checks import PublicationChecks

_ERRORS = (
    "registry.accounts.errors",
    "registry.api.errors",
    "registry.canonical.errors",
    "registry.collections.errors",
    "registry.core.errors",
    "registry.device_logins.errors",
    "registry.events.errors",
    "registry.facades.git.errors",
    "registry.http_client.errors",
    "registry.identity.errors",
    "registry.imports.errors",
    "registry.imports.readers.errors",
    "registry.install_links.errors",
    "registry.listing.errors",
    "registry.lookup.errors",
    "registry.matching.errors",
    "registry.packages.checks.errors",
    "registry.packages.command_lines.errors",
    "registry.packages.dependencies.errors",
    "registry.packages.errors",
    "registry.rates.errors",
    "registry.review.errors",
    "registry.rules.errors",
    "registry.search.errors",
    "registry.secrets.errors",
    "registry.single_sign_on.errors",
    "registry.storage.errors",
    "registry.subscriptions.errors",
    "registry.transfer.errors",
    "registry.trigger_tests.errors",
    "registry.uploads.errors",
    "registry.versions.errors",
)


class RegistryConfig(AppConfig):
    name = "registry"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        for room in _ERRORS:
            import_module(room)  # importing it declares its error codes
        from registry.changes import install
        from registry.erasure.hooks import person_erased, person_exported, version_erased
        from registry.facades import built_files
        from registry.imports.readers import archive
        from registry.storage.blobs import referenced_digests
        from registry.uploads import uploads
        from registry.versions.publishing import checks

        pre_migrate.connect(install.drop_before_migrate, sender=self)
        post_migrate.connect(install.install_after_migrate, sender=self)
        referenced_digests.connect(_version_digests)
        checks.checks_provider.connect(_publication_checks)
        referenced_digests.connect(archive.references)
        referenced_digests.connect(built_files.references)
        version_erased.connect(built_files.forget_skill)
        referenced_digests.connect(uploads.references)
        person_exported.connect(uploads.export_person)
        person_erased.connect(uploads.erase_person)


def _publication_checks() -> PublicationChecks:
    """The module with the checks that run at publication. This function imports it late, because the module
    imports matching.
    """
    from registry.trigger_tests import on_publish

    return on_publish


def _version_digests() -> Iterable[str]:
    from registry.models import Version

    return Version.objects.values_list("digest", flat=True).distinct().iterator()
