from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from registry.models.identity import new_uid
from registry.models.version import Version


class ReportReason(models.TextChoices):
    MALICIOUS = "malicious", _("Harmful")
    BROKEN = "broken", _("Doesn't work")
    RIGHTS = "rights", _("License or copyright violation")
    SPAM = "spam", _("Spam")
    OTHER = "other", _("Other")


class ReportState(models.TextChoices):
    OPEN = "open", _("Open")
    DISMISSED = "dismissed", _("Dismissed")
    UPHELD = "upheld", _("Report confirmed")


class Report(models.Model):
    """A report of a problem with a version. Written only by ``registry.review.reports``; erasing the reporter
    clears ``text``.
    """

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    version = models.ForeignKey(Version, models.CASCADE, related_name="reports")
    reason = models.CharField(max_length=9, choices=ReportReason.choices)
    text = models.CharField(max_length=1000, blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    # True if the reporter was a reviewer of the team or an administrator
    by_reviewer = models.BooleanField(default=False)
    state = models.CharField(max_length=9, choices=ReportState.choices, default=ReportState.OPEN)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)
    decision = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["version", "by"], condition=models.Q(state="open"), name="one_open_report_per_person"
            )
        ]
        indexes = [models.Index(fields=["by", "at"], name="report_by")]
