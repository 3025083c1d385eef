"""Writes the search index: the terms of a skill's latest version with their weights and fields.

Document counts are stored per scope, so that skills an actor can't see don't influence the actor's results.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntFlag
from itertools import islice
from typing import NamedTuple, TypeVar

from django.db import connection, transaction
from django.db.models import F

from registry.core import search_terms
from registry.core.sql import insert_rows
from registry.index import denials, facet_counts, sql
from registry.index.abilities import detect_abilities
from registry.index.pinyin import pinyin_terms
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
from registry.packages.manifest.manifest import manifest_of
from registry.packages.package import Manifest

INDEX_VERSION = 7  # increased when the index content changes; ``reindex`` rewrites skills of older versions
# artificial term of every skill: its df is the number of skills, and writers lock its row
DOC_COUNT_TERM = ""
CJK_DOC_COUNT_TERM = " cjk"  # artificial term of skills described in Chinese, Japanese or Korean
RANK = 4096  # a posting's weight is RANK times the rank of its best field, plus a frequency part
MAX_FIELD_TERMS = 8000  # further terms of a field are not indexed
MAX_PHRASE_TOKENS = 24  # longer phrases match only by their words; Chinese has a token per character
_MAX_KEY_CHARS = 200  # length of a trigger's key
_MAX_TRIGGERS = 200  # per skill
_SATURATION = 1.2
_CHUNK = 500  # rows per statement
_BATCH_SIZE = 20  # skills reindexed per transaction
_TRIGGER_COLUMNS = ("kind", "key", "text", "scope", "recommendable_team")
_INDEXED_FIELDS = ["name_key", "search_scope", "indexed_as", "abilities", "for_agents", "priority", "paths"]
_Item = TypeVar("_Item")


class _Row(NamedTuple):
    weight: int
    field_mask: int
    scope: str
    recommendable_team: int | None


POSTING_COLUMNS = ("skill_id", "term_id", *_Row._fields)


class Field(IntFlag):
    NAME = 1
    KEYWORDS = 2
    TAGS = 4
    DESCRIPTION = 8
    BODY = 16
    DENIED = 32  # denied uses of the skill; used by search, not by match


@dataclass(frozen=True)
class _FieldWeight:
    weight: float
    average: int  # average number of terms; fixed, so that a skill's weights do not depend on other skills
    length_counts: float


_FIELD_WEIGHTS = {
    Field.NAME: _FieldWeight(2, 4, 0.3),
    Field.KEYWORDS: _FieldWeight(1, 5, 0.3),
    Field.TAGS: _FieldWeight(1, 5, 0.3),
    Field.DESCRIPTION: _FieldWeight(2, 35, 0.75),
    Field.BODY: _FieldWeight(0.5, 200, 0.75),
    Field.DENIED: _FieldWeight(0.1, 35, 0.75),
}
_PREFIX_WEIGHTS = {Field.NAME: 500, Field.TAGS: 300}  # weights of word prefixes
_PINYIN_WEIGHT = 1000


def index_skill(skill: Skill, manifest: Manifest, body: str) -> None:
    """Replaces the skill's search terms and triggers and updates the counts of documents and facets, in the
    caller's transaction.

    Calls ``lock_index_writers`` and sets the skill's index fields, which the caller must save.
    Unchanged terms are not rewritten.
    """
    lock_index_writers()
    manifest = _add_accepted_phrases(skill, manifest)
    texts = _texts(manifest, body)
    postings = _weigh_terms(texts)
    ids = term_ids(postings)
    before = {term: _Row(*row) for term, *row in skill.postings.values_list("term_id", *_Row._fields)}
    _move_counts(skill, before=set(before), after=set(ids.values()))
    skill.name_key = search_terms.name_key(manifest.display_name or manifest.name)[:200]
    skill.search_scope = scope_of(skill)
    skill.indexed_as = INDEX_VERSION
    skill.for_agents = not manifest.disable_model_invocation
    skill.priority = min(max(manifest.triggers.priority, 0.0), 1.0)
    skill.paths = list(manifest.paths)
    skill.abilities = int(detect_abilities(skill.latest, manifest)) if skill.latest else 0
    if skill.tags:
        skill.tag_rows.update(scope=skill.search_scope)
    _write_postings(
        skill, before, {ids[text]: _row(skill, weight, mask) for text, (weight, mask) in postings.items()}
    )
    write_misspellings(manifest, ids)
    write_triggers(skill, manifest)
    facet_counts.count_skill(skill, "zh" if CJK_DOC_COUNT_TERM in postings else "en")


def index_latest(skill: Skill) -> None:
    """Indexes the skill by its latest version and saves its index fields. Does nothing without a latest
    version.
    """
    if skill.latest:
        index_skill(skill, replace(manifest_of(skill.latest.manifest), slug=skill.slug), skill.latest.body)
        skill.save(update_fields=_INDEXED_FIELDS)


def _add_accepted_phrases(skill: Skill, manifest: Manifest) -> Manifest:
    rows = skill.phrases.filter(state=ProposalState.ACCEPTED).order_by("pk")
    phrases = (*manifest.triggers.phrases, *rows.values_list("text", flat=True))
    return replace(manifest, triggers=replace(manifest.triggers, phrases=phrases))


def recount(skill: Skill) -> None:
    """Moves the skill's rows and document counts to its current scope and saves ``search_scope``, in the
    caller's transaction. Call it after a change of the scope.
    """
    lock_index_writers()
    terms = _terms_of(skill)
    _move_counts(skill, before=terms, after=terms)
    skill.search_scope = scope_of(skill) if skill.latest_id else ""
    skill.postings.update(scope=skill.search_scope)
    skill.triggers.update(scope=skill.search_scope)
    skill.tag_rows.update(scope=skill.search_scope)
    facet_counts.move_skill(skill)
    skill.save(update_fields=["search_scope"])


def remove_skill(skill: Skill) -> None:
    """Removes the skill's terms, triggers and counts from the index, in the caller's transaction. Clears
    ``search_scope`` of the skill and the scope of its tags. Saves the skill.
    """
    lock_index_writers()
    _move_counts(skill, before=_terms_of(skill), after=set())
    skill.postings.all().delete()
    skill.triggers.all().delete()
    skill.tag_rows.update(scope="")
    facet_counts.remove_skill(skill)
    skill.search_scope = ""
    skill.save(update_fields=["search_scope"])


def reindex(*, every: bool = False) -> Iterator[int]:
    """Reindexes skills with an older index version (with ``every``, all skills) in small transactions, so
    that publishing can continue.

    After each transaction, yields the number of skills reindexed so far.
    """
    skills = Skill.objects.filter(latest__isnull=False).select_related("latest", "team").order_by("pk")
    keys = list((skills if every else skills.exclude(indexed_as=INDEX_VERSION)).values_list("pk", flat=True))
    for done in range(0, len(keys), _BATCH_SIZE):
        with transaction.atomic():
            lock_index_writers()
            for skill in skills.filter(pk__in=keys[done : done + _BATCH_SIZE]).select_related(
                "latest", "team"
            ):
                index_latest(skill)
        yield min(done + _BATCH_SIZE, len(keys))


def compute_postings(manifest: Manifest, body: str) -> dict[str, tuple[int, Field]]:
    """Each term of a version with its weight and fields, in the form that ``index_skill`` stores. Phrases
    that were accepted on the site are not included.
    """
    return _weigh_terms(_texts(manifest, body))


def scope_of(skill: Skill) -> str:
    """The scope of the skill's terms: the team of a private or reported skill, otherwise the visibility."""
    is_own = skill.is_reported or skill.effective_visibility == Visibility.PRIVATE
    return f"team:{skill.team_id}" if is_own else skill.effective_visibility


def lock_index_writers() -> None:
    """Makes other index writers wait until the caller's transaction ends. Without this lock, they could
    deadlock, because they write mostly the same rows.
    """
    if not connection.features.has_select_for_update:
        return  # not needed: SQLite allows only one write transaction at a time
    if not sql.lock_term(DOC_COUNT_TERM):
        Term.objects.get_or_create(text=DOC_COUNT_TERM)
        sql.lock_term(DOC_COUNT_TERM)


def _texts(manifest: Manifest, body: str) -> dict[Field, str]:
    names = {
        search_terms.name_key(name): name for name in (manifest.slug, manifest.display_name, manifest.name)
    }
    if "-" in manifest.slug:
        names["joined"] = manifest.slug.replace("-", "")
    keywords = (
        *manifest.keywords,
        *manifest.capabilities,
        *manifest.triggers.phrases,
        *manifest.triggers.intents,
    )
    description = denials.split_denials(f"{manifest.description}\n{manifest.when_to_use}")
    body_text = denials.split_body_denials(body)
    return {
        Field.NAME: "\n".join(names.values()),
        Field.KEYWORDS: "\n".join(keywords),
        Field.TAGS: "\n".join((*manifest.tags, manifest.category, manifest.domain)),
        Field.DESCRIPTION: description.positive,
        Field.BODY: body_text.positive,
        Field.DENIED: f"{description.denied}\n{body_text.denied}",
    }


def _weigh_terms(texts: Mapping[Field, str]) -> dict[str, tuple[int, Field]]:
    """Each term with its weight and its fields. Weights are computed by BM25F and rank. Prefixes of words and
    pinyin have fixed weights; terms that only count documents have the weight 0.
    """
    frequency: defaultdict[str, float] = defaultdict(float)
    masks: defaultdict[str, int] = defaultdict(int)  # plain ints, because operations on Field are slow
    for field, text in texts.items():
        found = Counter(islice(search_terms.terms(text), MAX_FIELD_TERMS))
        rule = _FIELD_WEIGHTS[field]
        norm = 1 - rule.length_counts + rule.length_counts * found.total() / rule.average
        for term, times in found.items():
            frequency[term] += rule.weight * times / norm
            masks[term] |= field.value
    fields = {mask: Field(mask) for mask in set(masks.values())}
    ranks = {mask: _rank(field) for mask, field in fields.items()}
    postings = {
        term: (_weight(tf, ranks[masks[term]]), fields[masks[term]]) for term, tf in frequency.items()
    }
    for field, weight, terms in _fixed_weight_terms(texts):
        for term in terms:
            known, mask = postings.get(term, (0, Field(0)))
            postings[term] = (max(weight + RANK * _rank(field), known), mask | field)
    postings[DOC_COUNT_TERM] = (0, Field(0))
    if search_terms.has_cjk(texts[Field.NAME] + texts[Field.DESCRIPTION]):
        postings[CJK_DOC_COUNT_TERM] = (0, Field(0))
    return postings


def _fixed_weight_terms(texts: Mapping[Field, str]) -> Iterator[tuple[Field, int, Iterator[str]]]:
    """Yields field, weight and terms: the prefixes of words, and the pinyin of Chinese characters."""
    for field, weight in _PREFIX_WEIGHTS.items():
        yield field, weight, search_terms.prefixes(texts[field])
        yield field, _PINYIN_WEIGHT, pinyin_terms(texts[field])


def _weight(frequency: float, rank: int) -> int:
    return rank * RANK + round(1000 * frequency * (_SATURATION + 1) / (_SATURATION + frequency))


def _rank(mask: Field) -> int:
    """The rank of a posting's best field: 3 for name, 2 for keywords and tags, 1 for description, 0 for
    others. High ranks are read first.
    """
    if mask & Field.NAME:
        return 3
    if mask & (Field.KEYWORDS | Field.TAGS):
        return 2
    return 1 if mask & Field.DESCRIPTION else 0


def _row(skill: Skill, weight: int, mask: Field) -> _Row:
    return _Row(weight, int(mask), skill.search_scope, _recommending_team(skill))


def _write_postings(skill: Skill, before: Mapping[int, _Row], after: Mapping[int, _Row]) -> None:
    for part in _batches([term for term, row in before.items() if after.get(term) != row]):
        skill.postings.filter(term_id__in=part).delete()
    new = ((skill.pk, term, *row) for term, row in after.items() if before.get(term) != row)
    insert_rows(Posting, POSTING_COLUMNS, new)


def write_misspellings(manifest: Manifest, ids: Mapping[str, int]) -> None:
    """Adds the misspellings of the words in the names and tags. ``ids``: term ids by text."""
    texts = _texts(manifest, "")
    called = set(search_terms.whole_words(f"{texts[Field.NAME]}\n{texts[Field.TAGS]}"))
    keys = {word: ids[term] for word in called if (term := search_terms.stem(word)) in ids}
    wanted = {(text, key) for word, key in keys.items() for text in search_terms.typo_keys(word)}
    known = Misspelling.objects.filter(term_id__in={key for _, key in wanted})
    insert_rows(Misspelling, ("text", "term_id"), wanted - set(known.values_list("text", "term_id")))


def write_triggers(skill: Skill, manifest: Manifest) -> None:
    """Replaces the skill's trigger rows if any of them changed."""
    before = set(skill.triggers.values_list(*_TRIGGER_COLUMNS))
    after = [(*row, skill.search_scope, _recommending_team(skill)) for row in trigger_rows(manifest)]
    if before == set(after):
        return
    if before:
        skill.triggers.all().delete()
    insert_rows(Trigger, ("skill_id", *_TRIGGER_COLUMNS), ((skill.pk, *row) for row in after))


def _recommending_team(skill: Skill) -> int | None:
    return skill.team_id if skill.for_agents else None


def trigger_rows(manifest: Manifest) -> Iterator[tuple[str, str, str]]:
    """Yields kind, key and text of each trigger of a version, at most ``_MAX_TRIGGERS``. A key occurs once
    per kind.
    """
    triggers = manifest.triggers
    texts_by_kind = {
        TriggerKind.EVENT: ((text, text) for text in triggers.event_types),
        TriggerKind.INTENT: _phrase_keys(triggers.intents),
        TriggerKind.PHRASE: _phrase_keys(triggers.phrases),
        TriggerKind.NAME: _phrase_keys((manifest.slug, manifest.name, manifest.display_name)),
    }
    found = {
        (kind.value, key[:_MAX_KEY_CHARS]): text[:200]
        for kind, texts in texts_by_kind.items()
        for key, text in texts
        if key
    }
    for (kind, key), text in islice(found.items(), _MAX_TRIGGERS):
        yield kind, key, text


def _phrase_keys(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        key = search_terms.phrase_key(text)
        if is_matchable_phrase(key):
            yield key, text


def is_matchable_phrase(key: str) -> bool:
    """Whether a phrase with this key can match: the key is neither empty nor too long."""
    return 0 < len(key) <= _MAX_KEY_CHARS and key.count(" ") < MAX_PHRASE_TOKENS


def term_ids(texts: Collection[str]) -> dict[str, int]:
    """Term ids by text. Creates missing terms. The caller must hold the lock of ``lock_index_writers``."""
    known: dict[str, int] = {}
    for part in _batches(texts):
        known |= sql.known_term_ids(part)
    for part in _batches([text for text in texts if text not in known]):
        known |= sql.insert_terms(part)
    return known


def _terms_of(skill: Skill) -> set[int]:
    return set(skill.postings.values_list("term_id", flat=True))


def _move_counts(skill: Skill, *, before: set[int], after: set[int]) -> None:
    """Lowers the counts of the terms ``before`` by 1 in the stored scope, and raises those of ``after``
    by 1 in the current scope.
    """
    scope = scope_of(skill)
    unchanged = before & after if skill.search_scope == scope else set()
    for part in _batches(before - unchanged):
        TermScope.objects.filter(scope=skill.search_scope, term_id__in=part).update(df=F("df") - 1)
    sql.increment_document_counts(after - unchanged, scope)


def _batches(items: Collection[_Item]) -> Iterator[list[_Item]]:
    rest = iter(items)
    while part := list(islice(rest, _CHUNK)):
        yield part
