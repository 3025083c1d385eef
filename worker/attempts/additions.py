"""Selects the additions that a run may use: hosts, secrets and libraries that a maintainer added to its
version.

The version must still have them and must have had them when the run was requested.
"""

from __future__ import annotations

from registry.additions.additions import Additions, additions_from_document, additions_from_rows
from registry.models import Version
from worker.queue.claims import Claim


def additions_of_run(claim: Claim) -> Additions:
    """The run's additions that the version still has. Later additions are excluded because no approval covers
    them.
    """
    recorded = additions_from_document(claim.grants.get("additions", {}))
    if not recorded:
        return recorded
    versions = Version.objects.filter(skill=claim.skill_id, number=claim.version_number, digest=claim.digest)
    rows = versions.values_list("additions", flat=True).first()
    return recorded & additions_from_rows(rows or ())
