from django.conf import settings
from django.db import models


class GlossaryEntry(models.Model):
    """Words that mean the same, in any language: a site's own, beside those of ``registry/glossary``."""

    text = models.CharField(max_length=500, unique=True)  # "invoice, receipt, 发票", as it was written
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now=True)

