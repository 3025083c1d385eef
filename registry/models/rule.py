from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from registry.models.fields import DocumentField
from registry.models.identity import new_uid
from registry.models.team import Team
from registry.models.token import Token

_STANDS = Q(removed_at=None)


class Effect(models.TextChoices):
    ALLOW = "allow", _("Allow")
    DENY = "deny", _("Deny")


class Rule(models.Model):
    """What a team's agents, or one token, may run unasked, or never; ``registry.rules`` is its writer."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, null=True, related_name="rules")
    token = models.ForeignKey(Token, models.CASCADE, null=True, related_name="rules")
    effect = models.CharField(max_length=5, choices=Effect.choices)
    name = models.CharField(max_length=140)  # "team/slug", "slug", or the beginning of one and ":*"
    granted = DocumentField(default=dict)  # registry.packages.safety.Asks: what an allow rule was given for
    given_for = models.CharField(max_length=200, blank=True)  # the version, where it was one
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    made_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True)  # it holds no more, and may be put back as it was

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(team=None) ^ Q(token=None), name="rule_of_a_team_or_of_a_token"
            ),
            models.UniqueConstraint(
                fields=["team", "effect", "name"], condition=_STANDS, name="one_rule_a_team_and_name"
            ),
            models.UniqueConstraint(
                fields=["token", "effect", "name"], condition=_STANDS, name="one_rule_a_token_and_name"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.effect} {self.name}"
