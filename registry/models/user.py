from django.contrib.auth.models import AbstractUser
from django.db import models

from registry.models.identity import new_uid


class User(AbstractUser):
    """A person, or an agent with an account of its own; ``uid`` leaves the site in place of the key."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    language = models.CharField(max_length=10, blank=True)
    must_change_password = models.BooleanField(default=False)
    erased_at = models.DateTimeField(null=True, blank=True)  # nothing of the person is left
