import hashlib

from django.conf import settings
from django.db import models

from registry.models.fields import DocumentField
from registry.models.skill import Skill
from registry.models.version import Version


class Finding(models.Model):
    """A suspicious place that a scan found in a version's files. The next scan replaces the row."""

    version = models.ForeignKey(Version, models.CASCADE, related_name="findings")
    rule = models.CharField(max_length=64)
    severity = models.CharField(max_length=8)
    certain = models.BooleanField(default=False)  # if True, holds the version until a maintainer releases it
    path = models.CharField(max_length=500)
    line = models.PositiveIntegerField(null=True)
    quote = models.CharField(max_length=160)
    params = DocumentField(default=dict)

    @property
    def uid(self) -> str:
        """16 hexadecimal digits derived from rule, path, line and quote, so that a finding keeps its uid in
        later scans.
        """
        identity = "\0".join((self.rule, self.path, str(self.line), self.quote))
        return hashlib.sha256(identity.encode()).hexdigest()[:16]


class Suppression(models.Model):
    """A maintainer's decision to ignore a finding of a skill, and later ones with the same rule, path and
    quote. For high-confidence findings, it applies only while the file is unchanged.
    """

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="suppressions")
    rule = models.CharField(max_length=64)
    path = models.CharField(max_length=500)
    quote = models.CharField(max_length=160)
    digest = models.CharField(max_length=71, blank=True)  # the file's digest at the time of the suppression
    reason = models.CharField(max_length=500)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["skill", "rule", "path", "quote"], name="one_suppression")
        ]
