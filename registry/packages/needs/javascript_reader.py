"""Reads the needs of a JavaScript or TypeScript script and of the package files that it imports."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from tree_sitter import Node

from registry.packages.command_lines.javascript.dialects import javascript_dialect
from registry.packages.command_lines.syntax_tree import (
    TreeTooLargeError,
    parse_source,
    slice_of,
    walk,
)
from registry.packages.needs.constants import host_of, is_secret_name
from registry.packages.needs.node_modules import package_of
from registry.packages.needs.programs import needed_program
from registry.packages.needs.script_needs import ModuleNeed, ScriptNeeds

_MAX_FILES = 40
_MAX_BYTES = 256 * 1024
_SUFFIXES = ("", ".ts", ".js", ".mjs", ".cjs", ".tsx", ".jsx", "/index.ts", "/index.js")
_FUNCTIONS = frozenset(
    {"function_declaration", "function_expression", "arrow_function", "method_definition", "try_statement"}
)
_PROCESSES = frozenset({"exec", "execSync", "execFile", "execFileSync", "spawn", "spawnSync", "execa"})
_TEXTS = frozenset({"string", "template_string"})


def read_javascript(path: str, files: Mapping[str, bytes], deadline: float) -> ScriptNeeds:
    """The needs of the script and of the files of the package that it imports."""
    reader = _JavaScriptReader(files)
    waiting, done = [path], set[str]()
    while waiting and reader.complete:
        current = waiting.pop(0)
        if current in done:
            continue
        if len(done) >= _MAX_FILES or time.thread_time() > deadline or len(files[current]) > _MAX_BYTES:
            reader.complete = False
            break
        done.add(current)
        waiting += list(reader.read_file(current))
    return ScriptNeeds(
        path,
        modules=tuple(reader.modules),
        programs=tuple(reader.programs),
        hosts=tuple(reader.hosts),
        keys=tuple(reader.keys),
        complete=reader.complete,
    )


class _JavaScriptReader:
    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self.source = b""
        self.modules: list[ModuleNeed] = []
        self.programs: set[str] = set()
        self.hosts: set[str] = set()
        self.keys: set[str] = set()
        self.complete = True

    def read_file(self, path: str) -> Iterator[str]:
        """Adds the needs of a file; yields the files of the package that it imports."""
        self.source = self.files[path]
        tree = parse_source(javascript_dialect(path), self.source)
        if tree is None:
            self.complete = False
            return
        function_end = 0
        try:
            for node, _depth in walk(tree.root_node):
                if node.type in _FUNCTIONS:
                    function_end = max(function_end, node.end_byte)
                specifier = self._specifier(node)
                if specifier.startswith("."):
                    yield from self._local(path, specifier)
                elif specifier and (need := package_of(specifier)):
                    required = node.start_byte >= function_end
                    self.modules.append(ModuleNeed(need.name, need.ecosystem, required))
                self._add_values(node)
        except TreeTooLargeError:
            self.complete = False

    def _local(self, path: str, specifier: str) -> Iterator[str]:
        parts: list[str] = []
        for part in [*PurePosixPath(path).parent.parts, *specifier.split("/")]:
            if part == "..":
                parts = parts[:-1]
            elif part not in (".", ""):
                parts.append(part)
        base = "/".join(parts)
        bases = (base, base.removesuffix(".js"))
        candidates = (f"{start}{suffix}" for start in bases for suffix in _SUFFIXES)
        found = next((each for each in candidates if each in self.files), None)
        if found and found.endswith((".ts", ".js", ".mjs", ".cjs", ".tsx", ".jsx")):
            yield found

    def _add_values(self, node: Node) -> None:
        if node.type == "call_expression":
            self._add_call(node)
        elif node.type == "member_expression" and slice_of(
            self.source, node.child_by_field_name("object"), 40
        ) in (
            "process.env",
            "import.meta.env",
        ):
            self._add_key(slice_of(self.source, node.child_by_field_name("property"), 100))
        elif (
            node.type == "subscript_expression"
            and slice_of(self.source, node.child_by_field_name("object")) == "process.env"
        ):
            self._add_key(self._string(node.child_by_field_name("index")))
        elif node.type in _TEXTS and not self._is_printed(node):
            self._add_host(slice_of(self.source, node, 300).strip("\"'`").partition("${")[0])

    def _add_call(self, node: Node) -> None:
        name = slice_of(self.source, node.child_by_field_name("function"), 60)
        first = _first_argument(node)
        if name == "Deno.env.get":
            self._add_key(self._string(first))
        elif name.rpartition(".")[2] in _PROCESSES:
            words = self._string(first).split()
            if words and (program := needed_program(words[0])):
                self.programs.add(program)

    def _add_host(self, text: str) -> None:
        if host := host_of(text):
            self.hosts.add(host)

    def _add_key(self, name: str) -> None:
        if is_secret_name(name):
            self.keys.add(name)

    def _specifier(self, node: Node) -> str:
        """The module that an import, an export, ``require()`` or ``import()`` names; "" for imports of
        types.
        """
        if node.type in ("import_statement", "export_statement"):
            if slice_of(self.source, node, 20_000).split(maxsplit=2)[1:2] == ["type"]:
                return ""
            return self._string(node.child_by_field_name("source"))
        if node.type != "call_expression":
            return ""
        name = slice_of(self.source, node.child_by_field_name("function"), 20)
        return self._string(_first_argument(node)) if name in ("require", "import") else ""

    def _is_printed(self, node: Node) -> bool:
        call = node.parent.parent if node.parent else None
        if call is None or call.type != "call_expression":
            return False
        return slice_of(self.source, call.child_by_field_name("function"), 40).startswith("console.")

    def _string(self, node: Node | None) -> str:
        text = slice_of(self.source, node, 500)
        return text[1:-1] if node is not None and node.type in _TEXTS else ""


def _first_argument(call: Node) -> Node | None:
    arguments = call.child_by_field_name("arguments")
    return arguments.named_children[0] if arguments and arguments.named_children else None
