from django.db import models

from registry.models.fields import BytewiseCharField, DocumentField
from registry.models.skill import Skill


class FacetCount(models.Model):
    """The number of skills with a value of a facet in one search scope. Written only by
    ``registry.index.facet_counts``.

    ``team_key`` is the team whose skills are counted, or 0 for those of all teams, then also in the scope
    ``*``, which includes all scopes.
    """

    facet = models.CharField(max_length=16)
    team_key = models.BigIntegerField()
    scope = models.CharField(max_length=24)
    value = BytewiseCharField(max_length=120)
    # Not positive fields: PostgreSQL also checks the difference that an upsert adds.
    skills = models.IntegerField()
    for_people = models.IntegerField()  # number of these skills that pages list

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["facet", "team_key", "scope", "value"], name="one_count_per_facet_value"
            )
        ]


class CountedSkill(models.Model):
    """How a skill is included in ``FacetCount``. Skills without a search scope have no row."""

    skill = models.OneToOneField(Skill, models.CASCADE, primary_key=True, related_name="+")
    team_key = models.BigIntegerField()
    scope = models.CharField(max_length=24)
    for_people = models.BooleanField()
    facets = DocumentField()  # pairs of facet and value
