from django.conf import settings
from django.db import models

from registry.models.identity import new_uid
from registry.models.team import Role, Team


class Invitation(models.Model):
    """A link with which one person creates an account or, with ``team``, joins that team. Its secret is
    stored as SHA-256.
    """

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    secret_hash = models.CharField(max_length=64, unique=True)
    email = models.EmailField(blank=True)  # the address of the new account; "" if none was given
    team = models.ForeignKey(Team, models.CASCADE, null=True, related_name="invitations")
    role = models.CharField(max_length=16, choices=Role.choices, default=Role.MEMBER)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    accepted_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
