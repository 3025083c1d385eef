from django.db import models

from registry.models.trigger_test import TriggerTestOrigin
from registry.models.version import Version


class TriggerTestResult(models.Model):
    """The result of one trigger test for a version. Written only by ``registry.trigger_tests.evaluate``."""

    version = models.ForeignKey(Version, models.CASCADE, related_name="trigger_test_results")
    utterance = models.CharField(max_length=500)
    must_match = models.BooleanField()
    passed = models.BooleanField()
    origin = models.CharField(max_length=8, choices=TriggerTestOrigin.choices)
    line = models.PositiveIntegerField(null=True)  # line in tests/triggers.yaml
