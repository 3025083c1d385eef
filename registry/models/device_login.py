from django.conf import settings
from django.db import models

from registry.models.fields import DocumentField
from registry.models.identity import new_uid
from registry.models.team import Team


class DeviceLoginState(models.TextChoices):
    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    USED = "used"


class DeviceLogin(models.Model):
    """A client's request for a token, which a person confirms with the code that the client shows. Written
    only by ``registry.device_logins``. The secret with which the client waits is stored as SHA-256.

    The columns from ``user`` on are what the person granted.
    """

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    secret_hash = models.CharField(max_length=64, unique=True)
    code = models.CharField(max_length=8, unique=True)
    label = models.CharField(max_length=80)  # the name that the client gave itself
    address = models.CharField(max_length=64)  # of the client
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    polled_at = models.DateTimeField(null=True)
    state = models.CharField(max_length=8, choices=DeviceLoginState.choices, default=DeviceLoginState.PENDING)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="+")
    team = models.ForeignKey(Team, models.CASCADE, null=True, related_name="+")
    scopes = DocumentField(default=list)
    token_expires_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["expires_at"], name="device_login_expiry")]
