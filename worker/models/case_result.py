from django.conf import settings
from django.db import models

from registry.models import Version
from registry.models.fields import DocumentField
from worker.models.run import Run


class CaseResult(models.Model):
    """The newest run of a test case in the version's ``tests/cases.yaml``. Written only by
    ``worker.cases``.
    """

    version = models.ForeignKey(Version, models.CASCADE, related_name="case_results")
    name = models.CharField(max_length=100)
    run = models.ForeignKey(Run, models.SET_NULL, null=True, related_name="+")
    # Why the request was refused, in the format of ``version_rows.serialize_problem``; ``run`` is then null.
    problem = DocumentField(null=True)
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "name"], name="one_result_per_case")]

    def __str__(self) -> str:
        return self.name
