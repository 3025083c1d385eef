from __future__ import annotations

from typing import TYPE_CHECKING, Self, TypeVar

from django.db import models

from registry.models.fields import BytewiseCharField
from registry.models.skill import Skill, visible_scopes

if TYPE_CHECKING:
    from registry.identity.actors import Actor


_Row = TypeVar("_Row", bound=models.Model)


class ScopedQuerySet(models.QuerySet[_Row]):
    def visible_to(self, actor: Actor) -> Self:
        """The rows in search scopes visible to the actor; all rows for administrators."""
        return self if actor.is_administrator else self.filter(scope__in=visible_scopes(actor))


class Term(models.Model):
    """A search term: a word or a pair of characters. With a final ``*``, it is a prefix of words in names and
    tags.
    """

    text = BytewiseCharField(max_length=64, unique=True)


class TermScope(models.Model):
    """The number of skills with a term in one search scope. An actor's count is the sum over the scopes that
    the actor can see.
    """

    term = models.ForeignKey(Term, models.CASCADE, db_index=False)
    scope = models.CharField(max_length=24)  # "public", "site" or "team:<key>", see Skill.search_scope
    df = models.PositiveIntegerField(default=0)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["term", "scope"], name="one_df_per_scope")]
        indexes = [models.Index(fields=["term", "scope", "df"], name="term_scope_df")]


class Posting(models.Model):
    """A search term of a skill's latest version. Written only by ``registry.index.postings``."""

    term = models.ForeignKey(Term, models.CASCADE, db_index=False)
    skill = models.ForeignKey(Skill, models.CASCADE, related_name="postings")
    weight = models.SmallIntegerField()  # RANK × rank of the best field + 1000 × saturated frequency
    field_mask = models.SmallIntegerField()  # bits of registry.index.postings.Field
    scope = models.CharField(max_length=24, default="")  # the skill's search_scope
    # id of the skill's team; None if the skill is not for agents
    recommendable_team = models.BigIntegerField(null=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["term", "skill"], name="one_posting_per_term")]
        indexes = [  # covers all columns that a search reads
            models.Index(
                fields=["term", "-weight", "skill", "scope", "field_mask", "recommendable_team"],
                name="posting_lookup",
            )
        ]


class Misspelling(models.Model):
    """A key that finds the term of a name or tag despite a typo. The key is the word, its term, or one of
    them with a letter deleted. The postings of the term decide which actors can see it.
    """

    text = BytewiseCharField(max_length=64)
    term = models.ForeignKey(Term, models.CASCADE)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["text", "term"], name="one_misspelling")]


class TriggerKind(models.TextChoices):
    EVENT = "event"
    INTENT = "intent"
    PHRASE = "phrase"
    NAME = "name"


class Trigger(models.Model):
    """A trigger of a skill's latest version. Written only by ``registry.index.postings``."""

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="triggers")
    kind = models.CharField(max_length=8, choices=TriggerKind.choices)
    # registry.core.search_terms.phrase_key of the text; for events, the type itself.
    key = BytewiseCharField(max_length=200)
    text = models.CharField(max_length=200)  # as written by the author
    scope = models.CharField(max_length=24)  # the skill's search_scope
    recommendable_team = models.BigIntegerField(null=True)  # as in Posting

    objects = ScopedQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key", "kind", "skill"], name="one_trigger")]
        indexes = [models.Index(fields=["skill"], condition=models.Q(kind="event"), name="trigger_events")]
