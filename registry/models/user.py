from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _

from registry.models.identity import new_uid


class UserKind(models.TextChoices):
    PERSON = "person", _("Person")
    SERVICE = "service", _("Service account")


class User(AbstractUser):
    """A user account. ``uid`` identifies the user in API responses.

    A service account belongs to one team, has no password, and is used only with access tokens.
    """

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    kind = models.CharField(max_length=7, choices=UserKind.choices, default=UserKind.PERSON)
    language = models.CharField(max_length=10, blank=True)
    must_change_password = models.BooleanField(default=False)
    erased_at = models.DateTimeField(null=True, blank=True)  # set when all personal data was erased

    @property
    def is_authenticated(self) -> bool:  # type: ignore[override]
        """Whether pages accept a session of this user. False for service accounts, which act only with access
        tokens.
        """
        return not self.is_service

    @property
    def is_service(self) -> bool:
        return self.kind == UserKind.SERVICE
