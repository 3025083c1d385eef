from datetime import UTC, datetime

from django.db import models

from registry.models.identity import new_uid


class FailedSignIns(models.Model):
    """The failed sign-ins with one user name from one address, until ``ends_at`` (Unix seconds).

    The address is empty for second factors, because their failures from all addresses count together.
    """

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    username = models.CharField(max_length=150)  # casefolded, and perhaps of no user
    address = models.CharField(max_length=64, blank=True)
    count = models.BigIntegerField()
    ends_at = models.BigIntegerField(db_index=True)

    @property
    def ended_at(self) -> datetime:
        return datetime.fromtimestamp(self.ends_at, UTC)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["username", "address"], name="failed_sign_ins_of_name_and_address"
            )
        ]
