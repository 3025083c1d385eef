"""Prepares calls of prompts: recognizes them, parses their arguments, and finds their shell."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from registry.packages.manifest.frontmatter import SKILL_MD
from registry.packages.package import Manifest, Profile
from worker.protocols.call import Call, Protocol, Request
from worker.protocols.entries import Read, has_entries, uses_abp
from worker.protocols.errors import ARGUMENT_UNKNOWN, ARGUMENTS_TOO_LARGE, SHELL_UNAVAILABLE, STDIN_UNUSED
from worker.protocols.formats.arguments import MAX_ARGUMENT_BYTES
from worker.protocols.prompts.render import join_arguments, split_arguments

SHELLS = ("bash", "sh")
_OPTION = re.compile(r"[-+A-Za-z]+")  # options such as -euo pipefail
_ENDPOINTS = ("service", "distributed")
_OUTPUT_DIR = "output_dir"  # ``output_dir`` is a folder of the run, not an argument


@dataclass(frozen=True)
class PromptArguments:
    """The arguments of a prompt: the whole line, its words, and the values of declared names."""

    line: str = ""
    words: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)


def prompt_protocol(
    paths: Iterable[str], manifest: Manifest, profile: Profile, read: Read
) -> Protocol | None:
    """``fork`` or ``prompt`` if calls without script, action or tool go to the prompt; otherwise None."""
    if manifest.type == "static" or manifest.type in _ENDPOINTS:
        return None
    if manifest.context == "fork":
        return "fork"
    return None if uses_abp(manifest) or has_entries(paths, manifest, profile, read) else "prompt"


def prompt_call(
    paths: Iterable[str], manifest: Manifest, profile: Profile, request: Request, read: Read
) -> Call | None:
    """The call of a prompt; None if the request is for a script, action, tool or endpoint.

    Raises STDIN_UNUSED if the request has ``stdin``, and the refusals of ``shell_command`` and
    ``parse_arguments``.
    """
    if any(chosen is not None for chosen in (request.script, request.action, request.tool)):
        return None
    protocol = prompt_protocol(paths, manifest, profile, read)
    if protocol is None:
        return None
    if request.stdin is not None:
        raise STDIN_UNUSED.refusal().at("stdin")
    parse_arguments(request.inputs, manifest)
    shell_command(manifest)
    return Call(protocol, SKILL_MD, (), request=request)


def argument_names(manifest: Manifest) -> tuple[str, ...]:
    """The names of a prompt's arguments in order: the declared ones, otherwise those of its input schema.

    The names ``arguments`` and ``output_dir`` of the schema are omitted.
    """
    schema = manifest.input_schema or {}
    properties = schema.get("properties")
    schema_names = tuple(map(str, properties)) if isinstance(properties, Mapping) else ()
    return manifest.arguments or tuple(
        name for name in schema_names if name not in ("arguments", _OUTPUT_DIR)
    )


def parse_arguments(inputs: Mapping[str, Any], manifest: Manifest) -> PromptArguments:
    """The arguments in the inputs: ``arguments`` (a line, word list or object), and each declared name.

    Raises ARGUMENT_UNKNOWN for any other name, and ARGUMENTS_TOO_LARGE for a line above MAX_ARGUMENT_BYTES.
    """
    names = argument_names(manifest)
    given = {name: value for name, value in inputs.items() if name != _OUTPUT_DIR}
    whole = given.pop("arguments", None) if "arguments" not in names else None
    if isinstance(whole, Mapping):
        given, whole = {**whole, **given}, None
    if unknown := [name for name in given if name not in names]:
        listed_names = ", ".join(names) or "arguments"
        raise ARGUMENT_UNKNOWN.refusal(name=ascii(unknown[0][:60]), names=listed_names).at(
            f"/{unknown[0][:60]}"
        )
    values = {name: _text(value) for name, value in given.items() if value is not None}
    words = _words(whole) if whole is not None else tuple(values.get(name, "") for name in names)
    filled = tuple(values.get(name, word) for name, word in zip(names, words, strict=False))
    words = (*filled, *words[len(filled) :])
    line = whole if isinstance(whole, str) and not values else join_arguments(words)
    if len(line.encode("utf-8", "replace")) > MAX_ARGUMENT_BYTES:
        raise ARGUMENTS_TOO_LARGE.refusal(size=len(line.encode("utf-8", "replace")), limit=MAX_ARGUMENT_BYTES)
    return PromptArguments(line, words, values)


def shell_command(manifest: Manifest) -> tuple[str, ...]:
    """The command of the declared shell with its options and ``-c``; ``("bash", "-c")`` if none is declared.

    Raises SHELL_UNAVAILABLE for shells other than bash and sh, and for words that are not options.
    """
    declared = manifest.shell
    listed = [declared] if isinstance(declared, str) else list(declared) if isinstance(declared, list) else []
    words = [str(word) for each in listed for word in str(each).split()] or ["bash"]
    name, options = words[0].rpartition("/")[2], words[1:]
    if name not in SHELLS or not all(_OPTION.fullmatch(option) for option in options):
        raise SHELL_UNAVAILABLE.refusal(shell=ascii(" ".join(words)[:80])).at("shell")
    return (name, *options, "-c")


def _words(whole: Any) -> tuple[str, ...]:
    if isinstance(whole, list):
        return tuple(_text(word) for word in whole)
    return split_arguments(_text(whole))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
