from importlib import import_module

from django.apps import AppConfig

_ERRORS = ("portal.errors",)


class PortalConfig(AppConfig):
    name = "portal"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Registers the system checks and the portal's error codes."""
        import_module("portal.checks")
        for room in _ERRORS:
            import_module(room)
