"""Skills as MCP resources: ``skill://TEAM/SKILL/PATH`` and ``skill://canonical/SKILL/PATH``.

The extension requires the name in the front matter before PATH. If this name differs from the slug SKILL, it
is added: ``skill://TEAM/SKILL/NAME/PATH``.
"""

from __future__ import annotations

import base64
import json
import mimetypes
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any
from urllib.parse import quote, unquote

from registry.core.errors import NOT_FOUND
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.lookup import skills
from registry.lookup.canonical import PREFIX
from registry.models import File, UseKind, Version
from registry.packages.archive.layout import SKILL_MD
from registry.packages.limits import Limits
from registry.packages.manifest.frontmatter import read_skill_md
from registry.packages.manifest.manifest import manifest_of
from registry.usage.recording import note_use, use_of
from registry.versions.content.read_file import read_file

SCHEME = "skill://"
CANONICAL = "canonical"  # stands for the team of canonical skills in URIs; no team can have this slug
MAX_FILES = 512  # limit of the extension for a skill that lists its files
MAX_BYTES = 16 * 1024 * 1024  # limit of all files of such a skill
DIRECTORY = "inode/directory"
_NAME = re.compile(r"(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_UNLIMITED = Limits(skill_md=1 << 31, front_matter=1 << 31)
_MAX_KNOWN = 20_000  # number of versions whose front matter a process caches


@dataclass(frozen=True)
class SkillEntry:
    """A version whose files have URIs below ``base``. ``front_matter`` is the front matter of its
    SKILL.md.
    """

    base: str
    version: Version
    front_matter: Mapping[str, Any]
    files: Sequence[File]

    @property
    def uri(self) -> str:
        return self.file_uri(SKILL_MD)

    @cached_property
    def is_listable(self) -> bool:
        """Whether the front matter is valid for the extension."""
        name, text = self.front_matter.get("name"), self.front_matter.get("description")
        return isinstance(name, str) and bool(_NAME.fullmatch(name)) and isinstance(text, str) and bool(text)

    def file_uri(self, path: str) -> str:
        return f"{self.base}{quote(path)}"

    def document(self) -> dict[str, Any]:
        """The skill's entry for the skills extension. The entry of a large skill does not list files."""
        files: object = [
            {"uri": self.file_uri(file.path), "digest": file.digest, "size": file.size} for file in self.files
        ]
        if len(self.files) > MAX_FILES or sum(file.size for file in self.files) > MAX_BYTES:
            files = "dynamic"
        return {"uri": self.uri, "frontmatter": self.front_matter, "resources": files}

    def resource(self, path: str) -> dict[str, Any]:
        size = next((file.size for file in self.files if file.path == path), 0)
        name = path.rpartition("/")[2]
        found = {"uri": self.file_uri(path), "name": name, "mimeType": media_type(path), "size": size}
        if path == SKILL_MD:
            found |= {key: self.front_matter.get(key) or name for key in ("name", "description")}
        return found


def entries_of(named: Iterable[tuple[str, Version]]) -> list[SkillEntry]:
    """The entries of these pairs of label and version. A label is ``team/slug`` or ``_canonical_slug``."""
    pairs = list(named)
    files: dict[int, list[File]] = {version.pk: [] for _, version in pairs}
    rows = File.objects.filter(version__in=files).only("version_id", "path", "digest", "size")
    for file in rows.order_by("path"):
        files[file.version_id].append(file)
    return [_entry(label, version, files[version.pk]) for label, version in pairs]


def find_entry(uri: str, actor: Actor) -> tuple[SkillEntry, str]:
    """The skill of the URI, and the path in it, which is empty for the skill's folder.

    Raises NOT_FOUND, also for skills that agents can't load, and the errors of ``find_version`` and
    ``require``.
    """
    team, slug, path = ([unquote(part) for part in uri.removeprefix(SCHEME).split("/", 2)] + [""] * 3)[:3]
    if not uri.startswith(SCHEME) or not team or not slug or "\0" in uri:
        raise _not_found(uri)
    label = f"{PREFIX}{slug}" if team == CANONICAL else f"{team}/{slug}"
    version = skills.find_version(skills.find_skill(label, actor), None, actor)
    require(actor, Action.INSTALL, skill=version.skill)
    if manifest_of(version.manifest).disable_model_invocation:
        raise _not_found(uri)
    (entry,) = entries_of([(label, version)])
    prefix = unquote(entry.base.removeprefix(f"{SCHEME}{quote(team)}/{quote(slug)}/"))
    if not f"{path}/".startswith(prefix):
        raise _not_found(uri)
    return entry, path.removeprefix(prefix.removesuffix("/") if prefix else "").lstrip("/")


def read_content(uri: str, actor: Actor) -> dict[str, Any]:
    """The file as text or, if it is not UTF-8, in base64. Reading SKILL.md counts as a use.

    Raises NOT_FOUND for a missing file or one above ``MAX_BYTES``, and the errors of ``find_entry``.
    """
    entry, path = find_entry(uri, actor)
    file = next((file for file in entry.files if file.path == path), None)
    if file is None or file.size > MAX_BYTES:
        raise _not_found(uri)
    data = read_file(entry.version, path)
    if path == SKILL_MD:
        note_use(use_of(entry.version, UseKind.LOAD), actor.caller)
    found = {"uri": uri, "mimeType": media_type(path)}
    try:
        return {**found, "text": data.decode()}
    except UnicodeDecodeError:
        return {**found, "blob": base64.b64encode(data).decode()}


def children(uri: str, actor: Actor) -> list[dict[str, Any]] | None:
    """The files and folders directly in the folder at the URI; None if the URI is not a folder. Raises the
    errors of ``find_entry``.
    """
    entry, path = find_entry(uri, actor)
    prefix = f"{path.rstrip('/')}/" if path else ""
    inside = [file.path.removeprefix(prefix) for file in entry.files if file.path.startswith(prefix)]
    if not inside:
        return None
    folders = sorted({name.partition("/")[0] for name in inside if "/" in name})
    return [
        *({"uri": entry.file_uri(prefix + name), "name": name, "mimeType": DIRECTORY} for name in folders),
        *(entry.resource(prefix + name) for name in inside if "/" not in name),
    ]


def media_type(path: str) -> str:
    if path.endswith(".md"):
        return "text/markdown"
    return mimetypes.guess_type(path)[0] or "text/plain"


def _entry(label: str, version: Version, files: Sequence[File]) -> SkillEntry:
    front_matter: Mapping[str, Any] = json.loads(_front_matter(version.digest))
    team, slug = version.skill.team.slug, version.skill.slug
    if label.startswith(PREFIX):
        team, slug = CANONICAL, label.removeprefix(PREFIX)
    base = f"{SCHEME}{quote(team)}/{quote(slug)}/"
    name = front_matter.get("name")
    if isinstance(name, str) and name and name != slug:
        base += f"{quote(name, safe='')}/"
    return SkillEntry(base, version, front_matter, files)


@lru_cache(maxsize=_MAX_KNOWN)
def _front_matter(digest: str) -> str:
    """The front matter of the version's SKILL.md as JSON, with strings where the open format
    requires them.
    """
    values = dict(read_skill_md(read_file(Version(digest=digest), SKILL_MD), _UNLIMITED).values)
    if isinstance(metadata := values.get("metadata"), Mapping):
        values["metadata"] = {str(key): _as_text(value) for key, value in metadata.items()}
    if isinstance(tools := values.get("allowed-tools"), list):
        values["allowed-tools"] = " ".join(map(str, tools))
    return json.dumps(values, ensure_ascii=False, default=str)


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _not_found(uri: str) -> Exception:
    return NOT_FOUND.refusal(what="file", name=uri[:200])
