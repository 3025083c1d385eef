"""The writer of search terms: which words a skill's latest version stands under, how heavily, in which field.

Everything is counted per scope, so that what an actor may not see changes nothing of what they find.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import IntFlag
from itertools import islice
from typing import TypeVar

from django.db.models import F, QuerySet

from registry import words
from registry.actors import Actor
from registry.models import Posting, Skill, Term, TermScope, Visibility
from registry.packages.package import Manifest

MOST_TERMS = 8000  # of a field; what stands after them is not searched
_SATURATION = 1.2
_CHUNK = 500  # rows named in one statement
_LOCK = ""  # the term that no text has: its row is held by whoever changes terms and counts
_Item = TypeVar("_Item")


class Field(IntFlag):
    NAME = 1
    KEYWORDS = 2
    TAGS = 4
    DESCRIPTION = 8
    BODY = 16


@dataclass(frozen=True)
class _Weighing:
    weight: float
    average: int  # terms; fixed, so that one skill's weights never depend on another's
    length_counts: float


_WEIGHING = {
    Field.NAME: _Weighing(2, 4, 0.3),
    Field.KEYWORDS: _Weighing(1, 5, 0.3),
    Field.TAGS: _Weighing(1, 5, 0.3),
    Field.DESCRIPTION: _Weighing(1, 35, 0.6),
    Field.BODY: _Weighing(0.5, 200, 0.75),
}
_BEGINNING = {Field.NAME: 500, Field.TAGS: 300}  # the weight of a word that is only begun


def index(skill: Skill, manifest: Manifest, body: str) -> None:
    """Replaces the skill's search terms, within the caller's transaction."""
    take_turns()
    postings = _postings(_texts(manifest, body))
    ids = _term_ids(postings)
    _move(skill, after=set(ids.values()))
    skill.postings.all().delete()
    Posting.objects.bulk_create(
        (
            Posting(skill=skill, term_id=ids[text], weight=weight, field_mask=int(mask))
            for text, (weight, mask) in postings.items()
        ),
        batch_size=_CHUNK,
    )
    skill.name_key = words.key(manifest.display_name or manifest.name)[:200]
    skill.search_scope = scope_of(skill)
    skill.save(update_fields=["name_key", "search_scope"])


def recount(skill: Skill) -> None:
    """Counts the skill's terms in the scope that it now belongs to, within the caller's transaction."""
    take_turns()
    _move(skill, after=set(skill.postings.values_list("term_id", flat=True)))
    skill.search_scope = scope_of(skill)
    skill.save(update_fields=["search_scope"])


def forget(skill: Skill) -> None:
    """Takes the skill out of the search, counts first, within the caller's transaction."""
    take_turns()
    _move(skill, after=set())
    skill.postings.all().delete()
    skill.search_scope = ""
    skill.save(update_fields=["search_scope"])


def scope_of(skill: Skill) -> str:
    """Among whose skills this one is counted."""
    return f"team:{skill.team_id}" if skill.seen_as == Visibility.PRIVATE else skill.seen_as


def counted_for(actor: Actor) -> QuerySet[TermScope]:
    """The counts of what the actor may see; their sums are the only statistics that a search knows."""
    if actor.is_administrator:
        return TermScope.objects.filter(df__gt=0)
    scopes = [Visibility.PUBLIC.value]
    if actor.is_signed_in:
        scopes += [Visibility.SITE.value, *(f"team:{team}" for team in actor.team_ids)]
    return TermScope.objects.filter(df__gt=0, scope__in=scopes)


def _texts(manifest: Manifest, body: str) -> dict[Field, str]:
    names = {words.key(name): name for name in (manifest.slug, manifest.display_name, manifest.name)}
    if "-" in manifest.slug:
        names["joined"] = manifest.slug.replace("-", "")
    said = (*manifest.keywords, *manifest.triggers.phrases, *manifest.triggers.intents)
    return {
        Field.NAME: "\n".join(names.values()),
        Field.KEYWORDS: "\n".join(said),
        Field.TAGS: "\n".join((*manifest.tags, manifest.category, manifest.domain)),
        Field.DESCRIPTION: f"{manifest.description}\n{manifest.when_to_use}",
        Field.BODY: body,
    }


def _postings(texts: Mapping[Field, str]) -> dict[str, tuple[int, Field]]:
    """Each term with its weight × 1000 and the fields it stands in: BM25F, and the beginnings of words."""
    frequency: defaultdict[str, float] = defaultdict(float)
    masks: defaultdict[str, Field] = defaultdict(lambda: Field(0))
    for field, text in texts.items():
        found = Counter(islice(words.terms(text), MOST_TERMS))
        rule = _WEIGHING[field]
        norm = 1 - rule.length_counts + rule.length_counts * found.total() / rule.average
        for term, times in found.items():
            frequency[term] += rule.weight * times / norm
            masks[term] |= field
    postings = {term: (_saturated(tf), masks[term]) for term, tf in frequency.items()}
    for field, weight in _BEGINNING.items():
        for term in words.beginnings(texts[field]):
            known, mask = postings.get(term, (0, Field(0)))
            postings[term] = (max(weight, known), mask | field)
    return postings


def _saturated(frequency: float) -> int:
    return round(1000 * frequency * (_SATURATION + 1) / (_SATURATION + frequency))


def take_turns() -> None:
    """Writers of terms share most of their rows: one waits for another here, never in a ring.

    Who names a blob that was stored before and who removes one take turns here, too.
    """
    Term.objects.get_or_create(text=_LOCK)
    Term.objects.select_for_update().get(text=_LOCK)


def _term_ids(texts: Collection[str]) -> dict[str, int]:
    known = _known_ids(texts)
    new = (Term(text=text) for text in texts if text not in known)
    Term.objects.bulk_create(new, batch_size=_CHUNK)
    return known | _known_ids([text for text in texts if text not in known])


def _known_ids(texts: Collection[str]) -> dict[str, int]:
    found = (Term.objects.filter(text__in=part).values_list("text", "pk") for part in _parts(texts))
    return {text: key for rows in found for text, key in rows}


def _move(skill: Skill, *, after: set[int]) -> None:
    """Takes the skill's terms out of the counts where they were and into those where they belong."""
    before = set(skill.postings.values_list("term_id", flat=True))
    scope = scope_of(skill)
    stay = before & after if skill.search_scope == scope else set()
    for part in _parts(before - stay):
        TermScope.objects.filter(scope=skill.search_scope, term_id__in=part).update(df=F("df") - 1)
    for part in _parts(after - stay):
        rows = [TermScope(term_id=key, scope=scope) for key in part]
        TermScope.objects.bulk_create(rows, ignore_conflicts=True)
        TermScope.objects.filter(scope=scope, term_id__in=part).update(df=F("df") + 1)


def _parts(items: Collection[_Item]) -> Iterator[list[_Item]]:
    rest = iter(items)
    while part := list(islice(rest, _CHUNK)):
        yield part
