"""Checks of whole files: wrong extensions, compiled code, too much text, and tools that are not listed."""

import re
from collections.abc import Iterator
from itertools import accumulate

from registry.packages.archive.paths import printable
from registry.packages.manifest.sections import find_commands
from registry.packages.package import Package, PackageFile
from registry.packages.problems import gettext_noop as _
from registry.packages.scan.findings import FileCheck, ScanFinding, Severity
from registry.packages.scan.text import MAX_SCANNED

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


_BINARY_PROBE = 65_536  # bytes at the start of a file that are searched for null bytes
_CODE = frozenset(["py", "sh", "js", "ts", "mjs", "cjs", "bash", "zsh", "ps1", "rb", "pl", "php", "bat"])
_MAX_TOTAL = 8 * 2**20  # bytes of text per package that a scan reads


def texts_of(package: Package) -> tuple[tuple[PackageFile, ...], tuple[PackageFile, ...]]:
    """The text files that a scan reads, and those beyond its limit of 8 MB. SKILL.md and code come first."""
    texts = sorted((file for file in package.files if _is_text(file)), key=_scan_order)
    ends = accumulate(min(len(file.data), MAX_SCANNED) for file in texts)
    read = sum(end <= _MAX_TOTAL for end in ends)
    return tuple(texts[:read]), tuple(texts[read:])


def _is_text(file: PackageFile) -> bool:
    """Whether the file has no null byte in its first 64 kB, or has the extension of a text file.

    A null byte does not make a script binary, because shells skip null bytes.
    """
    return b"\0" not in file.data[:_BINARY_PROBE] or file_extension(file.path) in TEXTS


def _scan_order(file: PackageFile) -> tuple[bool, bool, int]:
    return file.path != "SKILL.md", file_extension(file.path) not in _CODE, len(file.data)


def look_at_amount(package: Package) -> Iterator[ScanFinding]:
    """Reports that the package has more text than a scan reads."""
    if unread := texts_of(package)[1]:
        yield _make_finding(
            "unscanned", "medium", unread[0], f"{len(unread)} files, {printable(unread[0].path)} …"
        )


def look_at_magic(package: Package) -> Iterator[ScanFinding]:
    """Finds files whose content does not match the extension.

    These are programs and archives named as pictures or texts, and scripts named as pictures.
    """
    for file in package.files:
        suffix = file_extension(file.path)
        if suffix not in TEXTS | _PICTURES:
            continue
        kind = _kind(file, _PROGRAMS)
        if kind and _is_binary(file.data):
            yield _make_finding(
                "extension-magic", "critical", file, f"{kind}: {_hex(file.data)}", certain=True
            )
        elif kind := _kind(file, _ARCHIVES):
            yield _make_finding("extension-magic", "medium", file, f"{kind}: {_hex(file.data)}")
        elif suffix in _PICTURES and file.data.startswith((b"#!", b"<?php", b"<script")):
            yield _make_finding(
                "extension-magic", "high", file, printable(file.data[:60].decode("utf-8", "replace"))
            )


def look_at_compiled(package: Package) -> Iterator[ScanFinding]:
    """Finds compiled code. A Python cache file has low severity if its source is in the package."""
    sources = {file.path for file in package.files}
    for file in package.files:
        suffix = file_extension(file.path)
        if suffix in _COMPILED:
            is_cache = _source_of(file.path) in sources
            yield _make_finding("compiled-code", "low" if is_cache else "high", file, _hex(file.data))
        elif suffix in _NATIVE and _kind(file, _PROGRAMS):
            yield _make_finding(
                "compiled-code", "medium", file, f"{_kind(file, _PROGRAMS)}: {_hex(file.data)}"
            )


def _source_of(path: str) -> str:
    """The source of a Python cache file: ``a/__pycache__/b.cpython-311.pyc`` → ``a/b.py``."""
    folder, _slash, name = path.replace("__pycache__/", "").rpartition("/")
    return f"{folder}/{name.partition('.')[0]}.py".lstrip("/")


_USES = re.compile(
    r"(?i)(?:^|[^\w`])(?:use|using|call|invoke|with)\s+(?:the\s+)?[`*]{0,2}(?P<tool>Bash"
    r"|Write|Edit|WebFetch|WebSearch|Task|NotebookEdit)[`*]{0,2}\s+tool\b"
)


def look_at_tools(package: Package) -> Iterator[ScanFinding]:
    """Finds tools that SKILL.md uses but a non-empty ``allowed-tools`` omits. Reports each tool once."""
    named = {tool.partition("(")[0].strip().lower() for tool in package.manifest.allowed_tools}
    skill = package.file("SKILL.md")
    if not named or "*" in named or skill is None or len(skill.data) > 256 * 1024:
        return
    reported: set[str] = set()
    for number, line in enumerate(skill.data.decode("utf-8-sig", "replace").split("\n"), 1):
        used = [(found["tool"], found.group().strip()) for found in _USES.finditer(line[:2000])]
        used += [("Bash", found.group()) for found in find_commands(line[:2000])]
        for tool, words in used:
            if tool.lower() not in named | reported:
                reported.add(tool.lower())
                yield ScanFinding("tools-beyond", "low", False, skill.path, number, printable(words, 160))


def file_extension(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""


def _kind(file: PackageFile, magics: dict[bytes, str]) -> str:
    return next((kind for magic, kind in magics.items() if file.data.startswith(magic)), "")


def _is_binary(data: bytes) -> bool:
    """Whether the first 1,024 bytes contain a null byte.

    Without a null byte, data that begins with "MZ" is text, not a program.
    """
    return b"\0" in data[:1024]


def _hex(data: bytes) -> str:
    return data[:8].hex(" ")


def _make_finding(
    rule: str, severity: Severity, file: PackageFile, quote: str, *, certain: bool = False
) -> ScanFinding:
    return ScanFinding(rule, severity, certain, file.path, None, quote)


CHECKS = (
    FileCheck(
        "extension-magic",
        _("The file's content does not match its extension."),
        _("Use the extension that matches the content, or remove the file."),
        look_at_magic,
    ),
    FileCheck(
        "compiled-code",
        _("Compiled code can't be reviewed before it runs."),
        _("Remove the compiled file and include its source code instead."),
        look_at_compiled,
    ),
    FileCheck(
        "unscanned",
        _("The package contains more text than one scan can read."),
        _("Remove files that the skill does not need, or split the skill into several."),
        look_at_amount,
    ),
    FileCheck(
        "tools-beyond",
        _("SKILL.md uses a tool that is not listed in `allowed-tools`."),
        _("List the tool in `allowed-tools`, or don't use it."),
        look_at_tools,
    ),
)
