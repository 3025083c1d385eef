"""A site's own lines of the glossary: written by administrators, each change with its way back."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from registry import audit, texts, words
from registry.actors import Actor
from registry.glossary import LONGEST, built_in, read_line
from registry.models import AuditEntry, GlossaryEntry
from registry.packages.problems import refuse
from registry.permissions import Action, require

MOST_CHARACTERS = 500  # of a line
MOST_WORDS = 30  # of a line; the more there are, the less each counts
_DEEDS = ("glossary.add", "glossary.change", "glossary.remove")


def entries(actor: Actor, *, find: str = "") -> QuerySet[GlossaryEntry]:
    """The site's own lines, the newest first; those in which the text stands."""
    rows = GlossaryEntry.objects.visible_to(actor).select_related("by").order_by("-uid")
    return rows.filter(text__icontains=find.strip()) if find.strip() else rows


def find_entry(uid: str, actor: Actor) -> GlossaryEntry:
    entry = GlossaryEntry.objects.visible_to(actor).filter(uid=uid).first()
    if entry is None:
        raise refuse("NOT_FOUND", what="glossary entry", name=uid[:40])
    return entry


@transaction.atomic
def add(text: str, actor: Actor) -> tuple[GlossaryEntry, AuditEntry]:
    """A new line: matches know it from now on."""
    require(actor, Action.GLOSSARY)
    entry = _kept(GlossaryEntry(text=_checked(text), by=actor.user))
    return entry, _tell(actor, "glossary.add", entry, text=entry.text, before="")


@transaction.atomic
def change(entry: GlossaryEntry, text: str, actor: Actor) -> tuple[GlossaryEntry, AuditEntry]:
    require(actor, Action.GLOSSARY)
    row = GlossaryEntry.objects.select_for_update().get(pk=entry.pk)
    before, row.text, row.by = row.text, _checked(text, but=row), actor.user
    _kept(row)
    return row, _tell(actor, "glossary.change", row, text=row.text, before=before)


@transaction.atomic
def remove(entry: GlossaryEntry, actor: Actor) -> AuditEntry:
    require(actor, Action.GLOSSARY)
    entry.delete()
    return _tell(actor, "glossary.remove", entry, text="", before=entry.text)


@transaction.atomic
def undo(uid: str, actor: Actor) -> AuditEntry:
    """Takes one change back: what was there before is there again."""
    done = AuditEntry.objects.filter(uid=uid, action__in=_DEEDS).first()
    if done is None or not actor.is_administrator:
        raise refuse("NOT_FOUND", what="change", name=uid[:40])
    text, before = str(done.detail["text"]), str(done.detail["before"])
    if not text:
        return add(before, actor)[1]
    entry = GlossaryEntry.objects.filter(text=text).first()
    if entry is None:
        raise refuse("NOT_FOUND", what="glossary entry", name=text[:80])
    return change(entry, before, actor)[1] if before else remove(entry, actor)


def _checked(text: str, *, but: GlossaryEntry | None = None) -> str:
    """The line as it is kept: words that can be met in a sentence, at least two, not all said already."""
    line = texts.plain(text, field="text", most=MOST_CHARACTERS).lstrip("#").replace("、", ",")
    found: dict[str, str] = {}
    for word in read_line(line):
        if not word.replace("\u3000", " ").isprintable() or not 0 < len(words.pieces(word)) <= LONGEST:
            raise refuse("GLOSSARY_WORD_INVALID", path="text", word=word[:80], most=LONGEST)
        found.setdefault(words.phrase_key(word), word)
    if not 2 <= len(found) <= MOST_WORDS:
        raise refuse("GLOSSARY_LINE_INVALID", path="text", count=len(found), most=MOST_WORDS)
    _require_new(set(found), but)
    return ", ".join(found.values())


def _kept(entry: GlossaryEntry) -> GlossaryEntry:
    """Saved, unless somebody else wrote the very line meanwhile."""
    try:
        with transaction.atomic():
            entry.save()
    except IntegrityError:
        raise refuse("GLOSSARY_LINE_KNOWN", path="text", said=entry.text) from None
    return entry


def _require_new(keys: set[str], but: GlossaryEntry | None) -> None:
    """A line that says no more than another would change nothing."""
    own = GlossaryEntry.objects.exclude(uid=but.uid if but else "").values_list("text", flat=True)
    known = (line for line in (*own, *built_in()) if keys <= set(map(words.phrase_key, read_line(line))))
    if there := next(known, None):
        raise refuse("GLOSSARY_LINE_KNOWN", path="text", said=there)


def _tell(actor: Actor, action: str, entry: GlossaryEntry, *, text: str, before: str) -> AuditEntry:
    return audit.record(actor, action, entry.text, text=text, before=before)
