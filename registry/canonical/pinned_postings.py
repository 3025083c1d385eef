"""Writes the search terms and triggers of the versions that canonical names pin.

These rows are separate from those of a skill's latest version, so publishing does not change them. Purging
the version deletes them.
"""

from collections.abc import Iterator
from dataclasses import replace

from django.db import transaction

from registry.core import search_terms, sql
from registry.index import postings as indexing
from registry.models import Canonical, PinnedPosting, PinnedTrigger, TriggerKind, Version
from registry.packages.manifest.manifest import manifest_of
from registry.packages.package import Manifest

# Not written for pinned versions, because the skill's own postings already count the skill.
_CATALOG_TERMS = (indexing.DOC_COUNT_TERM, indexing.CJK_DOC_COUNT_TERM)


def index(canonical: Canonical) -> None:
    """Writes the terms and triggers of the pinned version, and its name and index state on `canonical`.

    Deletes the rows of versions that are no longer pinned. Takes the index writer lock, so it requires a
    transaction. Does nothing if no version is pinned.
    """
    version = canonical.version
    if version is None:
        return
    indexing.lock_index_writers()
    manifest = replace(manifest_of(version.manifest), slug=canonical.slug)
    canonical.name = (manifest.display_name or manifest.name)[:200]
    canonical.name_key = search_terms.name_key(manifest.display_name or manifest.name)[:200]
    canonical.for_agents = not manifest.disable_model_invocation
    canonical.indexed_as = indexing.INDEX_VERSION
    canonical.save(update_fields=["name", "name_key", "for_agents", "indexed_as"])
    delete_unpinned()
    _write(version, manifest)


def delete_unpinned() -> None:
    """Deletes the terms and triggers of versions that are no longer pinned."""
    pinned_versions = Canonical.objects.filter(version__isnull=False).values("version")
    PinnedPosting.objects.exclude(version__in=pinned_versions).delete()
    PinnedTrigger.objects.exclude(version__in=pinned_versions).delete()


def reindex(*, every: bool = False) -> Iterator[str]:
    """Rewrites the search rows that an older index version wrote, or all of them with ``every``. Uses one
    transaction per canonical name, and yields the name after the commit.
    """
    rows = Canonical.objects.filter(version__isnull=False).order_by("pk")
    for key in list(
        (rows if every else rows.exclude(indexed_as=indexing.INDEX_VERSION)).values_list("pk", flat=True)
    ):
        with transaction.atomic():
            canonical = rows.select_for_update(of=("self",)).select_related("version").filter(pk=key).first()
            if canonical:
                index(canonical)
        if canonical:
            yield str(canonical)


def _write(version: Version, manifest: Manifest) -> None:
    """Replaces the rows of a version. Trigger phrases added on this site are omitted, because no
    administrator reviewed them.
    """
    postings = indexing.compute_postings(manifest, version.body)
    for text in _CATALOG_TERMS:
        postings.pop(text, None)
    ids = indexing.term_ids(postings)
    PinnedPosting.objects.filter(version=version).delete()
    rows = ((version.pk, ids[text], weight, int(mask)) for text, (weight, mask) in postings.items())
    sql.insert_rows(PinnedPosting, ("version_id", "term_id", "weight", "field_mask"), rows)
    PinnedTrigger.objects.filter(version=version).delete()
    PinnedTrigger.objects.bulk_create(
        PinnedTrigger(version=version, kind=TriggerKind(kind), key=key, text=text)
        for kind, key, text in indexing.trigger_rows(manifest)
    )
