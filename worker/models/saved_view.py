from django.conf import settings
from django.db import models

from registry.models.identity import new_uid


class SavedRunView(models.Model):
    """A filter of the run list that a user keeps under a name. Written only by ``worker.saved_views``."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="saved_run_views")
    name = models.CharField(max_length=40)
    query = models.TextField()  # of the list's URL

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="one_view_per_user_and_name")]

    def __str__(self) -> str:
        return str(self.name)
