from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from registry.models.identity import new_uid
from registry.models.version import Version


class ReportReason(models.TextChoices):
    MALICIOUS = "malicious", _("It does harm")
    BROKEN = "broken", _("It does not work")
    RIGHTS = "rights", _("Wrong licence, or somebody else's work")
    SPAM = "spam", _("Spam")
    OTHER = "other", _("Something else")


class ReportState(models.TextChoices):
    OPEN = "open", _("Open")
    DISMISSED = "dismissed", _("Dismissed")
    UPHELD = "upheld", _("Upheld")


class Report(models.Model):
    """What a person says is wrong with a version; ``registry.reporting`` is its only writer."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    version = models.ForeignKey(Version, models.CASCADE, related_name="reports")
    reason = models.CharField(max_length=9, choices=ReportReason.choices)
    text = models.CharField(max_length=1000, blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    by_reviewer = models.BooleanField(default=False)  # of the team or the site, when they reported it
    state = models.CharField(max_length=9, choices=ReportState.choices, default=ReportState.OPEN)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)
    decision = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["version", "by"], condition=models.Q(state="open"), name="one_open_report_a_person"
            )
        ]
        indexes = [models.Index(fields=["by", "at"], name="report_by")]
