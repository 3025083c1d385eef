"""Builds the JSON objects of the needs of a version's scripts, and declares their serializers."""

from dataclasses import asdict
from typing import Any

from rest_framework import serializers

from registry.api.documents.doc import Doc
from registry.models import Version
from registry.versions.needs.version_needs import NEED_KINDS, NEED_STATES, version_needs


class NeedDoc(Doc):
    kind = serializers.ChoiceField(choices=NEED_KINDS)
    name = serializers.CharField(help_text="The module, program, host or environment variable.")
    label = serializers.CharField(  # type: ignore[assignment]
        help_text="The module's distribution or the program's product, otherwise the name."
    )
    state = serializers.ChoiceField(
        choices=NEED_STATES,
        help_text="`provided` if the package declares it, `added` if a maintainer added it to the version. "
        "`unknown` for programs: they depend on the worker.",
    )
    required = serializers.BooleanField(  # type: ignore[assignment]
        help_text="False if the scripts also work without the module."
    )
    ecosystem = serializers.CharField(help_text="`python`, `node` or `deno` for a module; otherwise empty.")
    distribution = serializers.CharField(
        help_text="The package to install for a module; empty if it is not known for certain."
    )
    scripts = serializers.ListField(child=serializers.CharField(), help_text="Paths of the scripts.")


def needs_document(version: Version) -> list[dict[str, Any]]:
    return [{**asdict(need), "scripts": list(need.scripts)} for need in version_needs(version)]
