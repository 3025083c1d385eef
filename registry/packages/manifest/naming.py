"""Derives the slug of a skill, and a name and description for skills without them."""

import hashlib
import re
import unicodedata
from dataclasses import dataclass

MAX_SLUG_LENGTH = 64
MAX_NAME_LENGTH = 200
_SUFFIX = re.compile(r"(\.tar\.gz|\.tgz|\.zip|\.skill|\.md)$", re.IGNORECASE)
_COPY = re.compile(r"\s*\(\d+\)$")  # "my-skill (1).zip": browsers name a second download like this
_NUMBER = re.compile(
    r"-v?\d+\.\d+\.\d+([-+][\w.+-]+)?$", re.ASCII
)  # "my-skill-1.2.0.zip": the name of our own downloads
_GENERIC_NAMES = frozenset(
    {"skill", "skills", "archive", "upload", "package", "download", "blob", "file", "tmp", "stdin"}
)


@dataclass(frozen=True)
class Origin:
    """The names of the folder and file that a package was read from: defaults for the name of the skill."""

    folder: str = ""
    filename: str = ""

    @property
    def stem(self) -> str:
        """The file name without extension, copy number and version: ``sum-1.2.0 (1).zip`` → ``sum``.

        "" for generic names such as SKILL.md.
        """
        name = self.filename.replace("\\", "/").rpartition("/")[2]
        stem = _NUMBER.sub("", _COPY.sub("", _SUFFIX.sub("", name)).strip())
        return "" if stem.lower() in _GENERIC_NAMES else stem

    @property
    def name(self) -> str:
        return self.folder or self.stem


def slugify(text: str) -> str:
    """The text as a slug of at most 64 characters: ``Café Mix`` → ``cafe-mix``.

    Each run of characters other than a–z and 0–9 becomes a hyphen. "" if only hyphens remain.
    """
    decomposed = unicodedata.normalize("NFKD", text)
    decomposed = "".join(c for c in decomposed if not unicodedata.combining(c))
    return re.sub(r"[^a-z0-9]+", "-", decomposed.lower()).strip("-")[:MAX_SLUG_LENGTH].rstrip("-")


def slug_of(name: str, origin: Origin) -> str:
    """The slug of ``name``. Without a name, the slug of the folder or file name, or "".

    If the name has letters that a slug can't represent, such as Chinese ones, the slug comes from the folder
    or file name. If neither has a usable slug, the slug ends with a digest of the name. Without the digest,
    names that differ only in such letters would share a slug, and one skill would overwrite the other.
    """
    if not _loses_letters(name) and (slug := slugify(name)):
        return slug
    for other in (origin.folder, origin.stem):
        if other != name and not _loses_letters(other) and (slug := slugify(other)):
            return slug
    if not name:
        return ""
    digest = hashlib.sha256(unicodedata.normalize("NFC", name).encode()).hexdigest()[:8]
    return (slugify(name)[: MAX_SLUG_LENGTH - 9].rstrip("-") or "skill") + "-" + digest


def _loses_letters(text: str) -> bool:
    decomposed = unicodedata.normalize("NFKD", text)
    return any(not c.isascii() and c.isalnum() for c in decomposed)


def first_paragraph(body: str) -> tuple[str, int]:
    """The first paragraph of prose as one line of at most 1,024 characters, and the index of its first line.

    Skips headings, code, comments, rules, images and tables. ``("", 0)`` if there is no paragraph.
    """
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
