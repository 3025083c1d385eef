"""Bytes of a stranger → Package: the one way in for uploads, folders and lists of files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from registry.packages.agent_yaml import with_agent_timeout
from registry.packages.checks import Facts, check, choose_profile
from registry.packages.entries import Entry
from registry.packages.folders import check_sizes, folder_entries
from registry.packages.frontmatter import SKILL_MD, FrontMatter, read_skill_md
from registry.packages.layout import Layout, lay_out
from registry.packages.limits import Limits
from registry.packages.manifest import read_manifest
from registry.packages.metadata_yml import with_metadata
from registry.packages.naming import Origin
from registry.packages.package import PROFILES, Package, PackageFile, Profile
from registry.packages.paths import shown
from registry.packages.problems import Problem, Refused, refuse
from registry.packages.repack import repack
from registry.packages.tar_archive import read_tar_gz
from registry.packages.zip_archive import read_zip

_DEFAULT = Limits()


def read_upload(
    data: bytes, *, filename: str = "", limits: Limits = _DEFAULT, profile: Profile | None = None
) -> Package:
    """A zip, a tar.gz or a lone SKILL.md, told apart by their bytes.

    Raises Refused with every problem when the gate stops it; one that fails its checks is returned, not ok.
    """
    if len(data) > limits.archive:
        raise refuse("ARCHIVE_TOO_LARGE", path=shown(filename), size=len(data), limit=limits.archive)
    entries = _entries(data, filename, limits)
    try:
        layout = lay_out(entries, limits)
    except Refused as refused:
        if refused.code != "SKILL_AMBIGUOUS":
            raise
        layout = _repacked(entries, data, limits)
    return package_of(layout, Origin(layout.folder, filename), limits=limits, profile=profile)


def _entries(data: bytes, filename: str, limits: Limits) -> tuple[Entry, ...]:
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")) or b"PK\x05\x06" in data[-65_557:]:
        return read_zip(data, limits)
    if data[:2] == b"\x1f\x8b":
        return read_tar_gz(data, limits)
    if filename.lower().endswith(".md") or data.lstrip(b"\xef\xbb\xbf\r\n\t ")[:3] == b"---":
        return (Entry(SKILL_MD, data),)
    raise refuse("ARCHIVE_FORMAT", path=shown(filename))


def _repacked(entries: Sequence[Entry], data: bytes, limits: Limits) -> Layout:
    """An archive that is byte for byte its own re-pack passed the gate before, in the folder it then had."""
    layout = lay_out(entries, limits, repacked=True)
    if repack(layout.files) != data:
        return lay_out(entries, limits)
    return layout


def read_files(
    files: Iterable[tuple[str, bytes]],
    *,
    filename: str = "",
    limits: Limits = _DEFAULT,
    profile: Profile | None = None,
) -> Package:
    """A folder's files as a browser sends them: paths with the folder's own name before them, or without."""
    entries = [Entry(path, data, data[:2] == b"#!") for path, data in files]
    check_sizes(entries, limits)
    layout = lay_out(entries, limits)
    return package_of(layout, Origin(layout.folder, filename), limits=limits, profile=profile)


def read_path(path: Path, *, limits: Limits = _DEFAULT, profile: Profile | None = None) -> Package:
    """What lies at a path of this machine: a folder, an archive, or a SKILL.md that its folder names."""
    if path.is_dir():
        return read_folder(path, limits=limits, profile=profile)
    if path.exists() and not path.is_file():
        raise refuse("FILE_UNREADABLE", path=shown(path.name), reason="it is neither a file nor a folder")
    try:
        with path.open("rb") as source:
            data = source.read(limits.archive + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise refuse("FILE_UNREADABLE", path=shown(path.name), reason=reason) from None
    name = path.resolve().parent.name + ".md" if path.name.lower() == "skill.md" else path.name
    return read_upload(data, filename=name, limits=limits, profile=profile)


def read_folder(path: Path, *, limits: Limits = _DEFAULT, profile: Profile | None = None) -> Package:
    """A folder on this machine; links in it are refused, never followed."""
    layout = lay_out(folder_entries(path, limits), limits)
    return package_of(layout, Origin(layout.folder or path.resolve().name), limits=limits, profile=profile)


def package_of(
    layout: Layout, origin: Origin, *, limits: Limits = _DEFAULT, profile: Profile | None = None
) -> Package:
    """The package that these files are; refuses what the layout refused, with all else that is wrong."""
    try:
        found = _read(layout, origin, limits, profile)
    except Refused as refused:
        raise Refused(*layout.refused, *refused.problems) from None
    if layout.refused:
        raise Refused(*layout.refused, *(one for one in found.problems if one.severity != "notice"))
    return found


def _read(layout: Layout, origin: Origin, limits: Limits, profile: Profile | None) -> Package:
    front = front_of(layout.files, limits)
    reading = read_manifest(front, origin)
    manifest = with_agent_timeout(reading.manifest, layout.files, limits)
    facts = Facts(layout.files, front, manifest, (*layout.problems, *reading.problems))
    chosen = profile or choose_profile(facts)
    return Package(layout.files, manifest, front.body, chosen, check(facts, chosen))


def front_of(files: tuple[PackageFile, ...], limits: Limits = _DEFAULT) -> FrontMatter:
    """The front matter of SKILL.md, and what METADATA.yml says where it is empty."""
    skill = next(file for file in files if file.path == SKILL_MD)
    return with_metadata(read_skill_md(skill.data, limits), files, limits)


def fares(package: Package, *, limits: Limits = _DEFAULT) -> dict[Profile, tuple[Problem, ...]]:
    """What a package's checks say under every profile; the gate's own notices are not among them."""
    front = front_of(package.files, limits)
    reading = read_manifest(front, Origin(package.manifest.slug))
    facts = Facts(package.files, front, reading.manifest, reading.problems)
    return {profile: check(facts, profile) for profile in PROFILES}
