"""The kind of a skill that pages show: script, prompt, tools or reference, with an icon."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from registry.index.abilities import kind_name
from registry.models import Skill


@dataclass(frozen=True)
class SkillKind:
    """A kind of skill. ``kind-<name>`` is its CSS class."""

    name: str
    label: str | Promise
    icon: str


KINDS = {
    kind.name: kind
    for kind in (
        SkillKind("script", _("Script"), "code"),
        SkillKind("prompt", _("Prompt"), "prompt"),
        SkillKind("tools", _("Tools"), "tools"),
        SkillKind("reference", _("Reference"), "reference"),
    )
}


def kind_of(skill: Skill) -> SkillKind:
    """The kind of the skill's latest version."""
    return KINDS[kind_name(skill.type, skill.abilities)]
