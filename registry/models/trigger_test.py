from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from registry.models.identity import new_uid
from registry.models.skill import Skill


class TriggerTestOrigin(models.TextChoices):
    PACKAGE = "package", _("Package")
    FEEDBACK = "feedback", _("Feedback")
    PAGE = "page", _("Added manually")


class TriggerTest(models.Model):
    """A request text that must or must not match a skill, in addition to the tests in its package."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    skill = models.ForeignKey(Skill, models.CASCADE, related_name="trigger_tests")
    utterance = models.CharField(max_length=500)
    must_match = models.BooleanField()
    origin = models.CharField(max_length=8, choices=TriggerTestOrigin.choices)
    accepted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["skill", "utterance"], name="one_test_per_utterance")]


class ProposalState(models.TextChoices):
    PROPOSED = "proposed", _("Proposed")
    ACCEPTED = "accepted", _("Accepted")
    DECLINED = "declined", _("Declined")


class ProposedTriggerTest(models.Model):
    """A trigger test that feedback proposes. Only the skill's team can see its text."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    skill = models.ForeignKey(Skill, models.CASCADE, related_name="proposed_tests")
    utterance = models.CharField(max_length=500)
    must_match = models.BooleanField()
    state = models.CharField(max_length=8, choices=ProposalState.choices, default=ProposalState.PROPOSED)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["skill", "utterance"], name="one_proposal_per_utterance")
        ]
