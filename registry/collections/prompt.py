"""The section for a system prompt with the skills of a collection."""

from __future__ import annotations

from registry.collections.members import members, named_versions
from registry.core.addresses import absolute_url
from registry.core.prompt_text import neutralize_markup, one_line
from registry.identity.actors import Actor
from registry.listing.budget import ListingEntry, budget_of, entries_within_budget, fit
from registry.listing.formats import ADVICE
from registry.models import Collection, Version
from registry.packages.manifest.manifest import manifest_of


def prompt_section(collection: Collection, actor: Actor, *, context_tokens: int) -> str:
    """The collection's skills with their descriptions, for an agent that loads them with ``skills_load``. The
    name of a pinned skill ends with its version or channel. Skills that agents may not use are omitted.
    """
    found = members(collection, actor)
    selectors = {member.version.pk: member.selector for member in found if member.version}
    named = [each.version for each in named_versions(found) if _is_for_agents(each.version)]
    budget = budget_of(context_tokens)
    rows = tuple(_entry(version, selectors[version.pk]) for version in named)
    entries = entries_within_budget(rows, budget)
    lines = [entry.line for entry in fit(entries, budget).entries]
    head = [f"- Registry: {absolute_url('/')}", f"- {ADVICE}", f"- Found: {len(named) or '(none)'}"]
    more = [f"…and {len(named) - len(lines)} more"] if len(lines) < len(named) else []
    return "\n".join((f"## Skills of {collection}", "", *head, "", *lines, *more))


def _is_for_agents(version: Version) -> bool:
    return not manifest_of(version.manifest).disable_model_invocation


def _entry(version: Version, selector: str) -> ListingEntry:
    manifest = version.manifest
    texts = (one_line(str(manifest.get(key) or "")) for key in ("description", "when_to_use"))
    text = neutralize_markup(" - ".join(part for part in texts if part))
    return ListingEntry(f"{version.skill}@{selector}" if selector else str(version.skill), text)
