"""The writer of search terms: which words a skill's latest version stands under, how heavily, in which field.

Everything is counted per scope, so that what an actor may not see changes nothing of what they find.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntFlag
from itertools import islice
from typing import NamedTuple, TypeVar

from django.db import connection, transaction
from django.db.models import F

from registry import bulk, denials, words
from registry.abilities import abilities_of
from registry.models import (
    Misspelling,
    Posting,
    ProposalState,
    Skill,
    Term,
    TermScope,
    Trigger,
    TriggerKind,
    Visibility,
)
from registry.packages.manifest import manifest_of
from registry.packages.package import Manifest

RULES = 5  # counted up when what is written changes; ``reindex`` finds by it what older rules wrote
EVERY = ""  # the term of every skill, which no text has: it counts them, and its row is held by writers
EVERY_CJK = " cjk"  # the same of the skills that are described in Chinese, Japanese or Korean
RANK = 4096  # a posting's weight is its best field's rank times this, and its frequency
MOST_TERMS = 8000  # of a field; what stands after them is not searched
LONGEST_PHRASE = 24  # pieces: a Chinese sentence has one a character; a longer one is found by its words only
_LONGEST_KEY = 200  # characters of a trigger's
_MOST_TRIGGERS = 200  # of a skill
_SATURATION = 1.2
_CHUNK = 500  # rows named in one statement
_AT_ONCE = 20  # skills indexed anew in one transaction
_TURN = "SELECT id FROM registry_term WHERE text = %s FOR UPDATE"
_TRIGGERED = ("kind", "key", "text", "scope", "offered_by")
_COUNTED = "ON CONFLICT (term_id, scope) DO UPDATE SET df = registry_termscope.df + 1"
_WRITTEN = ["name_key", "search_scope", "indexed_as", "abilities", "for_agents", "priority", "paths"]
_Item = TypeVar("_Item")


class _Row(NamedTuple):
    """A posting of a term, as the database answers it."""

    weight: int
    field_mask: int
    scope: str
    offered_by: int | None


POSTED = ("skill_id", "term_id", *_Row._fields)  # the columns of a posting


class Field(IntFlag):
    NAME = 1
    KEYWORDS = 2
    TAGS = 4
    DESCRIPTION = 8
    BODY = 16
    DENIED = 32  # what the skill says it is not for: searched, never matched


@dataclass(frozen=True)
class _Weighing:
    weight: float
    average: int  # terms; fixed, so that one skill's weights never depend on another's
    length_counts: float


_WEIGHING = {
    Field.NAME: _Weighing(2, 4, 0.3),
    Field.KEYWORDS: _Weighing(1, 5, 0.3),
    Field.TAGS: _Weighing(1, 5, 0.3),
    Field.DESCRIPTION: _Weighing(2, 35, 0.75),
    Field.BODY: _Weighing(0.5, 200, 0.75),
    Field.DENIED: _Weighing(0.1, 35, 0.75),
}
_BEGINNING = {Field.NAME: 500, Field.TAGS: 300}  # the weight of a word that is only begun


def index(skill: Skill, manifest: Manifest, body: str) -> None:
    """Replaces the skill's search terms and triggers, within the caller's transaction.

    The caller saves the skill; rows that stay as they were are not written again.
    """
    take_turns()
    manifest = _with_accepted(skill, manifest)
    texts = _texts(manifest, body)
    postings = _postings(texts)
    ids = term_ids(postings)
    before = {term: _Row(*row) for term, *row in skill.postings.values_list("term_id", *_Row._fields)}
    _move(skill, before=set(before), after=set(ids.values()))
    skill.name_key = words.key(manifest.display_name or manifest.name)[:200]
    skill.search_scope = scope_of(skill)
    skill.indexed_as = RULES
    skill.for_agents = not manifest.disable_model_invocation
    skill.priority = min(max(manifest.triggers.priority, 0.0), 1.0)
    skill.paths = list(manifest.paths)
    skill.abilities = int(abilities_of(skill.latest, manifest)) if skill.latest else 0
    if skill.tags:
        skill.tag_rows.update(scope=skill.search_scope)
    _write_postings(
        skill, before, {ids[text]: _row(skill, weight, mask) for text, (weight, mask) in postings.items()}
    )
    _write_misspellings(texts, ids)
    write_triggers(skill, manifest)


def index_latest(skill: Skill) -> None:
    """The same for the version that is the latest, where there is one."""
    if skill.latest:
        index(skill, replace(manifest_of(skill.latest.manifest), slug=skill.slug), skill.latest.body)
        skill.save(update_fields=_WRITTEN)


def _with_accepted(skill: Skill, manifest: Manifest) -> Manifest:
    """With the phrases that were accepted beside the package's own."""
    rows = skill.phrases.filter(state=ProposalState.ACCEPTED).order_by("pk")
    phrases = (*manifest.triggers.phrases, *rows.values_list("text", flat=True))
    return replace(manifest, triggers=replace(manifest.triggers, phrases=phrases))


def recount(skill: Skill) -> None:
    """Counts the skill's terms in the scope that it now belongs to, within the caller's transaction."""
    take_turns()
    stay = _terms_of(skill)
    _move(skill, before=stay, after=stay)
    skill.search_scope = scope_of(skill) if skill.latest_id else ""
    skill.postings.update(scope=skill.search_scope)
    skill.triggers.update(scope=skill.search_scope)
    skill.tag_rows.update(scope=skill.search_scope)
    skill.save(update_fields=["search_scope"])


def forget(skill: Skill) -> None:
    """Takes the skill out of the search, counts first, within the caller's transaction."""
    take_turns()
    _move(skill, before=_terms_of(skill), after=set())
    skill.postings.all().delete()
    skill.triggers.all().delete()
    skill.tag_rows.update(scope="")
    skill.search_scope = ""
    skill.save(update_fields=["search_scope"])


def reindex(*, every: bool = False) -> Iterator[int]:
    """Writes anew what older rules wrote, or everything; a few skills at a time, while others publish.

    Yields how many it has done. Whatever was indexed meanwhile is only found done.
    """
    skills = Skill.objects.filter(latest__isnull=False).order_by("pk")
    keys = list((skills if every else skills.exclude(indexed_as=RULES)).values_list("pk", flat=True))
    for done in range(0, len(keys), _AT_ONCE):
        with transaction.atomic():
            take_turns()
            for skill in skills.filter(pk__in=keys[done : done + _AT_ONCE]).select_related("latest"):
                index_latest(skill)
        yield min(done + _AT_ONCE, len(keys))


def postings_of(manifest: Manifest, body: str) -> dict[str, tuple[int, Field]]:
    """Each term of a skill with its weight and fields, as ``index`` writes them."""
    return _postings(_texts(manifest, body))


def scope_of(skill: Skill) -> str:
    """Among whose skills this one is counted."""
    is_own = skill.is_reported or skill.seen_as == Visibility.PRIVATE
    return f"team:{skill.team_id}" if is_own else skill.seen_as


def take_turns() -> None:
    """Writers of terms share most of their rows: one waits for another here, never in a ring."""
    if not connection.features.has_select_for_update:
        return  # SQLite has one writer, and whoever begins a transaction there is it
    if not bulk.read(_TURN, [EVERY]):
        Term.objects.get_or_create(text=EVERY)
        bulk.read(_TURN, [EVERY])


def _texts(manifest: Manifest, body: str) -> dict[Field, str]:
    names = {words.key(name): name for name in (manifest.slug, manifest.display_name, manifest.name)}
    if "-" in manifest.slug:
        names["joined"] = manifest.slug.replace("-", "")
    said = (
        *manifest.keywords,
        *manifest.capabilities,
        *manifest.triggers.phrases,
        *manifest.triggers.intents,
    )
    description = denials.split(f"{manifest.description}\n{manifest.when_to_use}")
    text = denials.split_body(body)
    return {
        Field.NAME: "\n".join(names.values()),
        Field.KEYWORDS: "\n".join(said),
        Field.TAGS: "\n".join((*manifest.tags, manifest.category, manifest.domain)),
        Field.DESCRIPTION: description.said,
        Field.BODY: text.said,
        Field.DENIED: f"{description.denied}\n{text.denied}",
    }


def _postings(texts: Mapping[Field, str]) -> dict[str, tuple[int, Field]]:
    """Each term with its weight and the fields it stands in: BM25F, and the beginnings of words."""
    frequency: defaultdict[str, float] = defaultdict(float)
    masks: defaultdict[str, int] = defaultdict(int)  # a Field is made of each once, which takes its time
    for field, text in texts.items():
        found = Counter(islice(words.terms(text), MOST_TERMS))
        rule = _WEIGHING[field]
        norm = 1 - rule.length_counts + rule.length_counts * found.total() / rule.average
        for term, times in found.items():
            frequency[term] += rule.weight * times / norm
            masks[term] |= field.value
    fields = {mask: Field(mask) for mask in set(masks.values())}
    ranks = {mask: _rank(field) for mask, field in fields.items()}
    postings = {
        term: (_weight(tf, ranks[masks[term]]), fields[masks[term]]) for term, tf in frequency.items()
    }
    begun = ((field, weight, words.beginnings(texts[field])) for field, weight in _BEGINNING.items())
    for field, weight, terms in begun:
        for term in terms:
            known, mask = postings.get(term, (0, Field(0)))
            postings[term] = (max(weight + RANK * _rank(field), known), mask | field)
    postings[EVERY] = (0, Field(0))
    if words.has_cjk(texts[Field.NAME] + texts[Field.DESCRIPTION]):
        postings[EVERY_CJK] = (0, Field(0))
    return postings


def _weight(frequency: float, rank: int) -> int:
    return rank * RANK + round(1000 * frequency * (_SATURATION + 1) / (_SATURATION + frequency))


def _rank(mask: Field) -> int:
    """The heaviest postings of a term are read first: those of names, then of tags, then of descriptions."""
    if mask & Field.NAME:
        return 3
    if mask & (Field.KEYWORDS | Field.TAGS):
        return 2
    return 1 if mask & Field.DESCRIPTION else 0


def _row(skill: Skill, weight: int, mask: Field) -> _Row:
    return _Row(weight, int(mask), skill.search_scope, _offered_by(skill))


def _write_postings(skill: Skill, before: Mapping[int, _Row], after: Mapping[int, _Row]) -> None:
    for part in _parts([term for term, row in before.items() if after.get(term) != row]):
        skill.postings.filter(term_id__in=part).delete()
    new = ((skill.pk, term, *row) for term, row in after.items() if before.get(term) != row)
    bulk.insert(Posting, POSTED, new)


def _write_misspellings(texts: Mapping[Field, str], ids: Mapping[str, int]) -> None:
    called = set(words.written(f"{texts[Field.NAME]}\n{texts[Field.TAGS]}"))
    keys = {word: ids[term] for word in called if (term := words.stem(word)) in ids}
    wanted = {(text, key) for word, key in keys.items() for text in words.misspellings(word)}
    known = Misspelling.objects.filter(term_id__in={key for _, key in wanted})
    bulk.insert(Misspelling, ("text", "term_id"), wanted - set(known.values_list("text", "term_id")))


def write_triggers(skill: Skill, manifest: Manifest) -> None:
    """Replaces what the skill is asked for by, word by word."""
    before = set(skill.triggers.values_list(*_TRIGGERED))
    after = [(*asked, skill.search_scope, _offered_by(skill)) for asked in asked_by(manifest)]
    if before == set(after):
        return
    if before:
        skill.triggers.all().delete()
    bulk.insert(Trigger, ("skill_id", *_TRIGGERED), ((skill.pk, *row) for row in after))


def _offered_by(skill: Skill) -> int | None:
    return skill.team_id if skill.for_agents else None


def asked_by(manifest: Manifest) -> Iterator[tuple[str, str, str]]:
    """By which kind of trigger, key and text a version is asked for, each key of a kind once."""
    said = manifest.triggers
    asked = {
        TriggerKind.EVENT: ((text, text) for text in said.event_types),
        TriggerKind.INTENT: _phrases(said.intents),
        TriggerKind.PHRASE: _phrases(said.phrases),
        TriggerKind.NAME: _phrases((manifest.slug, manifest.name, manifest.display_name)),
    }
    found = {
        (kind.value, key[:_LONGEST_KEY]): text[:200]
        for kind, texts in asked.items()
        for key, text in texts
        if key
    }
    for (kind, key), text in islice(found.items(), _MOST_TRIGGERS):
        yield kind, key, text


def _phrases(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        key = words.phrase_key(text)
        if is_heard(key):
            yield key, text


def is_heard(key: str) -> bool:
    """Whether an utterance can hold the phrase of this key."""
    return 0 < len(key) <= _LONGEST_KEY and key.count(" ") < LONGEST_PHRASE


def term_ids(texts: Collection[str]) -> dict[str, int]:
    """The key of each term, made where there is none; for whoever has its turn."""
    known = _known_ids(texts)
    for part in _parts([text for text in texts if text not in known]):
        made = ", ".join(["(%s)"] * len(part))
        known |= bulk.read(f"INSERT INTO registry_term (text) VALUES {made} RETURNING text, id", part)
    return known


def _known_ids(texts: Collection[str]) -> dict[str, int]:
    known: dict[str, int] = {}
    for part in _parts(texts):
        known |= bulk.read(f"SELECT text, id FROM registry_term WHERE text IN ({bulk.places(part)})", part)
    return known


def _terms_of(skill: Skill) -> set[int]:
    return set(skill.postings.values_list("term_id", flat=True))


def _move(skill: Skill, *, before: set[int], after: set[int]) -> None:
    """Takes the skill's terms out of the counts where they were and into those where they belong."""
    scope = scope_of(skill)
    stay = before & after if skill.search_scope == scope else set()
    for part in _parts(before - stay):
        TermScope.objects.filter(scope=skill.search_scope, term_id__in=part).update(df=F("df") - 1)
    rows = ((key, scope, 1) for key in after - stay)
    bulk.insert(TermScope, ("term_id", "scope", "df"), rows, on_conflict=_COUNTED)


def _parts(items: Collection[_Item]) -> Iterator[list[_Item]]:
    rest = iter(items)
    while part := list(islice(rest, _CHUNK)):
        yield part
