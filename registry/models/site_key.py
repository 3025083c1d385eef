from django.db import models


class SiteKey(models.Model):
    """The fingerprint of the site's SKILLQUAY_SECRET_KEY, in one row: others must not work."""

    fingerprint = models.CharField(max_length=64)
