from django.db import models


class SiteKey(models.Model):
    """The fingerprint of the SKILLQUAY_SECRET_KEY that the site encrypts with. There is at most one row."""

    fingerprint = models.CharField(max_length=64)
