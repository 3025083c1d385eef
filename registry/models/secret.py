from django.conf import settings
from django.db import models
from django.db.models import Q

from registry.models.fields import DocumentField
from registry.models.identity import new_uid
from registry.models.skill import Skill
from registry.models.team import Team
from registry.models.version import Version


class Secret(models.Model):
    """A secret for a team's runs. The value is stored encrypted. Written only by ``registry.secrets``."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="secrets")
    name = models.CharField(max_length=64)  # the name of the environment variable
    sealed = models.TextField()  # the encrypted value, see registry.secrets.encryption
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    set_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="one_secret_per_name")]

    def __str__(self) -> str:
        return self.name


class SecretGrant(models.Model):
    """A grant of a secret to the runs of a skill, for one digest or for all versions that the team has
    reviewed.
    """

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    secret = models.ForeignKey(Secret, models.CASCADE, related_name="grants")
    skill = models.ForeignKey(Skill, models.CASCADE, related_name="+")
    digest = models.CharField(max_length=71, blank=True)  # "" for all versions that the team has reviewed
    version_number = models.CharField(max_length=64, blank=True)
    hosts = DocumentField(default=list)  # hosts that the version could reach when it was granted
    additions = DocumentField(default=dict)  # the version's additions when it was granted
    granted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    granted_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["secret", "skill", "digest"],
                condition=Q(revoked_at=None),
                name="one_grant_per_secret_and_digest",
            )
        ]


class VersionReview(models.Model):
    """A team's review of a version, by a person who did not publish it."""

    version = models.ForeignKey(Version, models.CASCADE, related_name="reviews")
    team = models.ForeignKey(Team, models.CASCADE, related_name="+")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    reviewed_at = models.DateTimeField()
    additions = DocumentField(default=dict)  # the version's additions when it was reviewed

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "team"], name="one_review_per_team")]
