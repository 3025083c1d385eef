"""Validates the options of remote sources, and builds the provenance that imported versions get."""

from collections.abc import Mapping, Sequence
from typing import Any

from registry.core.text import validated
from registry.imports.errors import IMPORT_OPTION

_MAX_CHARS = 300  # per option


def validate_options(
    options: Mapping[str, Any], *, texts: Sequence[str] = (), flags: Sequence[str] = ()
) -> dict[str, Any]:
    """The options, without empty texts and False. Raises IMPORT_OPTION for an unknown option or a wrong type,
    and TEXT_INVALID for a text that is too long or can't be stored.
    """
    validated_options: dict[str, Any] = {}
    for name, value in options.items():
        is_text = name in texts and isinstance(value, str)
        if not is_text and not (name in flags and isinstance(value, bool)):
            raise IMPORT_OPTION.refusal(option=name[:80]).at(f"options.{name[:80]}")
        if is_text:
            value = _text(name, value)
        if value:
            validated_options[name] = value
    return validated_options


def _text(name: str, value: str) -> str:
    return validated(value, field=f"options.{name}", max_length=_MAX_CHARS, allow_blank=True)


def provenance(**values: str) -> dict[str, str]:
    """The provenance: the non-empty values. Queries and fragments are removed from URLs, because
    they can contain secrets.
    """
    return {
        name: value.partition("#")[0].partition("?")[0] if "://" in value else value
        for name, value in values.items()
        if value
    }
