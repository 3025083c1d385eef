"""What changed between two JSON Schemas, and whether those who call the skill must change with it.

Inputs asked for more narrowly break those who call, outputs promised more widely those who read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from registry.packages.problems import Said
from registry.packages.problems import gettext_noop as _
from registry.packages.schemas import pointer

Side = Literal["input", "output"]
Effect = Literal["breaking", "compatible", "unclear"]
_MOST = 200  # changes told of one schema
_LEAST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_MOST_OF = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_SAID = ("title", "description", "examples", "example", "default", "$comment", "deprecated")
_WALKED = ("type", "properties", "required", "enum", "items", "additionalProperties", *_LEAST, *_MOST_OF)
_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})


@dataclass(frozen=True)
class SchemaChange:
    """``place`` is a JSON pointer to a value that the schema describes: "" is the whole of it."""

    place: str
    effect: Effect
    reason: str  # of the kind ``Said``: translated where it is shown


Schema = Mapping[str, Any]
Place = tuple[str, ...]


def compare_schemas(before: Schema | None, after: Schema | None, side: Side) -> tuple[SchemaChange, ...]:
    """Those that break first, then by place."""
    if before == after:
        return ()
    if before is None or after is None:
        return (_appeared(side) if before is None else _went(side),)
    found = islice(_Walk(side).schema(before, after, ()), _MOST)
    order: tuple[Effect, ...] = ("breaking", "unclear", "compatible")
    return tuple(sorted(found, key=lambda change: (order.index(change.effect), change.place)))


def _appeared(side: Side) -> SchemaChange:
    if side == "input":
        return SchemaChange("", "breaking", Said(_("Inputs are checked now; before, anything was taken.")))
    return SchemaChange("", "compatible", Said(_("The output is promised now; before, nothing was.")))


def _went(side: Side) -> SchemaChange:
    if side == "input":
        return SchemaChange("", "compatible", Said(_("Inputs are not checked any more.")))
    return SchemaChange("", "breaking", Said(_("Nothing is promised of the output any more.")))


@dataclass(frozen=True)
class _Walk:
    """Both schemas at once; ``narrows`` and ``widens`` say what that means on this side."""

    side: Side

    def schema(self, before: Any, after: Any, place: Place) -> Iterator[SchemaChange]:
        if before == after:
            return
        if not isinstance(before, Mapping) or not isinstance(after, Mapping):
            yield self._told("unclear", place, Said(_("It is described in another way.")))
            return
        yield from self._types(before, after, place)
        yield from self._choices(before, after, place)
        yield from self._bounds(before, after, place)
        yield from self._properties(before, after, place)
        if "items" in before or "items" in after:
            yield from self.schema(before.get("items", {}), after.get("items", {}), (*place, "*"))
        yield from self._others(before, after, place)

    def _told(self, effect: Effect, place: Place, reason: str) -> SchemaChange:
        return SchemaChange(pointer(list(place)), effect, reason)

    def _narrowed(self, place: Place, reason: str) -> SchemaChange:
        return self._told("breaking" if self.side == "input" else "compatible", place, reason)

    def _widened(self, place: Place, reason: str) -> SchemaChange:
        return self._told("breaking" if self.side == "output" else "compatible", place, reason)

    def _types(self, before: Schema, after: Schema, place: Place) -> Iterator[SchemaChange]:
        old, new = _types_of(before), _types_of(after)
        if lost := old - new:
            yield self._narrowed(place, Said(_("It is of the type %(names)s no more."), names=_list(lost)))
        if gained := new - old:
            yield self._widened(place, Said(_("It may be of the type %(names)s now."), names=_list(gained)))

    def _choices(self, before: Schema, after: Schema, place: Place) -> Iterator[SchemaChange]:
        old, new = _choices_of(before), _choices_of(after)
        if old is None and new is not None:
            said = Said(_("It is one of %(names)s now; before, it was any value."), names=_list(new))
            yield self._narrowed(place, said)
        elif old is not None and new is None:
            yield self._widened(place, Said(_("It may be any value now, not only one of a list.")))
        elif old is not None and new is not None:
            if lost := old - new:
                yield self._narrowed(place, Said(_("%(names)s is no choice any more."), names=_list(lost)))
            if gained := new - old:
                yield self._widened(place, Said(_("%(names)s is a choice now."), names=_list(gained)))

    def _bounds(self, before: Schema, after: Schema, place: Place) -> Iterator[SchemaChange]:
        for name in (*_LEAST, *_MOST_OF):
            old, new = _number(before, name), _number(after, name)
            if old == new:
                continue
            said = Said("%(name)s: %(old)s → %(new)s", name=name, old=_shown(old), new=_shown(new))
            tighter = old is None or (new is not None and ((new > old) == (name in _LEAST)))
            yield self._narrowed(place, said) if tighter else self._widened(place, said)

    def _properties(self, before: Schema, after: Schema, place: Place) -> Iterator[SchemaChange]:
        old, new = _group(before), _group(after)
        must_before, must_after = _required(before), _required(after)
        for name in [*old, *(name for name in new if name not in old)]:
            inner = (*place, name)
            if name not in new:
                yield self._told("breaking", inner, Said(_("It is gone.")))
            elif name not in old:
                yield self._new(inner, required=name in must_after)
            else:
                yield from self._requirement(inner, name in must_before, name in must_after)
                yield from self.schema(old[name], new[name], inner)
        if before.get("additionalProperties", True) != after.get("additionalProperties", True):
            yield self._openness(after, place)

    def _new(self, place: Place, *, required: bool) -> SchemaChange:
        if self.side == "input" and required:
            return self._told("breaking", place, Said(_("It is new and has to be given.")))
        return self._told("compatible", place, Said(_("It is new.")))

    def _requirement(self, place: Place, before: bool, after: bool) -> Iterator[SchemaChange]:
        if after and not before:
            given = self.side == "input"
            yield self._narrowed(
                place, Said(_("It has to be given now.")) if given else Said(_("It is always there now."))
            )
        if before and not after:
            given = self.side == "input"
            yield self._widened(
                place, Said(_("It may be left out now.")) if given else Said(_("It may be missing now."))
            )

    def _openness(self, after: Schema, place: Place) -> SchemaChange:
        if after.get("additionalProperties") is False:
            return self._narrowed(place, Said(_("Names that it does not list are refused now.")))
        return self._widened(
            place, Said(_("Names that it does not list are taken now, or other ones than before."))
        )

    def _others(self, before: Schema, after: Schema, place: Place) -> Iterator[SchemaChange]:
        for name in dict.fromkeys((*before, *after)):
            if name in _WALKED or before.get(name) == after.get(name):
                continue
            if name in _SAID:
                yield self._told("compatible", place, Said(_("Its %(name)s reads otherwise."), name=name))
            else:
                reason = Said(
                    _("Its rule %(name)s changed; what that means for callers is not known."), name=name
                )
                yield self._told("unclear", place, reason)


def _types_of(schema: Schema) -> frozenset[str]:
    """The types that a value may have; an integer is a number too."""
    said = schema.get("type")
    names = [said] if isinstance(said, str) else said if isinstance(said, list) else []
    found = _TYPES & {name for name in names if isinstance(name, str)} or _TYPES
    return found | {"integer"} if "number" in found else found


def _choices_of(schema: Schema) -> frozenset[str] | None:
    choices = schema.get("enum")
    return frozenset(map(_shown, choices)) if isinstance(choices, list) else None


def _number(schema: Schema, name: str) -> float | None:
    value = schema.get(name)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _group(schema: Schema) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _required(schema: Schema) -> frozenset[str]:
    names = schema.get("required")
    return (
        frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()
    )


def _shown(value: object) -> str:
    return "–" if value is None else str(value)[:80]


def _list(names: frozenset[str]) -> str:
    shown = sorted(names)[:10]
    return ", ".join(shown) + (", …" if len(names) > len(shown) else "")
