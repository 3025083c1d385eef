"""Kinds of skills as people see them: script, prompt, tools and reference."""

from django.db.models import Q

from registry.index.abilities import Ability

_IS_STATIC, _IS_SERVICE = Q(type="static"), Q(type="service")
# The values that contain the flag, because bit operators differ between databases.
_CAN_RUN = Q(abilities__in=[flags for flags in range(2 * max(Ability)) if Ability.RUN & flags])
KIND_FILTERS = {
    "script": _CAN_RUN & ~_IS_STATIC & ~_IS_SERVICE,
    "prompt": ~_CAN_RUN & ~_IS_STATIC,
    "tools": _CAN_RUN & _IS_SERVICE,
    "reference": _IS_STATIC,
}


def kind_name(type_: str, abilities: int) -> str:
    """The kind of a skill with this type and these abilities: the key of the filter that finds the skill."""
    if type_ == "static":
        return "reference"
    if Ability.RUN in Ability(abilities):
        return "tools" if type_ == "service" else "script"
    return "prompt"
