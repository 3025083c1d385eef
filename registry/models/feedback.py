from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from registry.models.identity import new_uid
from registry.models.skill import Skill


class FeedbackOutcome(models.TextChoices):
    WORKED = "worked", _("Worked")
    FAILED = "failed", _("Failed")
    WRONG_SKILL = "wrong_skill", _("Wrong skill")


class Feedback(models.Model):
    """A report by a user or agent that a skill worked, failed or was the wrong match. Written only by
    ``registry.matching.feedback``.
    """

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    skill = models.ForeignKey(Skill, models.CASCADE, related_name="feedback")
    version_number = models.CharField(max_length=64, blank=True)
    outcome = models.CharField(max_length=12, choices=FeedbackOutcome.choices)
    note = models.CharField(max_length=500, blank=True)
    caller = models.CharField(max_length=64)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
