from django.conf import settings
from django.db import models

from registry.models.fields import DocumentField
from registry.models.identity import new_uid
from registry.models.team import Team


class AuditEntry(models.Model):
    """An entry of the audit trail: actor, action, target and time. Append-only."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    at = models.DateTimeField(auto_now_add=True, db_index=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    token_name = models.CharField(max_length=120, blank=True)
    team = models.ForeignKey(Team, models.SET_NULL, null=True, related_name="+")
    action = models.CharField(max_length=64)
    target = models.CharField(max_length=200)
    detail = DocumentField(default=dict)
