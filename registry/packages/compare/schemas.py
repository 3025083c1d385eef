"""Compares two JSON Schemas and classifies each change by its effect on callers.

Narrower inputs break callers; wider outputs break readers of the output.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from registry.packages.problems import LazyMessage
from registry.packages.problems import gettext_noop as _
from registry.packages.schemas.validate import pointer

Side = Literal["input", "output"]
Effect = Literal["breaking", "compatible", "unclear"]
_MAX_CHANGES = 200  # per schema
_LOWER_BOUNDS = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_UPPER_BOUNDS = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_ANNOTATIONS = ("title", "description", "examples", "example", "default", "$comment", "deprecated")
_COMPARED = (
    "type",
    "properties",
    "required",
    "enum",
    "items",
    "additionalProperties",
    *_LOWER_BOUNDS,
    *_UPPER_BOUNDS,
)
_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})


@dataclass(frozen=True)
class SchemaChange:
    """A change of a schema. ``pointer`` is a JSON pointer to the described value; ``*`` means list items."""

    pointer: str
    effect: Effect
    reason: str  # a ``LazyMessage``, which is translated on display


Schema = Mapping[str, Any]
SchemaPath = tuple[str, ...]


def compare_schemas(before: Schema | None, after: Schema | None, side: Side) -> tuple[SchemaChange, ...]:
    """The first 200 changes found: breaking ones first, then unclear and compatible ones, each sorted by
    pointer.
    """
    if before == after:
        return ()
    if before is None or after is None:
        return (_schema_added(side) if before is None else _schema_removed(side),)
    found = islice(_SchemaWalk(side).schema(before, after, ()), _MAX_CHANGES)
    order: tuple[Effect, ...] = ("breaking", "unclear", "compatible")
    return tuple(sorted(found, key=lambda change: (order.index(change.effect), change.pointer)))


def _schema_added(side: Side) -> SchemaChange:
    if side == "input":
        return SchemaChange(
            "", "breaking", LazyMessage(_("Inputs are now validated; before, any input was accepted."))
        )
    return SchemaChange("", "compatible", LazyMessage(_("The output now has a schema; before, it had none.")))


def _schema_removed(side: Side) -> SchemaChange:
    if side == "input":
        return SchemaChange("", "compatible", LazyMessage(_("Inputs are no longer validated.")))
    return SchemaChange("", "breaking", LazyMessage(_("The output no longer has a schema.")))


@dataclass(frozen=True)
class _SchemaWalk:
    """Walks both schemas in parallel. ``side`` decides whether narrowing or widening is breaking."""

    side: Side

    def schema(self, before: Any, after: Any, path: SchemaPath) -> Iterator[SchemaChange]:
        if before == after:
            return
        if not isinstance(before, Mapping) or not isinstance(after, Mapping):
            yield self._incomparable(path)
            return
        yield from self._types(before, after, path)
        yield from self._choices(before, after, path)
        yield from self._bounds(before, after, path)
        yield from self._properties(before, after, path)
        if "items" in before or "items" in after:
            yield from self.schema(before.get("items", {}), after.get("items", {}), (*path, "*"))
        yield from self._others(before, after, path)

    def _change(self, effect: Effect, path: SchemaPath, reason: str) -> SchemaChange:
        return SchemaChange(pointer(list(path)), effect, reason)

    def _incomparable(self, path: SchemaPath) -> SchemaChange:
        reason = _("The schema changed in a way that can't be compared; the effect on callers is unknown.")
        return self._change("unclear", path, LazyMessage(reason))

    def _narrowing(self, path: SchemaPath, reason: str) -> SchemaChange:
        return self._change("breaking" if self.side == "input" else "compatible", path, reason)

    def _widening(self, path: SchemaPath, reason: str) -> SchemaChange:
        return self._change("breaking" if self.side == "output" else "compatible", path, reason)

    def _types(self, before: Schema, after: Schema, path: SchemaPath) -> Iterator[SchemaChange]:
        old, new = _types_of(before), _types_of(after)
        if lost := old - new:
            yield self._narrowing(
                path, LazyMessage(_("The type can no longer be %(names)s."), names=_list(lost))
            )
        if gained := new - old:
            yield self._widening(
                path, LazyMessage(_("The type can now also be %(names)s."), names=_list(gained))
            )

    def _choices(self, before: Schema, after: Schema, path: SchemaPath) -> Iterator[SchemaChange]:
        old, new = _choices_of(before), _choices_of(after)
        if old is None and new is not None:
            reason = LazyMessage(
                _("The value must now be one of %(names)s; before, any value was allowed."), names=_list(new)
            )
            yield self._narrowing(path, reason)
        elif old is not None and new is None:
            yield self._widening(
                path, LazyMessage(_("Any value is now allowed; before, only certain values were."))
            )
        elif old is not None and new is not None:
            if lost := old - new:
                yield self._narrowing(
                    path, LazyMessage(_("No longer allowed: %(names)s."), names=_list(lost))
                )
            if gained := new - old:
                yield self._widening(
                    path, LazyMessage(_("Now also allowed: %(names)s."), names=_list(gained))
                )

    def _bounds(self, before: Schema, after: Schema, path: SchemaPath) -> Iterator[SchemaChange]:
        for name in (*_LOWER_BOUNDS, *_UPPER_BOUNDS):
            old, new = _number(before, name), _number(after, name)
            if old == new:
                continue
            reason = LazyMessage(
                "%(name)s: %(old)s → %(new)s", name=name, old=_value_text(old), new=_value_text(new)
            )
            tighter = old is None or (new is not None and ((new > old) == (name in _LOWER_BOUNDS)))
            yield self._narrowing(path, reason) if tighter else self._widening(path, reason)

    def _properties(self, before: Schema, after: Schema, path: SchemaPath) -> Iterator[SchemaChange]:
        old, new = _group(before), _group(after)
        must_before, must_after = _required_names(before), _required_names(after)
        for name in [*old, *(name for name in new if name not in old)]:
            inner = (*path, name)
            if name not in new:
                yield self._change("breaking", inner, LazyMessage(_("Removed.")))
            elif name not in old:
                yield self._new(inner, required=name in must_after)
            else:
                yield from self._requirement(inner, name in must_before, name in must_after)
                yield from self.schema(old[name], new[name], inner)
        yield from self._unlisted(_unlisted_rule(before), _unlisted_rule(after), path)

    def _new(self, path: SchemaPath, *, required: bool) -> SchemaChange:
        if self.side == "input" and required:
            return self._change("breaking", path, LazyMessage(_("New and required.")))
        return self._change("compatible", path, LazyMessage(_("Added.")))

    def _requirement(self, path: SchemaPath, before: bool, after: bool) -> Iterator[SchemaChange]:
        if after and not before:
            is_input = self.side == "input"
            yield self._narrowing(
                path, LazyMessage(_("Now required.")) if is_input else LazyMessage(_("Now always present."))
            )
        if before and not after:
            is_input = self.side == "input"
            yield self._widening(
                path, LazyMessage(_("Now optional.")) if is_input else LazyMessage(_("Can now be absent."))
            )

    def _unlisted(self, before: Any, after: Any, path: SchemaPath) -> Iterator[SchemaChange]:
        """Compares ``additionalProperties``: true, false or a schema."""
        if before == after:
            return
        if after is False:
            yield self._narrowing(path, LazyMessage(_("Unlisted fields are no longer allowed.")))
        elif after is True:
            yield self._widening(path, LazyMessage(_("Any unlisted field is now allowed.")))
        elif before is False:
            yield self._widening(path, LazyMessage(_("Unlisted fields that match a schema are now allowed.")))
        elif before is True:
            yield self._narrowing(
                path, LazyMessage(_("Unlisted fields must now match a schema; before, any were allowed."))
            )
        else:
            yield self._incomparable(path)

    def _others(self, before: Schema, after: Schema, path: SchemaPath) -> Iterator[SchemaChange]:
        for name in dict.fromkeys((*before, *after)):
            if name in _COMPARED or before.get(name) == after.get(name):
                continue
            if name in _ANNOTATIONS:
                yield self._change("compatible", path, LazyMessage(_("Changed: %(name)s."), name=name))
            else:
                reason = LazyMessage(
                    _("The schema keyword %(name)s changed; the effect on callers is unknown."), name=name
                )
                yield self._change("unclear", path, reason)


def _types_of(schema: Schema) -> frozenset[str]:
    """The types that a value may have: all if none is declared. ``number`` includes ``integer``."""
    declared = schema.get("type")
    names = [declared] if isinstance(declared, str) else declared if isinstance(declared, list) else []
    types = _TYPES & {name for name in names if isinstance(name, str)} or _TYPES
    return types | {"integer"} if "number" in types else types


def _choices_of(schema: Schema) -> frozenset[str] | None:
    choices = schema.get("enum")
    return frozenset(map(_value_text, choices)) if isinstance(choices, list) else None


def _number(schema: Schema, name: str) -> float | None:
    value = schema.get(name)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _group(schema: Schema) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _unlisted_rule(schema: Schema) -> Any:
    """The value of ``additionalProperties``; True if it is missing or allows every field."""
    rule = schema.get("additionalProperties", True)
    return True if rule == {} else rule


def _required_names(schema: Schema) -> frozenset[str]:
    names = schema.get("required")
    return (
        frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()
    )


def _value_text(value: object) -> str:
    return "–" if value is None else str(value)[:80]


def _list(names: frozenset[str]) -> str:
    first = sorted(names)[:10]
    return ", ".join(first) + (", …" if len(names) > len(first) else "")
