"""Completes a stored request for its script, with sandbox paths and the schema's defaults."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from registry.packages.schemas.validate import with_defaults
from worker.attempts.unpacking import UnpackedPackage
from worker.files import inputs
from worker.protocols.call import Request
from worker.protocols.formats import abp


def request_for_script(
    document: Mapping[str, Any], files: Iterable[Mapping[str, Any]], package: UnpackedPackage
) -> Request:
    """The stored request, completed with the schema's defaults.

    Files and an ``output_dir`` input are replaced by their paths in the sandbox.
    """
    request = Request(**document)
    schema = abp.input_schema(package.manifest, request)
    values: Any = with_defaults(schema, request.inputs) if schema else request.inputs
    arguments: Any = list(request.arguments)
    for use in inputs.uses_of(files):
        root, *path = use.pointer.split("/")
        if root == "arguments":
            arguments = _replace_at(arguments, path, use.path)
        else:
            values = _replace_at(values, path, use.path)
    if "output_dir" in values:
        values = {**values, "output_dir": OUTPUT_DIR}
    return replace(request, inputs=values, arguments=arguments)


OUTPUT_DIR = "/job/output"


def _replace_at(value: Any, path: list[str], replacement: str) -> Any:
    """A copy of the value with ``replacement`` at ``path``, the unescaped segments of a JSON pointer."""
    if not path:
        return replacement
    key = path[0].replace("~1", "/").replace("~0", "~")
    if isinstance(value, list):
        return [
            _replace_at(item, path[1:], replacement) if str(i) == key else item
            for i, item in enumerate(value)
        ]
    return {**value, key: _replace_at(value[key], path[1:], replacement)}
