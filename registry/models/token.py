from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from registry.models.collection import Collection
from registry.models.fields import DocumentField
from registry.models.identity import new_uid
from registry.models.skill import Skill
from registry.models.team import Team


class Scope(models.TextChoices):
    READ = "read", _("Read skills and runs")
    RUN = "run", _("Start and cancel runs")
    PUBLISH = "publish", _("Publish and manage versions")
    SETTINGS = "settings", _("Change settings of skills and teams, including visibility")
    ADMINISTER = "administer", _("Manage users, teams and members")


class Token(models.Model):
    """An access token, stored as SHA-256. It allows an action only if both its scopes and its owner's role
    do. If ``team`` is set, its owner's roles in other teams do not count.

    After a rotation, the previous secret works until ``previous_expires_at``.
    """

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="tokens")
    team = models.ForeignKey(Team, models.CASCADE, null=True, blank=True, related_name="tokens")
    name = models.CharField(max_length=120)
    prefix = models.CharField(max_length=12)
    secret_hash = models.CharField(max_length=64, unique=True)
    previous_hash = models.CharField(max_length=64, unique=True, null=True)
    previous_expires_at = models.DateTimeField(null=True)
    scopes = DocumentField(default=list)
    # Install links: tokens in an address, which work only below /c/ and for their team, skill or collection.
    is_link = models.BooleanField(default=False)
    skill = models.ForeignKey(Skill, models.CASCADE, null=True, related_name="+")
    collection = models.ForeignKey(Collection, models.CASCADE, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    last_used_address = models.CharField(max_length=64, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
