from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from registry.models.fields import DocumentField
from registry.models.identity import new_uid
from registry.models.team import Team


class Capacity(models.TextChoices):
    """The special capacity in which an actor acted: as an administrator who is not a member of the team, or
    as a service account.
    """

    ADMINISTRATOR = "administrator", _("Administrator")
    SERVICE_ACCOUNT = "service_account", _("Service account")


class AuditEntry(models.Model):
    """An entry of the audit trail. Entries are only added, but erasing a person replaces names of the person
    and deletes their addresses and salts.
    """

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    at = models.DateTimeField(auto_now_add=True, db_index=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    # the user that ``user`` impersonated with ``--as`` in the shell
    as_user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    capacity = models.CharField(max_length=16, blank=True, choices=Capacity.choices)
    token_name = models.CharField(max_length=120, blank=True)
    address = models.CharField(max_length=45, blank=True)  # of the client; "" for the shell and workers
    team = models.ForeignKey(Team, models.SET_NULL, null=True, related_name="+")
    action = models.CharField(max_length=64)
    target = models.CharField(max_length=200)
    detail = DocumentField(default=dict)
    # The hash chain: written by registry.audit_chain only, some seconds after the entry.
    sequence = models.BigIntegerField(null=True, unique=True)
    previous_hash = models.CharField(max_length=64, blank=True)
    entry_hash = models.CharField(max_length=64, blank=True)
    salts = DocumentField(default=dict)  # by the name of the value; erasing a person deletes salts
    commitments = DocumentField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["id"], name="audit_unlinked", condition=models.Q(sequence=None))]


class AuditChain(models.Model):
    """The last link of the audit log's hash chain, in one row. Its lock is held by the process that links."""

    sequence = models.BigIntegerField(default=0)
    head_hash = models.CharField(max_length=64, default="0" * 64)
