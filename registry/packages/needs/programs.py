"""Distinguishes programs that a site must provide from shell builtins and standard utilities."""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_BUILTINS = """
    . : alias bg bind break builtin caller case cd command compgen complete compopt continue declare dirs
    disown do done echo elif else enable esac eval exec exit export false fc fg fi for function getopts
    hash help history if in jobs kill let local logout mapfile popd printf pushd pwd read readarray
    readonly return select set shift shopt source suspend test then time times trap true type typeset
    ulimit umask unalias unset until wait while
"""
# The sandbox has these on every worker: the core utilities of the system and the interpreters of the site.
_STANDARD = """
    arch awk b2sum base32 base64 basename basenc bash bunzip2 bzip2 cat chgrp chmod chown cksum clear cmp
    comm cp csplit cut dash date dd deno df diff dir dirname du egrep env expand expr factor fgrep find
    flock fmt fold getconf getent getopt grep groups gunzip gzip head hostname iconv id install join less
    link ln locale logname ls mawk md5sum mkdir mkfifo mknod mktemp more mv nawk nice nl node nohup nproc
    numfmt od paste pathchk perl pr printenv ps ptx python python3 readlink realpath rm rmdir run-parts
    sed seq setsid sh sha1sum sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort split stat
    stdbuf stty sum sync tac tail tar tee timeout touch tput tr truncate tsort tty uname unexpand uniq
    unlink uptime users vdir wc which who whoami xargs xz yes zcat zdiff zgrep
"""
_PROVIDED = frozenset((_BUILTINS + _STANDARD).split())
_TOOLS = {
    "soffice": "LibreOffice",
    "libreoffice": "LibreOffice",
    "pdftoppm": "poppler",
    "pdftotext": "poppler",
    "pdfinfo": "poppler",
    "pdfimages": "poppler",
    "magick": "ImageMagick",
    "convert": "ImageMagick",
    "identify": "ImageMagick",
    "ffprobe": "ffmpeg",
}


def needed_program(word: str) -> str:
    """The name of a program that a site must provide, or "" for builtins, standard utilities and paths."""
    name = word.strip()
    name = name.rpartition("/")[2] if name.startswith(("/usr/bin/", "/bin/", "/usr/local/bin/")) else name
    return name if _NAME.fullmatch(name) and name not in _PROVIDED and not _is_script(name) else ""


def product_of(program: str) -> str:
    """The name of the product that contains the program, such as "LibreOffice"; otherwise the program's
    name.
    """
    return _TOOLS.get(program, program)


def _is_script(name: str) -> bool:
    return name.endswith((".sh", ".py", ".js", ".ts", ".exe", ".bat", ".cmd")) or name.isdigit()
