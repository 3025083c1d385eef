"""Reads packages from uploads, folders and lists of files. Every package is read by this module."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from registry.packages.archive.entries import ArchiveEntry
from registry.packages.archive.folders import check_sizes, folder_entries
from registry.packages.archive.layout import Layout, lay_out
from registry.packages.archive.paths import printable
from registry.packages.archive.repack import repack
from registry.packages.archive.tar_reader import read_tar_gz
from registry.packages.archive.zip_reader import read_zip
from registry.packages.checks.package_checks import Facts, check, choose_profile
from registry.packages.errors import ARCHIVE_FORMAT, ARCHIVE_TOO_LARGE, FILE_UNREADABLE, SKILL_AMBIGUOUS
from registry.packages.limits import Limits
from registry.packages.manifest.agent_yaml import with_agent_timeout
from registry.packages.manifest.frontmatter import SKILL_MD, FrontMatter, read_skill_md
from registry.packages.manifest.manifest import read_manifest
from registry.packages.manifest.metadata_yml import with_metadata
from registry.packages.manifest.naming import Origin
from registry.packages.package import PROFILES, Package, PackageFile, Profile
from registry.packages.problems import Problem, Refusal

_DEFAULT = Limits()


def read_upload(
    data: bytes, *, filename: str = "", limits: Limits = _DEFAULT, profile: Profile | None = None
) -> Package:
    """Reads a zip, a tar.gz or a single SKILL.md, detected by content.

    Raises Refusal with every problem if the package cannot be read. A package that fails its checks is
    returned with ``ok`` False.
    """
    layout = _upload_layout(data, filename, limits)
    return build_package(layout, Origin(layout.folder, filename), limits=limits, profile=profile)


def _upload_layout(data: bytes, filename: str, limits: Limits) -> Layout:
    if len(data) > limits.archive:
        raise ARCHIVE_TOO_LARGE.refusal(size=len(data), limit=limits.archive).at(printable(filename))
    entries = _entries(data, filename, limits)
    try:
        return lay_out(entries, limits)
    except Refusal as refused:
        if refused.code != SKILL_AMBIGUOUS.name:
            raise
        return _archive_layout(entries, data, limits)


def _entries(data: bytes, filename: str, limits: Limits) -> tuple[ArchiveEntry, ...]:
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")) or b"PK\x05\x06" in data[-65_557:]:
        return read_zip(data, limits)
    if data[:2] == b"\x1f\x8b":
        return read_tar_gz(data, limits)
    if filename.lower().endswith(".md") or data.lstrip(b"\xef\xbb\xbf\r\n\t ")[:3] == b"---":
        return (ArchiveEntry(SKILL_MD, data),)
    raise ARCHIVE_FORMAT.refusal().at(printable(filename))


def _archive_layout(entries: Sequence[ArchiveEntry], data: bytes, limits: Limits) -> Layout:
    """The layout of an archive. Several SKILL.md raise SKILL_AMBIGUOUS unless ``repack`` made the archive."""
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
    """Reads a folder's files as browsers send them: with or without the folder's name as prefix."""
    entries = [ArchiveEntry(path, data, data[:2] == b"#!") for path, data in files]
    check_sizes(entries, limits)
    layout = lay_out(entries, limits)
    return build_package(layout, Origin(layout.folder, filename), limits=limits, profile=profile)


def read_path(path: Path, *, limits: Limits = _DEFAULT, profile: Profile | None = None) -> Package:
    """Reads a local folder, archive or SKILL.md. The folder's or archive's name is the default skill name."""
    if path.is_dir():
        return read_folder(path, limits=limits, profile=profile)
    if path.exists() and not path.is_file():
        raise FILE_UNREADABLE.refusal(reason="it is neither a file nor a folder").at(printable(path.name))
    try:
        with path.open("rb") as source:
            data = source.read(limits.archive + 1)
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise FILE_UNREADABLE.refusal(reason=reason).at(printable(path.name)) from None
    name = path.resolve().parent.name + ".md" if path.name.lower() == "skill.md" else path.name
    return read_upload(data, filename=name, limits=limits, profile=profile)


def read_folder(path: Path, *, limits: Limits = _DEFAULT, profile: Profile | None = None) -> Package:
    """Reads a folder on this machine. Symbolic links are refused, never followed."""
    layout = lay_out(folder_entries(path, limits), limits)
    return build_package(layout, Origin(layout.folder or path.resolve().name), limits=limits, profile=profile)


def build_package(
    layout: Layout, origin: Origin, *, limits: Limits = _DEFAULT, profile: Profile | None = None
) -> Package:
    """Builds a package. If the layout has blocking problems, raises Refusal with these and all others."""
    try:
        package = _read(layout, origin, limits, profile)
    except Refusal as refused:
        raise Refusal(*layout.blocking_problems, *refused.problems) from None
    if layout.blocking_problems:
        raise Refusal(
            *layout.blocking_problems, *(one for one in package.problems if one.severity != "notice")
        )
    return package


def _read(layout: Layout, origin: Origin, limits: Limits, profile: Profile | None) -> Package:
    front_matter = read_front_matter(layout.files, limits)
    reading = read_manifest(front_matter, origin)
    manifest = with_agent_timeout(reading.manifest, layout.files, limits)
    facts = Facts(layout.files, front_matter, manifest, (*layout.problems, *reading.problems))
    chosen = profile or choose_profile(facts)
    return Package(layout.files, manifest, front_matter.body, chosen, check(facts, chosen))


def read_front_matter(files: tuple[PackageFile, ...], limits: Limits = _DEFAULT) -> FrontMatter:
    """The front matter of SKILL.md, with empty fields filled from METADATA.yml."""
    skill = next(file for file in files if file.path == SKILL_MD)
    return with_metadata(read_skill_md(skill.data, limits), files, limits)


def problems_by_profile(package: Package, *, limits: Limits = _DEFAULT) -> dict[Profile, tuple[Problem, ...]]:
    """The problems of a package under each profile, without the notices from reading the archive."""
    return _problems_by_profile(package.files, package.manifest.slug, limits)


def stored_problems_by_profile(
    data: bytes, slug: str, *, limits: Limits = _DEFAULT
) -> dict[Profile, tuple[Problem, ...]]:
    """Like ``problems_by_profile``, for a published version's archive. Reads its front matter only once."""
    return _problems_by_profile(_upload_layout(data, f"{slug}.zip", limits).files, slug, limits)


def _problems_by_profile(
    files: tuple[PackageFile, ...], slug: str, limits: Limits
) -> dict[Profile, tuple[Problem, ...]]:
    front_matter = read_front_matter(files, limits)
    reading = read_manifest(front_matter, Origin(slug))
    facts = Facts(files, front_matter, reading.manifest, reading.problems)
    return {profile: check(facts, profile) for profile in PROFILES}
