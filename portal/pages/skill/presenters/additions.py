"""Presents the additions of a version, which are permissions granted outside its package.

Also presents the needs of the version that can still be added.
"""

from typing import Any

from registry.api.documents.additions import additions_document
from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from registry.identity.permissions import Action, may
from registry.models import Version


@reader
def version_additions(version: Version, actor: Actor) -> Reads[dict[str, Any] | None]:
    """The version's additions and the rows of the form; None if there are neither.

    The form is for maintainers, and empty for held and yanked versions.
    """
    may_change = may(actor, Action.RELEASE, skill=version.skill)
    if not may_change and not version.additions:
        return None
    document = yield from additions_document.reads(version)
    may_add = may_change and not version.is_held and version.yanked_at is None
    earlier = document["earlier"]
    carried = {(row["kind"], row["name"]) for row in earlier["additions"]} if earlier else set()
    offered = [
        {**row, "checked": row["required"] or (row["kind"], row["name"]) in carried}
        for row in (document["offered"] if may_add else ())
    ]
    if not (document["additions"] or offered):
        return None
    return {
        "rows": document["additions"],
        "offered": offered,
        "unmapped": document["unmapped"],
        "earlier": earlier if may_add else None,
        "may_change": may_change,
    }
