"""Guesses from names whether a parameter's value is the path of a file to read or to write."""

from __future__ import annotations

import re

from registry.packages.command_lines.command_line import FileUse, Parameter

_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OUTPUT = _words("output out outfile dest destination save export write saveas")
_FORMATS = _words(
    """pdf csv tsv json jsonl xlsx xls docx pptx yaml yml xml html md markdown txt image png jpg jpeg svg gif
    audio video mp3 mp4 wav fasta fastq vcf bam bed gtf sdf mol2 pdb h5ad zip log parquet sqlite"""
)
_FILES = _FORMATS | _words(
    """file files filename filepath infile outfile path paths input inputs document documents spreadsheet
    manifest template"""
)
_HELP = re.compile(r"\b(files?|paths?)\b|文件|路径", re.IGNORECASE)
_NOT_FILES = _words("dir directory folder format type url name mode id")


def file_use(*names: str) -> FileUse:
    """Whether a parameter with these names probably reads or writes a file. ``names`` are the parameter's
    name and then its metavar.
    """
    for name in names:
        words = [word.lower() for word in _WORD.findall(name[:100])]
        if not words or words[-1] in _NOT_FILES:
            continue
        if words[-1] in _FILES or words[-1] in _OUTPUT:
            return "output" if _OUTPUT & set(words) else "input"
    return ""


def may_be_file(parameter: Parameter) -> bool:
    """Whether a form should accept a file as the value: the parameter reads one, or its text may be a path.

    Any positional text may be a path, such as ``source``; the text of an option only if its help mentions
    files.
    """
    if parameter.file or parameter.is_switch or parameter.choices or parameter.type != "text":
        return parameter.file == "input"
    return parameter.is_positional or bool(_HELP.search(parameter.help))
