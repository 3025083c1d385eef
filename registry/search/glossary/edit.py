"""Edits the site's own glossary. Each change can be undone until the entry changes again."""

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from registry.core import search_terms
from registry.core import text as texts
from registry.core.errors import NOT_FOUND
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import AuditEntry, GlossaryEntry
from registry.search.errors import GLOSSARY_LINE_INVALID, GLOSSARY_LINE_KNOWN, GLOSSARY_WORD_INVALID
from registry.search.glossary.lines import MAX_KEY_TOKENS, file_lines, read_line

MAX_LINE_CHARACTERS = 500  # per line
MAX_LINE_WORDS = 30  # per line; the more synonyms, the less each one counts
_UNDOABLE_ACTIONS = ("glossary.add", "glossary.change", "glossary.remove")


def entries(actor: Actor, *, find: str = "") -> QuerySet[GlossaryEntry]:
    """The site's own entries that contain ``find``, newest first. Only administrators get entries."""
    rows = GlossaryEntry.objects.visible_to(actor).select_related("by").order_by("-uid")
    return rows.filter(text__icontains=find.strip()) if find.strip() else rows


def find_entry(uid: str, actor: Actor) -> GlossaryEntry:
    entry = GlossaryEntry.objects.visible_to(actor).filter(uid=uid).first()
    if entry is None:
        raise NOT_FOUND.refusal(what="glossary entry", name=uid[:40])
    return entry


@transaction.atomic
def add(text: str, actor: Actor) -> tuple[GlossaryEntry, AuditEntry]:
    """Adds an entry, which the next match uses. Returns the entry and the change's audit entry, whose uid
    ``undo`` accepts.

    Raises the refusals of ``require``, TEXT_INVALID or GLOSSARY_WORD_INVALID for an invalid text or word,
    GLOSSARY_LINE_INVALID for too few or too many words, and GLOSSARY_LINE_KNOWN for a known line.
    """
    require(actor, Action.GLOSSARY)
    entry = _save(GlossaryEntry(text=_normalize(text), by=actor.user))
    return entry, _record(actor, "glossary.add", entry, text=entry.text, before="")


@transaction.atomic
def change(entry: GlossaryEntry, text: str, actor: Actor) -> tuple[GlossaryEntry, AuditEntry]:
    require(actor, Action.GLOSSARY)
    row = GlossaryEntry.objects.select_for_update().get(pk=entry.pk)
    before, row.text, row.by = row.text, _normalize(text, but=row), actor.user
    _save(row)
    return row, _record(actor, "glossary.change", row, text=row.text, before=before)


@transaction.atomic
def remove(entry: GlossaryEntry, actor: Actor) -> AuditEntry:
    require(actor, Action.GLOSSARY)
    entry.delete()
    return _record(actor, "glossary.remove", entry, text="", before=entry.text)


@transaction.atomic
def undo(uid: str, actor: Actor) -> AuditEntry:
    """Reverses the change with this uid, and returns the audit entry of the reversal.

    Raises NOT_FOUND for non-administrators, for an unknown change, and if the entry has changed since. Also
    raises the refusals of ``add``, ``change`` and ``remove``.
    """
    done = AuditEntry.objects.filter(uid=uid, action__in=_UNDOABLE_ACTIONS).first()
    if done is None or not actor.is_administrator:
        raise NOT_FOUND.refusal(what="change", name=uid[:40])
    text, before = str(done.detail["text"]), str(done.detail["before"])
    if not text:
        return add(before, actor)[1]
    entry = GlossaryEntry.objects.filter(text=text).first()
    if entry is None:
        raise NOT_FOUND.refusal(what="glossary entry", name=text[:80])
    return change(entry, before, actor)[1] if before else remove(entry, actor)


def _normalize(text: str, *, but: GlossaryEntry | None = None) -> str:
    """The line in the form in which it is stored. Raises TEXT_INVALID, GLOSSARY_WORD_INVALID,
    GLOSSARY_LINE_KNOWN, or GLOSSARY_LINE_INVALID for too few or too many words.
    """
    line = texts.validated(text, field="text", max_length=MAX_LINE_CHARACTERS).lstrip("#").replace("、", ",")
    found: dict[str, str] = {}
    for word in read_line(line):
        if (
            not word.replace("\u3000", " ").isprintable()
            or not 0 < len(search_terms.text_tokens(word)) <= MAX_KEY_TOKENS
        ):
            raise GLOSSARY_WORD_INVALID.refusal(word=word[:80], most=MAX_KEY_TOKENS).at("text")
        found.setdefault(search_terms.phrase_key(word), word)
    if not 2 <= len(found) <= MAX_LINE_WORDS:
        raise GLOSSARY_LINE_INVALID.refusal(count=len(found), most=MAX_LINE_WORDS).at("text")
    _require_new(set(found), but)
    return ", ".join(found.values())


def _save(entry: GlossaryEntry) -> GlossaryEntry:
    """Saves the entry. Raises GLOSSARY_LINE_KNOWN if another request has just added the same line."""
    try:
        with transaction.atomic():
            entry.save()
    except IntegrityError:
        raise GLOSSARY_LINE_KNOWN.refusal(entry=entry.text).at("text") from None
    return entry


def _require_new(keys: set[str], but: GlossaryEntry | None) -> None:
    """Raises GLOSSARY_LINE_KNOWN if an existing line contains all of these words."""
    own = GlossaryEntry.objects.exclude(uid=but.uid if but else "").values_list("text", flat=True)
    known = (
        line for line in (*own, *file_lines()) if keys <= set(map(search_terms.phrase_key, read_line(line)))
    )
    if there := next(known, None):
        raise GLOSSARY_LINE_KNOWN.refusal(entry=there).at("text")


def _record(actor: Actor, action: str, entry: GlossaryEntry, *, text: str, before: str) -> AuditEntry:
    return audit.record(actor, action, entry.text, text=text, before=before)
