"""``python -m tests.registry.versions.whole``: fails if a version is incomplete or something is left over."""

from __future__ import annotations

import os
from collections import Counter
from datetime import timedelta

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    check()
    from registry.models import Version

    print(Version.objects.count(), "versions whole")


def check() -> None:
    check_versions()
    check_counts()
    check_blobs()


def check_versions() -> None:
    from registry.models import Skill, Version
    from registry.packages.archive.repack import read_repacked
    from registry.storage import blobs

    for version in Version.objects.prefetch_related("files"):
        files = read_repacked(blobs.read(version.digest))
        assert {file.path: len(file.data) for file in files} == {f.path: f.size for f in version.files.all()}
    for skill in Skill.objects.all():
        assert skill.latest_id, skill.slug
        assert skill.postings.exists(), skill.slug


def check_counts() -> None:
    from registry.index.facet_counts import EVERY_SCOPE
    from registry.models import CountedSkill, FacetCount, Posting, Skill, TermScope

    counts = {(row.scope, row.term_id): row.df for row in TermScope.objects.filter(df__gt=0)}
    assert counts == Counter(Posting.objects.values_list("skill__search_scope", "term_id"))
    counted = CountedSkill.objects.all()
    assert len(counted) == Skill.objects.exclude(search_scope="").count()
    facets = FacetCount.objects.filter(scope=EVERY_SCOPE, skills__gt=0)
    stored = {(row.facet, row.value): row.skills for row in facets}
    assert stored == Counter((facet, value) for row in counted for facet, value in row.facets)


def check_blobs() -> None:
    from registry.models import Version
    from registry.storage import blobs
    from registry.storage.disk import DiskBackend

    blobs.sweep(grace=timedelta(0))
    named = set(Version.objects.values_list("digest", flat=True))
    assert set(blobs.digests()) == named, "an orphan was left, or a blob was lost"
    place = blobs.backend()
    if isinstance(place, DiskBackend):
        assert not list(place.folder.glob(".coming-*"))


if __name__ == "__main__":
    main()
