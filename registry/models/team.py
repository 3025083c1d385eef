from django.db import models
from django.utils.translation import gettext_lazy as _

from registry.models.identity import new_uid


class Team(models.Model):
    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=120)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.slug


class Role(models.TextChoices):
    """What a member may do grows downwards; the table is in ``registry.permissions``."""

    VIEWER = "viewer", _("Viewer")
    MEMBER = "member", _("Member")
    MAINTAINER = "maintainer", _("Maintainer")
    OWNER = "owner", _("Owner")
