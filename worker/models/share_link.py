from django.conf import settings
from django.db import models

from registry.models.identity import new_uid
from worker.models.run import Run


class ShareLink(models.Model):
    """A link that shows one run to everyone who has the link's secret. Written only by ``worker.sharing``."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="share_links")
    secret_hash = models.CharField(max_length=64, unique=True)  # SHA-256 of the secret, in hex
    with_inputs = models.BooleanField(default=False)
    with_log = models.BooleanField(default=False)
    with_artifacts = models.BooleanField(default=False)
    # The link works only while this user can read and share the run.
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="share_links")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.uid
