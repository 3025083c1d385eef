from django.db import models


class ChangeKind(models.IntegerChoices):
    """The kind of object that has a change number."""

    COMMON = 0  # facts that any answer can show, such as the slugs of teams; its key is 0
    TEAM = 1
    SKILL = 2
    USER = 3


class SiteNumber(models.Model):
    """The number of the site's last change, in a single row. Written only by the triggers of
    ``registry.changes``.
    """

    number = models.BigIntegerField()


class ChangeNumber(models.Model):
    """The number of the last change of a team, skill or user. Written only by the triggers of
    ``registry.changes``.
    """

    kind = models.SmallIntegerField(choices=ChangeKind.choices)
    key = models.BigIntegerField()  # the primary key of the team, skill or user
    number = models.BigIntegerField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "key"], name="one_number_per_key")]


class PendingChange(models.Model):
    """A change of the current transaction on PostgreSQL. Triggers write the row and delete it at commit."""

    kind = models.SmallIntegerField(choices=ChangeKind.choices)
    key = models.BigIntegerField()
