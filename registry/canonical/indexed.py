"""The writer of what a canonical skill is found by: the words and triggers of the version that is pinned.

They stand beside those of the latest version, so that publishing a newer one changes nothing of them, and go
with the version when it is purged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from django.db import transaction

from registry import bulk, indexing, words
from registry.models import Canonical, PinnedPosting, PinnedTrigger, TriggerKind, Version
from registry.packages.manifest import manifest_of
from registry.packages.package import Manifest

_UNCOUNTED = (indexing.EVERY, indexing.EVERY_CJK)  # the skill itself is counted already


def index(canonical: Canonical) -> None:
    """Writes those of the version that is pinned now, within the caller's transaction."""
    version = canonical.version
    if version is None:
        return
    indexing.take_turns()
    manifest = replace(manifest_of(version.manifest), slug=canonical.slug)
    canonical.name = (manifest.display_name or manifest.name)[:200]
    canonical.name_key = words.key(manifest.display_name or manifest.name)[:200]
    canonical.for_agents = not manifest.disable_model_invocation
    canonical.indexed_as = indexing.RULES
    canonical.save(update_fields=["name", "name_key", "for_agents", "indexed_as"])
    forget_unpinned()
    _write(version, manifest)


def forget_unpinned() -> None:
    """Takes away what no canonical name means any more."""
    kept = Canonical.objects.filter(version__isnull=False).values("version")
    PinnedPosting.objects.exclude(version__in=kept).delete()
    PinnedTrigger.objects.exclude(version__in=kept).delete()


def reindex(*, every: bool = False) -> Iterator[str]:
    """Writes anew what older rules wrote, or everything, one name in a transaction; yields the names."""
    rows = Canonical.objects.filter(version__isnull=False).order_by("pk")
    for key in list(
        (rows if every else rows.exclude(indexed_as=indexing.RULES)).values_list("pk", flat=True)
    ):
        with transaction.atomic():
            canonical = rows.select_for_update(of=("self",)).select_related("version").filter(pk=key).first()
            if canonical:
                index(canonical)
                yield str(canonical)


def _write(version: Version, manifest: Manifest) -> None:
    """Accepted phrases are left out: the skill's own team wrote them, and nobody vouched for those."""
    postings = indexing.postings_of(manifest, version.body)
    for text in _UNCOUNTED:
        postings.pop(text, None)
    ids = indexing.term_ids(postings)
    PinnedPosting.objects.filter(version=version).delete()
    rows = ((version.pk, ids[text], weight, int(mask)) for text, (weight, mask) in postings.items())
    bulk.insert(PinnedPosting, ("version_id", "term_id", "weight", "field_mask"), rows)
    PinnedTrigger.objects.filter(version=version).delete()
    PinnedTrigger.objects.bulk_create(
        PinnedTrigger(version=version, kind=TriggerKind(kind), key=key, text=text)
        for kind, key, text in indexing.asked_by(manifest)
    )
