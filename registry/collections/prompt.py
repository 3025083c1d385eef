"""The section for a system prompt with the skills of a collection."""

from __future__ import annotations

from registry.collections.members import NamedVersion, members, named_versions
from registry.core.addresses import absolute_url
from registry.core.prompt_text import neutralize_markup, one_line
from registry.identity.actors import Actor
from registry.listing.budget import ListingEntry, budget_of, entries_within_budget, fit
from registry.listing.formats import ADVICE
from registry.models import Collection
from registry.packages.manifest.manifest import manifest_of


def prompt_section(collection: Collection, actor: Actor, *, context_tokens: int) -> str:
    """The collection's skills with their descriptions, for an agent that loads them with ``skills_load``.
    Skills that agents may not use are omitted.
    """
    named = [each for each in named_versions(members(collection, actor)) if _is_for_agents(each)]
    budget = budget_of(context_tokens)
    entries = entries_within_budget(tuple(map(_entry, named)), budget)
    lines = [entry.line for entry in fit(entries, budget).entries]
    head = [f"- Registry: {absolute_url('/')}", f"- {ADVICE}", f"- Found: {len(named) or '(none)'}"]
    more = [f"…and {len(named) - len(lines)} more"] if len(lines) < len(named) else []
    return "\n".join((f"## Skills of {collection}", "", *head, "", *lines, *more))


def _is_for_agents(named: NamedVersion) -> bool:
    return not manifest_of(named.version.manifest).disable_model_invocation


def _entry(named: NamedVersion) -> ListingEntry:
    manifest = named.version.manifest
    texts = (one_line(str(manifest.get(key) or "")) for key in ("description", "when_to_use"))
    text = neutralize_markup(" - ".join(part for part in texts if part))
    return ListingEntry(f"{named.version.skill}", text)
