"""Selects activations from log records, and finds their skills. Reads only the attributes listed here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from registry.core.errors import NOT_FOUND
from registry.facades.clawhub.lookup import find_skill as find_by_slug
from registry.facades.git.marketplace import SITE_NAME
from registry.identity.actors import Actor
from registry.lookup import canonical as canonicals
from registry.lookup import skills
from registry.models import ActivationTrigger, Skill
from registry.packages.problems import Refusal

_EVENT = "skill_activated"
_ATTRIBUTES = frozenset({"event.name", "skill.name", "invocation_trigger", "plugin.name", "marketplace.name"})
_TRIGGERS = {"user-slash": ActivationTrigger.TYPED, "claude-proactive": ActivationTrigger.CHOSEN}
# Names that Claude Code sends in place of a skill's own name, unless details are turned on.
_PLACEHOLDERS = frozenset({"", "custom", "custom_skill", "third-party"})
_MAX_CHARS = 128


@dataclass(frozen=True)
class Activation:
    """The activation of a skill that an agent reported. ``name``, ``plugin`` and ``marketplace`` are empty if
    the client does not send them.
    """

    name: str
    plugin: str
    marketplace: str
    trigger: ActivationTrigger

    @property
    def shown_name(self) -> str:
        return self.plugin or self.name


def activations(records: Iterable[Mapping[str, Any]]) -> Iterator[Activation]:
    """The activations among the records; other events are skipped."""
    for record in records:
        values = _attributes(record)
        event = values.get("event.name") or str(record.get("eventName") or "") or _body(record)
        if event.removeprefix("claude_code.") == _EVENT:
            plugin, _, name = _name(values, "skill.name").rpartition(":")
            trigger = _TRIGGERS.get(values.get("invocation_trigger", ""), ActivationTrigger.NESTED)
            plugin = _name(values, "plugin.name") or plugin
            yield Activation(name, plugin, values.get("marketplace.name", ""), trigger)


def find_skill(activation: Activation, actor: Actor) -> Skill | None:
    """The skill that the activation names, by a marketplace of this site or by its slug. None if it has no
    name, or names no skill that the actor may see.
    """
    market, name = activation.marketplace, activation.shown_name
    try:
        if not name or "\0" in name + market:
            return None
        if not market:
            return find_by_slug(name, "", actor)
        if market == SITE_NAME:
            return _find_in_site(name, actor)
        return skills.find_skill(f"{market}/{name}", actor)
    except Refusal:
        return None


def _find_in_site(name: str, actor: Actor) -> Skill:
    """The skill that has this name in the marketplace of the site. Raises NOT_FOUND and the errors of
    ``find_skill``.
    """
    try:
        return skills.find_skill(canonicals.PREFIX + name, actor)
    except Refusal as error:
        if error.code != NOT_FOUND.name:
            raise
    visible = Skill.objects.visible_to(actor).select_related("team", "latest")
    if oldest := visible.filter(slug=name).order_by("pk").first():
        return oldest
    parts = name.split("-")
    for place in range(1, len(parts)):
        team, slug = "-".join(parts[:place]), "-".join(parts[place:])
        if found := visible.filter(team__slug=team, slug=slug).first():
            return found
    raise NOT_FOUND.refusal(what="skill", name=name[:80])


def _attributes(record: Mapping[str, Any]) -> dict[str, str]:
    found = {}
    rows = record.get("attributes")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and row.get("key") in _ATTRIBUTES:
            found[row["key"]] = _text(row.get("value"))
    return found


def _body(record: Mapping[str, Any]) -> str:
    return _text(record.get("body"))


def _text(value: Any) -> str:
    text = value.get("stringValue") if isinstance(value, dict) else None
    return text[:_MAX_CHARS] if isinstance(text, str) else ""


def _name(values: Mapping[str, str], key: str) -> str:
    name = values.get(key, "").strip()
    return "" if name in _PLACEHOLDERS else name
