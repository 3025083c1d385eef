"""What a skill is called: name, slug, and the description where the author gave none."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass

SLUG_CHARACTERS = 64
NAME_CHARACTERS = 200
_SUFFIX = re.compile(r"(\.tar\.gz|\.tgz|\.zip|\.skill|\.md)$", re.IGNORECASE)
_COPY = re.compile(r"\s*\(\d+\)$")  # "my-skill (1).zip", as browsers name a second download
_NUMBER = re.compile(r"-v?\d+\.\d+\.\d+([-+][\w.+-]+)?$", re.ASCII)  # "my-skill-1.2.0.zip", our own
_NOBODYS = frozenset(
    {"skill", "skills", "archive", "upload", "package", "download", "blob", "file", "tmp", "stdin"}
)


@dataclass(frozen=True)
class Origin:
    """Where a package came from, for names that it does not give itself."""

    folder: str = ""
    filename: str = ""

    @property
    def stem(self) -> str:
        """The file's name without its ending; empty for names that say nothing, such as SKILL.md."""
        name = self.filename.replace("\\", "/").rpartition("/")[2]
        stem = _NUMBER.sub("", _COPY.sub("", _SUFFIX.sub("", name)).strip())
        return "" if stem.lower() in _NOBODYS else stem

    @property
    def name(self) -> str:
        return self.folder or self.stem


def slugify(text: str) -> str:
    """``PDF Miner`` → ``pdf-miner``; accents fall off, every other character parts words; may be empty."""
    plain = unicodedata.normalize("NFKD", text)
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:SLUG_CHARACTERS].rstrip("-")


def slug_of(name: str, origin: Origin) -> str:
    """From the name when it is wholly writable in ASCII, else the folder's or archive's, else with a digest.

    Two names that differ only in Chinese must not share a slug, or one would be published over the other;
    and a slug must not change between versions, so the digest is of the name alone.
    """
    if not _loses_letters(name) and (slug := slugify(name)):
        return slug
    for other in (origin.folder, origin.stem):
        if other != name and not _loses_letters(other) and (slug := slugify(other)):
            return slug
    if not name:
        return ""
    digest = hashlib.sha256(unicodedata.normalize("NFC", name).encode()).hexdigest()[:8]
    return (slugify(name)[: SLUG_CHARACTERS - 9].rstrip("-") or "skill") + "-" + digest


def _loses_letters(text: str) -> bool:
    plain = unicodedata.normalize("NFKD", text)
    return any(not c.isascii() and c.isalnum() for c in plain)


def first_paragraph(body: str) -> tuple[str, int]:
    """The first paragraph of prose, as one line, and the line that it begins on, from 0."""
    paragraph: list[str] = []
    start, fence = 0, ""
    for number, line in enumerate(body.splitlines()):
        text = line.strip()
        mark = re.match(r"`{3,}|~{3,}", text)
        if mark and (not fence or text.startswith(fence)):
            fence = "" if fence else mark.group()
            text = ""
        if not text or fence or re.match(r"#|<!--|([-*_=] *){3,}$|!\[|\|", text):
            if paragraph:
                break
            continue
        start = start if paragraph else number
        paragraph.append(text)
    return " ".join(paragraph)[:1024], start
