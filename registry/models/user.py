from django.contrib.auth.models import AbstractUser
from django.db import models

from registry.models.identity import new_uid


class User(AbstractUser):
    """A user account of a person or an agent; ``uid`` identifies it outside the site."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    language = models.CharField(max_length=10, blank=True)
    must_change_password = models.BooleanField(default=False)
    erased_at = models.DateTimeField(null=True, blank=True)  # set when all personal data was erased
