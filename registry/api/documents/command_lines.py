"""Builds the JSON objects of the command lines of a version's scripts, and declares their serializers."""

from dataclasses import asdict
from typing import Any

from rest_framework import serializers

from registry.api.documents.doc import Doc
from registry.models import CommandLineOrigin, EntryCommandLine

_SCHEMA = "schema"


class ParameterDoc(Doc):
    id = serializers.CharField(help_text="Unique in the command line: subcommands and name, joined by `/`.")
    name = serializers.CharField()
    flags = serializers.ListField(
        child=serializers.CharField(),
        help_text="The flags, such as `-o` and `--output`; empty for a positional argument.",
    )
    negative_flags = serializers.ListField(
        child=serializers.CharField(), help_text="Flags that disable the option, such as `--no-cache`."
    )
    type = serializers.ChoiceField(choices=["text", "integer", "number"])
    min_values = serializers.IntegerField()
    max_values = serializers.IntegerField(
        allow_null=True, help_text="The maximum number of values: 0 for a switch, null for no limit."
    )
    repeated = serializers.BooleanField(help_text="Whether the option can occur several times.")
    required = serializers.BooleanField()  # type: ignore[assignment]
    choices = serializers.ListField(child=serializers.CharField())
    default = serializers.JSONField(allow_null=True)
    default_computed = serializers.BooleanField(help_text="Whether the running script computes the default.")
    file = serializers.CharField(
        help_text="`input` or `output` if the value is probably a file to read or write; otherwise empty."
    )
    remainder = serializers.BooleanField(
        help_text="Whether the parameter takes all remaining words unchanged."
    )
    hidden = serializers.BooleanField()
    help = serializers.CharField()
    metavar = serializers.CharField()


class ExclusiveGroupDoc(Doc):
    ids = serializers.ListField(child=serializers.CharField())
    required = serializers.BooleanField()  # type: ignore[assignment]


class CommandLevelDoc(Doc):
    name = serializers.CharField()
    aliases = serializers.ListField(child=serializers.CharField())
    help = serializers.CharField()
    parameters = ParameterDoc(many=True, help_text="The parameters in the order of their declaration.")
    groups = ExclusiveGroupDoc(many=True, help_text="Groups of mutually exclusive parameters.")
    subcommands = serializers.ListField(
        child=serializers.DictField(), help_text="The subcommands, as objects of the same form."
    )
    subcommand_required = serializers.BooleanField()
    accepts_unknown = serializers.BooleanField(
        help_text="True if the script accepts arguments that it does not declare."
    )


class ReadingGapDoc(Doc):
    reason = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    text = serializers.CharField()


class CommandLineDoc(Doc):
    script = serializers.CharField(help_text="The `script` of a run request.")
    path = serializers.CharField()
    origin = serializers.ChoiceField(
        choices=CommandLineOrigin.values,
        help_text="Where this description comes from: the manifest's `input_schema`, the text of the "
        "`script`, or the `parser` of the running script.",
    )
    kind = serializers.ChoiceField(
        choices=[_SCHEMA, "fields", "none", "line"],
        help_text="`schema`: send `inputs` that match the manifest's schema. `fields`: `root` describes the "
        "`arguments`. `none`: the script takes none. `line`: the script reads its arguments by hand.",
    )
    library = serializers.CharField(help_text="The parser library, such as `argparse`.")
    root = CommandLevelDoc()
    usage = serializers.CharField(help_text="The usage text in the script.")
    description = serializers.CharField()
    gaps = ReadingGapDoc(
        many=True, help_text="Parts of the command line that could not be read; empty if `root` is complete."
    )
    samples = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="Values of `arguments` from examples in the package's documents.",
    )


def command_line_document(row: EntryCommandLine) -> dict[str, Any]:
    command_line = row.command_line
    is_schema = row.origin == CommandLineOrigin.INPUT_SCHEMA
    return {
        "script": row.script,
        "path": row.path,
        "origin": row.origin,
        "kind": _SCHEMA if is_schema else command_line.kind,
        "library": command_line.library,
        "root": asdict(command_line.root),
        "usage": command_line.usage,
        "description": command_line.description,
        "gaps": [asdict(gap) for gap in command_line.gaps],
        "samples": row.samples,
    }
