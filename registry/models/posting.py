from __future__ import annotations

from typing import TYPE_CHECKING, Self, TypeVar

from django.db import models

from registry.models.fields import BytewiseCharField
from registry.models.skill import Skill, scopes_of

if TYPE_CHECKING:
    from registry.actors import Actor


_Row = TypeVar("_Row", bound=models.Model)


class ScopedQuerySet(models.QuerySet[_Row]):
    def visible_to(self, actor: Actor) -> Self:
        """The rows of the scopes that the actor may see: all that a search or a match may know."""
        return self if actor.is_administrator else self.filter(scope__in=scopes_of(actor))


class Term(models.Model):
    """A word or a pair of characters; one that ends in ``*`` is the beginning of a word in a name or tag."""

    text = BytewiseCharField(max_length=64, unique=True)


class TermScope(models.Model):
    """In how many skills of one scope a term stands; an actor's df is the sum over the visible scopes."""

    term = models.ForeignKey(Term, models.CASCADE)
    scope = models.CharField(max_length=24)  # "public", "site" or "team:<key>", see Skill.search_scope
    df = models.PositiveIntegerField(default=0)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["term", "scope"], name="one_df_a_scope")]


class Posting(models.Model):
    """A term of a skill's latest version; written by ``registry.indexing`` only."""

    term = models.ForeignKey(Term, models.CASCADE, db_index=False)
    skill = models.ForeignKey(Skill, models.CASCADE, related_name="postings")
    weight = models.SmallIntegerField()  # saturated frequency × 1000, above it the best field's rank
    field_mask = models.SmallIntegerField()  # a bit a field, see registry.indexing.Field
    scope = models.CharField(max_length=24, default="")  # the skill's search_scope
    offered_by = models.BigIntegerField(null=True)  # the key of the skill's team; None: not for agents

    objects = ScopedQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["term", "skill"], name="one_posting_a_term")]
        indexes = [  # holds all that a search reads, so that it never visits the rows
            models.Index(
                fields=["term", "-weight", "skill", "scope", "field_mask", "offered_by"],
                name="posting_found",
            )
        ]


class Misspelling(models.Model):
    """A word of a name or tag, as its term, with one letter left out; whether an actor may know of the term
    is for the postings to say."""

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
    """What, said word by word, asks for a skill; written by ``registry.indexing`` only."""

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="triggers")
    kind = models.CharField(max_length=8, choices=TriggerKind.choices)
    key = BytewiseCharField(max_length=200)  # folded words, see registry.words.pieces; an event's own type
    text = models.CharField(max_length=200)  # as its author wrote it
    scope = models.CharField(max_length=24)  # the skill's search_scope
    offered_by = models.BigIntegerField(null=True)  # as of Posting

    objects = ScopedQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key", "kind", "skill"], name="one_trigger")]
