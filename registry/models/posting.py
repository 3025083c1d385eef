from django.db import models

from registry.models.fields import BytewiseCharField
from registry.models.skill import Skill


class Term(models.Model):
    """A word or a pair of characters; one that ends in ``*`` is the beginning of a word in a name or tag."""

    text = BytewiseCharField(max_length=64, unique=True)


class TermScope(models.Model):
    """In how many skills of one scope a term stands; an actor's df is the sum over the visible scopes."""

    term = models.ForeignKey(Term, models.CASCADE)
    scope = models.CharField(max_length=24)  # "public", "site" or "team:<key>", see Skill.search_scope
    df = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["term", "scope"], name="one_df_a_scope")]


class Posting(models.Model):
    """A term of a skill's latest version; written by ``registry.indexing`` only."""

    term = models.ForeignKey(Term, models.CASCADE, db_index=False)
    skill = models.ForeignKey(Skill, models.CASCADE, related_name="postings")
    weight = models.SmallIntegerField()  # saturated field-weighted frequency × 1000
    field_mask = models.SmallIntegerField()  # a bit a field, see registry.indexing.Field

    class Meta:
        constraints = [models.UniqueConstraint(fields=["term", "skill"], name="one_posting_a_term")]
        indexes = [models.Index(fields=["term", "-weight", "skill"], name="posting_best")]
