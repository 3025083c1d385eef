"""Presents canonical skills: rows, commands that install them, and proposed versions."""

from dataclasses import replace
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from portal.pages.skill.presenters.plain_values import purpose_values, skill_values, version_values
from portal.pages.skill.presenters.tabs import Tab, skill_tabs
from portal.presenters.skill import comparison
from portal.presenters.skill.kind import kind_of
from portal.presenters.skill.runnable_version import runnable_version
from registry.canonical import proposals
from registry.canonical.proposals import Proposal
from registry.core.addresses import absolute_url
from registry.identity.actors import Actor
from registry.identity.permissions import Action, may
from registry.lookup.canonical import PREFIX, unavailable_reason
from registry.models import Canonical, Version, Visibility
from registry.versions.content import compare


def canonical_row(canonical: Canonical, *, is_setter: bool) -> dict[str, Any]:
    """The values of a canonical skill for templates.

    ``trouble`` is the reason why the name can't be resolved at present; "" if it can. ``waiting`` is the
    version that waits for acceptance; None if there is none or ``is_setter`` is False.
    """
    trouble = unavailable_reason(canonical) if canonical.digest else None
    return {
        "canonical": canonical,
        "trouble": trouble.translated(_) if trouble else "",
        "waiting": proposals.pending_version(canonical) if is_setter else None,
    }


def install_lines(canonical: Canonical) -> list[dict[str, str]]:
    """Shell commands that download the text and the files: dicts with id, label and text.

    The commands send a token unless the skill is public.
    """
    skill, slug = canonical.skill, canonical.slug
    public = skill is not None and skill.effective_visibility == Visibility.PUBLIC
    token = "" if public else ' -H "Authorization: Bearer $SKILLQUAY_TOKEN"'
    folder = f".claude/skills/{slug}"
    text = absolute_url(f"/api/v1/canonical/{slug}/text?dir={folder}")
    archive = absolute_url(f"/api/v1/skills/{PREFIX}/{slug}/versions/latest/archive")
    unpack = (
        f"curl -fsSL{token} -o {slug}.zip {archive}\nmkdir -p {folder} && unzip -o {slug}.zip -d {folder}"
    )
    client = f"npx skills add {absolute_url(f'canonical/{slug}')}"
    return [
        *([{"id": "canonical-skills", "label": "npx skills", "text": client}] if public else []),
        {"id": "canonical-text", "label": _("Read SKILL.md"), "text": f"curl -fsSL{token} '{text}'"},
        {"id": "canonical-archive", "label": _("Download and unpack"), "text": unpack},
    ]


def pinned_context(canonical: Canonical, version: Version, actor: Actor) -> dict[str, Any]:
    """The purpose and facts of the pinned version, and tabs: the canonical name, then the skill's pages. The
    overview among them is that of the pinned version.
    """
    skill = version.skill
    may_change = may(actor, Action.SETTINGS, skill=skill)
    place = (skill.team.slug, skill.slug, version.number)
    first = Tab("canonical", _("Canonical name"), reverse("canonical", args=[canonical.slug]), True)
    found = skill_tabs(skill, version, "", is_signed_in=actor.is_signed_in, may_change=may_change)
    overview = reverse("version", args=place)
    tabs = [replace(tab, url=overview) if tab.name == "overview" else tab for tab in found]
    return {
        "purpose": purpose_values(runnable_version(version)),
        "kind": kind_of(skill),
        "skill_values": skill_values(skill),
        "version_values": version_values(version),
        "version": version,
        "tabs": [first, *tabs],
    }


def proposal_context(proposal: Proposal) -> dict[str, Any]:
    """The context of ``canonical/proposal.html``. It compares the proposal with the pinned version, if
    any.
    """
    context: dict[str, Any] = {
        "proposal": proposal,
        "added_permissions": comparison.permissions(proposal.added_permissions),
    }
    if proposal.before and proposal.comparison:
        texts = compare.file_diffs(proposal.before, proposal.after, proposal.comparison.files)
        context |= {
            "found": proposal.comparison,
            "abilities": comparison.abilities(proposal.comparison),
            "schemas": comparison.schemas(proposal.comparison),
            "files": comparison.files(texts),
        }
    return context
