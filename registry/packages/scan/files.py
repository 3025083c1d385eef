"""What a file is against what it says it is, and tools that are used without being asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

from registry.packages.package import Package, PackageFile
from registry.packages.paths import shown
from registry.packages.problems import gettext_noop as _
from registry.packages.scan.checks import FileCheck, Finding, Severity
from registry.packages.scan.text import LOOKED_AT

_PROGRAMS = {
    b"\x7fELF": "ELF",
    b"MZ": "PE",
    b"\xcf\xfa\xed\xfe": "Mach-O",
    b"\xce\xfa\xed\xfe": "Mach-O",
    b"\xca\xfe\xba\xbe": "Mach-O or Java",
    b"\0asm": "WebAssembly",
}
_ARCHIVES = {
    b"PK\x03\x04": "zip",
    b"Rar!\x1a": "rar",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"\x1f\x8b\x08": "gzip",
    b"BZh9": "bzip2",
    b"\xfd7zXZ": "xz",
}
TEXTS = frozenset(
    [
        "md",
        "txt",
        "py",
        "sh",
        "js",
        "ts",
        "json",
        "yaml",
        "yml",
        "toml",
        "csv",
        "html",
        "css",
        "xml",
        "rb",
        "pl",
        "ini",
        "cfg",
    ]
)
_PICTURES = frozenset(["png", "jpg", "jpeg", "gif", "webp", "ico", "bmp", "tiff"])
_COMPILED = frozenset(["pyc", "pyo"])
_NATIVE = frozenset(["so", "pyd", "dll", "dylib", "exe", "com", "scr", "node", "elf"])


_STATED = 65_536  # bytes in which a text has no NUL
_CODE = frozenset(["py", "sh", "js", "ts", "mjs", "cjs", "bash", "zsh", "ps1", "rb", "pl", "php", "bat"])
_IN_ALL = 8 * 2**20  # bytes of a package's texts that are looked at


def texts_of(package: Package) -> tuple[tuple[PackageFile, ...], tuple[PackageFile, ...]]:
    """Those that a scan reads, and those it has no time for: SKILL.md, code and small files come first."""
    texts = sorted((file for file in package.files if _is_text(file)), key=_turn)
    ends = accumulate(min(len(file.data), LOOKED_AT) for file in texts)
    read = sum(end <= _IN_ALL for end in ends)
    return tuple(texts[:read]), tuple(texts[read:])


def _is_text(file: PackageFile) -> bool:
    """A NUL makes no binary of a script: shells read over it."""
    return b"\0" not in file.data[:_STATED] or ending(file.path) in TEXTS


def _turn(file: PackageFile) -> tuple[bool, bool, int]:
    return file.path != "SKILL.md", ending(file.path) not in _CODE, len(file.data)


def look_at_amount(package: Package) -> Iterator[Finding]:
    """More text than a scan reads."""
    if left := texts_of(package)[1]:
        yield _finding("unscanned", "medium", left[0], f"{len(left)} files, {shown(left[0].path)} …")


def look_at_magic(package: Package) -> Iterator[Finding]:
    """A program that says it is a picture or a text; an archive, likewise."""
    for file in package.files:
        suffix = ending(file.path)
        if suffix not in TEXTS | _PICTURES:
            continue
        kind = _kind(file, _PROGRAMS)
        if kind and _is_binary(file.data):
            yield _finding("extension-magic", "critical", file, f"{kind}: {_hex(file.data)}", certain=True)
        elif kind := _kind(file, _ARCHIVES):
            yield _finding("extension-magic", "medium", file, f"{kind}: {_hex(file.data)}")
        elif suffix in _PICTURES and file.data.startswith((b"#!", b"<?php", b"<script")):
            yield _finding("extension-magic", "high", file, shown(file.data[:60].decode("utf-8", "replace")))


def look_at_compiled(package: Package) -> Iterator[Finding]:
    """Code that nobody can read; a cache beside its source only informs."""
    sources = {file.path for file in package.files}
    for file in package.files:
        suffix = ending(file.path)
        if suffix in _COMPILED:
            is_cache = _source_of(file.path) in sources
            yield _finding("compiled-code", "low" if is_cache else "high", file, _hex(file.data))
        elif suffix in _NATIVE and _kind(file, _PROGRAMS):
            yield _finding("compiled-code", "medium", file, f"{_kind(file, _PROGRAMS)}: {_hex(file.data)}")


def _source_of(path: str) -> str:
    """``a/__pycache__/b.cpython-311.pyc`` → ``a/b.py``."""
    folder, _slash, name = path.replace("__pycache__/", "").rpartition("/")
    return f"{folder}/{name.partition('.')[0]}.py".lstrip("/")


_USES = re.compile(
    r"(?i)(?:^|[^\w`])(?:use|using|call|invoke|with)\s+(?:the\s+)?[`*]{0,2}(?P<tool>Bash"
    r"|Write|Edit|WebFetch|WebSearch|Task|NotebookEdit)[`*]{0,2}\s+tool\b"
)
_EXPANDED = re.compile(r"(?<![`\w])!`[^`\n]{1,500}`")


def look_at_tools(package: Package) -> Iterator[Finding]:
    """Tools that the text uses and allowed-tools leaves out; where it names none, nothing was promised."""
    named = {tool.partition("(")[0].strip().lower() for tool in package.manifest.allowed_tools}
    skill = package.file("SKILL.md")
    if not named or "*" in named or skill is None or len(skill.data) > 256 * 1024:
        return
    told: set[str] = set()
    for number, line in enumerate(skill.data.decode("utf-8-sig", "replace").split("\n"), 1):
        used = [(found["tool"], found.group().strip()) for found in _USES.finditer(line[:2000])]
        used += [("Bash", found.group()) for found in _EXPANDED.finditer(line[:2000])]
        for tool, words in used:
            if tool.lower() not in named | told:
                told.add(tool.lower())
                yield Finding("tools-beyond", "low", False, skill.path, number, shown(words, 160))


def ending(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""


def _kind(file: PackageFile, magics: dict[bytes, str]) -> str:
    return next((kind for magic, kind in magics.items() if file.data.startswith(magic)), "")


def _is_binary(data: bytes) -> bool:
    """So that a text which begins with MZ is a text."""
    return b"\0" in data[:1024]


def _hex(data: bytes) -> str:
    return data[:8].hex(" ")


def _finding(
    rule: str, severity: Severity, file: PackageFile, quote: str, *, certain: bool = False
) -> Finding:
    return Finding(rule, severity, certain, file.path, None, quote)


CHECKS = (
    FileCheck(
        "extension-magic",
        _("The file's bytes are not what its name says."),
        _("Name the file as what it is, or leave it out."),
        look_at_magic,
    ),
    FileCheck(
        "compiled-code",
        _("Compiled code cannot be read before it runs."),
        _("Leave it out, and ship its source."),
        look_at_compiled,
    ),
    FileCheck(
        "unscanned",
        _("The package holds more text than a scan reads."),
        _("Leave out what the skill does not need, or split it into several."),
        look_at_amount,
    ),
    FileCheck(
        "tools-beyond",
        _("The text uses a tool that allowed-tools does not name."),
        _("Name the tool in allowed-tools, or do without it."),
        look_at_tools,
    ),
)
