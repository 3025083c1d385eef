"""Selects the additions of a run: those that existed when it was requested and that its version still has."""

from __future__ import annotations

from registry.additions.additions import Additions, additions_from_document, additions_from_rows
from registry.models import Version
from worker.queue.claims import Claim


def additions_of_run(claim: Claim) -> Additions:
    """The run's additions, without those added after its request, because no approval covers them."""
    recorded = additions_from_document(claim.grants.get("additions", {}))
    if not recorded:
        return recorded
    versions = Version.objects.filter(skill=claim.skill_id, number=claim.version_number, digest=claim.digest)
    rows = versions.values_list("additions", flat=True).first()
    return recorded & additions_from_rows(rows or ())
