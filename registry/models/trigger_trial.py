from django.db import models

from registry.models.trigger_test import TriggerTestOrigin
from registry.models.version import Version


class TriggerTrial(models.Model):
    """How a trigger test ended when its version was published; written by ``registry.trials`` only."""

    version = models.ForeignKey(Version, models.CASCADE, related_name="trigger_trials")
    utterance = models.CharField(max_length=500)
    must_match = models.BooleanField()
    passed = models.BooleanField()
    origin = models.CharField(max_length=8, choices=TriggerTestOrigin.choices)
    line = models.PositiveIntegerField(null=True)  # of tests/triggers.yaml
