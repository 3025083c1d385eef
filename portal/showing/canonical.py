"""A canonical skill as its pages show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from portal.showing import comparison
from portal.showing.installing import Line
from registry import comparing
from registry.addresses import absolute
from registry.canonical import PREFIX, proposing, trouble_of
from registry.canonical.proposing import Proposal
from registry.models import Canonical, Version, Visibility


@dataclass(frozen=True)
class Row:
    canonical: Canonical
    trouble: str  # why it cannot be answered at present
    waiting: Version | None  # shown to administrators


def row_of(canonical: Canonical, *, is_setter: bool) -> Row:
    trouble = trouble_of(canonical) if canonical.digest else None
    waiting = proposing.waiting(canonical) if is_setter else None
    return Row(canonical, trouble.translated(_) if trouble else "", waiting)


def lines_for(canonical: Canonical) -> list[Line]:
    """How an agent gets the text and the files; a public skill without a token."""
    skill, slug = canonical.skill, canonical.slug
    public = skill is not None and skill.seen_as == Visibility.PUBLIC
    token = "" if public else ' -H "Authorization: Bearer $SKILLQUAY_TOKEN"'
    folder = f".claude/skills/{slug}"
    text = absolute(f"/api/v1/canonical/{slug}/text?dir={folder}")
    archive = absolute(f"/api/v1/skills/{PREFIX}/{slug}/versions/latest/archive")
    unpack = (
        f"curl -fsSL{token} -o {slug}.zip {archive}\nmkdir -p {folder} && unzip -o {slug}.zip -d {folder}"
    )
    return [
        Line("canonical-text", _("Read its text"), f"curl -fsSL{token} '{text}'"),
        Line("canonical-archive", _("Download and unpack"), unpack),
    ]


def proposal_context(found: Proposal) -> dict[str, Any]:
    """What ``canonical/proposal.html`` needs, the comparison's own names among it."""
    context: dict[str, Any] = {"proposal": found, "asks_more": comparison.permissions(found.asks_more)}
    if found.before and found.comparison:
        texts = comparing.texts(found.before, found.after, found.comparison.files)
        context |= {
            "found": found.comparison,
            "abilities": comparison.abilities(found.comparison),
            "schemas": comparison.schemas(found.comparison),
            "files": comparison.files(texts),
        }
    return context
