from django.apps import AppConfig


class PortalConfig(AppConfig):
    name = "portal"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Registers the system checks and declares the codes of forms."""
        import portal.checks
        import portal.codes  # noqa: F401
