from django.db import models

from registry.models.fields import DocumentField


class RunTotals(models.Model):
    """Sums over all runs that ended by ``until``, in one row. Written only by
    ``worker.health.run_totals``.
    """

    until = models.DateTimeField()
    sums = DocumentField(default=list)  # [[status, failure code, bucket, runs, attempts, seconds]]
