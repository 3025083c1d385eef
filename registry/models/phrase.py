from django.conf import settings
from django.db import models

from registry.models.identity import new_uid
from registry.models.skill import Skill
from registry.models.trigger_test import ProposalState


class SkillPhrase(models.Model):
    """A trigger phrase that a language model proposed. It takes effect once a maintainer accepts it."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    skill = models.ForeignKey(Skill, models.CASCADE, related_name="phrases")
    text = models.CharField(max_length=200)
    language = models.CharField(max_length=8)
    state = models.CharField(max_length=8, choices=ProposalState.choices, default=ProposalState.PROPOSED)
    created_at = models.DateTimeField(auto_now_add=True)
    accepted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["skill", "text"], name="one_phrase_per_skill")]
