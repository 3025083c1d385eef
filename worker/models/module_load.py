from django.db import models

from registry.models import Version


class ModuleLoadState(models.TextChoices):
    WAITING = "waiting"
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"  # unknown whether runs can load the module


class SkipReason(models.TextChoices):
    """The reason why it is unknown whether runs can load a module."""

    NO_SANDBOX = "no_sandbox"
    NETWORK = "network"  # the module needs the network while it is loaded
    LIMIT = "limit"  # a limit of time or memory ended the attempt
    DEPENDENCIES = "dependencies"  # the dependencies are not available
    ERROR = "error"  # the worker ended or failed


class ModuleLoad(models.Model):
    """An ``execute`` module of a version, and whether runs can load it. Written only by
    ``worker.module_loads``.
    """

    version = models.ForeignKey(Version, models.CASCADE, related_name="module_loads")
    path = models.CharField(max_length=500)
    state = models.CharField(max_length=8, choices=ModuleLoadState, default=ModuleLoadState.WAITING)
    reason = models.CharField(max_length=16, choices=SkipReason, blank=True)  # reason of a skipped module

    class Meta:
        indexes = [
            models.Index("id", condition=models.Q(state="waiting"), name="modules_to_load"),
        ]
        constraints = [models.UniqueConstraint(fields=["version", "path"], name="one_load_per_module")]

    def __str__(self) -> str:
        return self.path
