from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from registry.models.fields import DocumentField
from registry.models.identity import new_uid
from registry.models.team import Team
from registry.models.token import Token

_ACTIVE = Q(removed_at=None)


class Effect(models.TextChoices):
    ALLOW = "allow", _("Allow")
    DENY = "deny", _("Deny")


class Rule(models.Model):
    """A rule of a team or a token: an allow rule lets agents run skills without approval, a deny rule stops
    runs. Written only by ``registry.rules``.
    """

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, null=True, related_name="rules")
    token = models.ForeignKey(Token, models.CASCADE, null=True, related_name="rules")
    effect = models.CharField(max_length=5, choices=Effect.choices)
    name = models.CharField(max_length=140)  # "team/slug", "slug", or a prefix followed by ":*"
    # The permissions of an allow rule, see registry.packages.unsafe_properties.
    granted = DocumentField(default=dict)
    # the version whose permissions are granted; empty for a prefix
    granted_to = models.CharField(max_length=200, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True)  # time of removal; a removed rule can be restored

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(team=None) ^ Q(token=None), name="rule_has_one_holder"),
            models.UniqueConstraint(
                fields=["team", "effect", "name"], condition=_ACTIVE, name="one_rule_per_team_and_name"
            ),
            models.UniqueConstraint(
                fields=["token", "effect", "name"], condition=_ACTIVE, name="one_rule_per_token_and_name"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.effect} {self.name}"
