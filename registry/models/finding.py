import hashlib

from django.conf import settings
from django.db import models

from registry.models.fields import DocumentField
from registry.models.skill import Skill
from registry.models.version import Version


class Finding(models.Model):
    """Evidence that a scan found in a version's files; a scan with newer rules replaces them."""

    version = models.ForeignKey(Version, models.CASCADE, related_name="findings")
    rule = models.CharField(max_length=64)
    severity = models.CharField(max_length=8)
    certain = models.BooleanField(default=False)  # holds the version until a maintainer releases it
    path = models.CharField(max_length=500)
    line = models.PositiveIntegerField(null=True)
    quote = models.CharField(max_length=160)
    params = DocumentField(default=dict)

    @property
    def uid(self) -> str:
        """The same after every scan that finds it again."""
        told = "\0".join((self.rule, self.path, str(self.line), self.quote))
        return hashlib.sha256(told.encode()).hexdigest()[:16]


class Suppression(models.Model):
    """A finding that a maintainer has judged: the same rule and quote in a skill's later versions, too."""

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="suppressions")
    rule = models.CharField(max_length=64)
    path = models.CharField(max_length=500)
    quote = models.CharField(max_length=160)
    digest = models.CharField(max_length=71, blank=True)  # the file's, when it was judged
    reason = models.CharField(max_length=500)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["skill", "rule", "path", "quote"], name="one_suppression")
        ]
