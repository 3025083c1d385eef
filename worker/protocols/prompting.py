"""Whether a call means the prompt itself, how its inputs become arguments, and which shell expands it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from registry.packages.frontmatter import SKILL_MD
from registry.packages.package import Manifest, Profile
from registry.packages.problems import refuse
from worker.protocols import prompt_codes as prompt_codes  # declares what is refused here
from worker.protocols.arguments import ONE_BYTES
from worker.protocols.call import Call, Protocol, Request
from worker.protocols.entries import entries_of, speaks_abp
from worker.protocols.prompt import join_arguments, split_arguments

SHELLS = ("bash", "sh")
_OPTION = re.compile(r"[-+A-Za-z]+")  # -euo pipefail
_ENDPOINTS = ("service", "distributed")
_OUTPUT_DIR = "output_dir"  # a folder of the run, no argument


@dataclass(frozen=True)
class Arguments:
    """What the caller gave a prompt: the whole line, its words, and what stands for declared names."""

    line: str = ""
    words: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)


def prompt_protocol(paths: Iterable[str], manifest: Manifest, profile: Profile) -> Protocol | None:
    """How a call is answered that names no script, action or tool; None where a script answers it."""
    if manifest.type == "static" or manifest.type in _ENDPOINTS:
        return None
    if manifest.context == "fork":
        return "fork"
    return None if speaks_abp(manifest) or entries_of(paths, manifest, profile) else "prompt"


def prompt_call(paths: Iterable[str], manifest: Manifest, profile: Profile, request: Request) -> Call | None:
    """The call of a prompt, its arguments and shell checked; None where no prompt is meant."""
    if any(chosen is not None for chosen in (request.script, request.action, request.tool)):
        return None
    protocol = prompt_protocol(paths, manifest, profile)
    if protocol is None:
        return None
    if request.stdin is not None:
        raise refuse("STDIN_UNUSED", path="stdin")
    arguments_of(request.inputs, manifest)
    shell_of(manifest)
    return Call(protocol, SKILL_MD, (), request=request)


def names_of(manifest: Manifest) -> tuple[str, ...]:
    """The names of a prompt's arguments in their order: declared ones, else those of its schema."""
    schema = manifest.input_schema or {}
    properties = schema.get("properties")
    asked = tuple(map(str, properties)) if isinstance(properties, Mapping) else ()
    return manifest.arguments or tuple(name for name in asked if name not in ("arguments", _OUTPUT_DIR))


def arguments_of(inputs: Mapping[str, Any], manifest: Manifest) -> Arguments:
    """``arguments`` as a line, a list of words or an object by name; beside it each declared name."""
    names = names_of(manifest)
    given = {name: value for name, value in inputs.items() if name != _OUTPUT_DIR}
    whole = given.pop("arguments", None) if "arguments" not in names else None
    if isinstance(whole, Mapping):
        given, whole = {**whole, **given}, None
    if unknown := [name for name in given if name not in names]:
        shown = ", ".join(names) or "arguments"
        raise refuse("ARGUMENT_UNKNOWN", path=f"/{unknown[0][:60]}", name=ascii(unknown[0][:60]), names=shown)
    values = {name: _text(value) for name, value in given.items() if value is not None}
    words = _words(whole) if whole is not None else tuple(values.get(name, "") for name in names)
    filled = tuple(values.get(name, word) for name, word in zip(names, words, strict=False))
    words = (*filled, *words[len(filled) :])
    line = whole if isinstance(whole, str) and not values else join_arguments(words)
    if len(line.encode("utf-8", "replace")) > ONE_BYTES:
        raise refuse("ARGUMENTS_TOO_LARGE", size=len(line.encode("utf-8", "replace")), limit=ONE_BYTES)
    return Arguments(line, words, values)


def shell_of(manifest: Manifest) -> tuple[str, ...]:
    """The declared shell's vector up to its command; bash where none is declared."""
    said = manifest.shell
    listed = [said] if isinstance(said, str) else list(said) if isinstance(said, list) else []
    words = [str(word) for each in listed for word in str(each).split()] or ["bash"]
    name, options = words[0].rpartition("/")[2], words[1:]
    if name not in SHELLS or not all(_OPTION.fullmatch(option) for option in options):
        raise refuse("SHELL_UNAVAILABLE", path="shell", shell=ascii(" ".join(words)[:80]))
    return (name, *options, "-c")


def _words(whole: Any) -> tuple[str, ...]:
    if isinstance(whole, list):
        return tuple(_text(word) for word in whole)
    return split_arguments(_text(whole))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
