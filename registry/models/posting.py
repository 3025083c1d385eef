from django.db import models

from registry.models.skill import Skill
from registry.models.team import Team


class Term(models.Model):
    text = models.CharField(max_length=64, unique=True)


class TermScope(models.Model):
    """In how many skills of one scope a term stands; an actor's df is the sum over the visible scopes."""

    term = models.ForeignKey(Term, models.CASCADE)
    scope = models.CharField(max_length=8)  # public, site or team
    team = models.ForeignKey(Team, models.CASCADE, null=True)  # for scope "team" only
    df = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["term", "scope", "team"], name="one_df_a_scope", nulls_distinct=False
            )
        ]


class Posting(models.Model):
    term = models.ForeignKey(Term, models.CASCADE)
    skill = models.ForeignKey(Skill, models.CASCADE, related_name="postings")
    weight = models.SmallIntegerField()  # saturated field-weighted frequency × 1000
    field_mask = models.SmallIntegerField()  # bit per field, see registry.search

    class Meta:
        constraints = [models.UniqueConstraint(fields=["term", "skill"], name="one_posting_a_term")]
        indexes = [models.Index(fields=["term", "-weight", "skill"], name="posting_best")]
