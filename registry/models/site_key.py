from django.db import models


class SiteKey(models.Model):
    """The fingerprint of the site's SKILLQUAY_SECRET_KEY. Processes with another key must not work."""

    fingerprint = models.CharField(max_length=64)
