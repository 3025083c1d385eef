from django.db import models
from django.utils.translation import gettext_lazy as _

from registry.models.fields import DocumentField
from worker.models.run import Run


class StepKind(models.TextChoices):
    SKILL = "skill", _("Skill")  # an ``intermediateSteps`` entry
    TOOL = "tool", _("Tool")  # a tool that an agent loop called
    MODEL = "model", _("Model")  # a turn of an agent loop
    COMMAND = "command", _("Command")  # a ``!`command` `` of a prompt
    CHILD = "child", _("Child run")  # another skill that this one started
    REQUEST = "request", _("Request")  # a request to the endpoint of a service or distributed skill


class Step(models.Model):
    """A step of the skill. ``Attempt.steps`` contains the platform's steps. ``seq`` counts within one
    attempt.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="steps")
    attempt = models.PositiveSmallIntegerField()
    seq = models.PositiveIntegerField()
    kind = models.CharField(max_length=8, choices=StepKind.choices, default=StepKind.SKILL)
    step_id = models.CharField(max_length=200, blank=True)
    name = models.CharField(max_length=200)
    input = DocumentField(null=True)
    output = DocumentField(null=True)
    error = DocumentField(null=True)
    duration_ms = models.FloatField(null=True)
    timestamp = models.FloatField(null=True)  # epoch milliseconds
    child = models.ForeignKey(Run, models.SET_NULL, null=True, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "attempt", "seq"], name="one_step_per_seq")]
