from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models

from registry.models.identity import new_uid

if TYPE_CHECKING:
    from registry.identity.actors import Actor


class GlossaryQuerySet(models.QuerySet["GlossaryEntry"]):
    def visible_to(self, actor: Actor) -> GlossaryQuerySet:
        """All entries for administrators, none for others."""
        return self if actor.is_administrator else self.none()


class GlossaryEntry(models.Model):
    """Synonyms in any language, in addition to the built-in ones of ``registry/search/glossary``."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    text = models.CharField(max_length=500, unique=True)  # "invoice, receipt, 发票"
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now=True)

    objects = GlossaryQuerySet.as_manager()
