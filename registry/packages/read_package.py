"""Reads packages from uploads, folders and lists of files. Every package is read by this module."""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from pathlib import Path

from registry.packages.archive.entries import ArchiveEntry
from registry.packages.archive.folders import check_sizes, folder_entries
from registry.packages.archive.layout import Layout, lay_out
from registry.packages.archive.paths import printable
from registry.packages.archive.repack import archive_order, repack, repacked_size
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
from registry.packages.problems import Problem, Refusal, gettext_noop

_DEFAULT = Limits()


def read_upload(
    data: bytes, *, filename: str = "", limits: Limits = _DEFAULT, profile: Profile | None = None
) -> Package:
    """Reads a zip, a tar.gz or a single SKILL.md, detected by content.

    Raises Refusal if the package cannot be read. A package that fails its checks is returned with ``ok``
    False. ``profile`` overrides the profile that the content determines.
    """
    layout = _upload_layout(data, filename, limits)
    return build_package(layout, Origin(layout.folder, filename), limits=limits, profile=profile)


def read_package_files(
    files: Sequence[PackageFile], *, filename: str = "", limits: Limits = _DEFAULT
) -> Package:
    """Reads the files of a package. The result equals that of ``read_upload`` for the archive that ``repack``
    builds from them.

    This is faster than building and parsing the archive. Raises Refusal like ``read_upload``, with all files
    that are too large.
    """
    _check_archive_size(repacked_size(files), filename, limits)
    entries = [ArchiveEntry(file.path, file.data, file.executable) for file in archive_order(files)]
    check_sizes(entries, limits)
    layout = _repacked_layout(
        entries, lambda layout: list(layout.files) == sorted(files, key=attrgetter("path")), limits
    )
    return build_package(layout, Origin(layout.folder, filename), limits=limits)


def _upload_layout(data: bytes, filename: str, limits: Limits) -> Layout:
    _check_archive_size(len(data), filename, limits)
    entries = _entries(data, filename, limits)
    return _repacked_layout(entries, lambda layout: repack(layout.files) == data, limits)


def _check_archive_size(size: int, filename: str, limits: Limits) -> None:
    if size > limits.archive:
        raise ARCHIVE_TOO_LARGE.refusal(size=size, limit=limits.archive).at(printable(filename))


def _entries(data: bytes, filename: str, limits: Limits) -> tuple[ArchiveEntry, ...]:
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")) or b"PK\x05\x06" in data[-65_557:]:
        return read_zip(data, limits)
    if data[:2] == b"\x1f\x8b":
        return read_tar_gz(data, limits)
    if filename.lower().endswith(".md") or data.lstrip(b"\xef\xbb\xbf\r\n\t ")[:3] == b"---":
        return (ArchiveEntry(SKILL_MD, data),)
    raise ARCHIVE_FORMAT.refusal().at(printable(filename))


def _repacked_layout(
    entries: Sequence[ArchiveEntry], is_repacked: Callable[[Layout], bool], limits: Limits
) -> Layout:
    """The layout of the entries. Of several SKILL.md files, only the one at the top level counts.

    Raises SKILL_AMBIGUOUS for several SKILL.md files unless ``is_repacked`` is true for their layout, which
    means that ``repack`` created the archive.
    """
    try:
        return lay_out(entries, limits)
    except Refusal as refused:
        if refused.code != SKILL_AMBIGUOUS.name:
            raise
        layout = lay_out(entries, limits, repacked=True)
        if not is_repacked(layout):
            raise
        return layout


def read_files(
    files: Iterable[tuple[str, bytes]],
    *,
    filename: str = "",
    limits: Limits = _DEFAULT,
    profile: Profile | None = None,
) -> Package:
    """Reads a package from pairs of path and content.

    Paths may begin with the folder's name, as in browser uploads of a folder. Files that start with ``#!``
    become executable. Raises Refusal like ``read_upload``.
    """
    entries = [ArchiveEntry(path, data, data[:2] == b"#!") for path, data in files]
    check_sizes(entries, limits)
    layout = lay_out(entries, limits)
    return build_package(layout, Origin(layout.folder, filename), limits=limits, profile=profile)


def read_path(path: Path, *, limits: Limits = _DEFAULT, profile: Profile | None = None) -> Package:
    """Reads a local folder, archive or SKILL.md.

    Raises Refusal like ``read_upload``, or with FILE_UNREADABLE if the path can't be read. The default skill
    name is the name of the folder or archive, or of the folder that contains SKILL.md.
    """
    if path.is_dir():
        return read_folder(path, limits=limits, profile=profile)
    if path.exists() and not path.is_file():
        reason = gettext_noop("it is neither a file nor a folder")
        raise FILE_UNREADABLE.refusal(reason=reason).at(printable(path.name))
    try:
        with path.open("rb") as source:
            data = source.read(limits.archive + 1)
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise FILE_UNREADABLE.refusal(reason=reason).at(printable(path.name)) from None
    name = path.resolve().parent.name + ".md" if path.name.lower() == "skill.md" else path.name
    return read_upload(data, filename=name, limits=limits, profile=profile)


def read_folder(path: Path, *, limits: Limits = _DEFAULT, profile: Profile | None = None) -> Package:
    """Reads a folder on this machine. Raises Refusal if it can't be read; symbolic links are refused, never
    followed.
    """
    layout = lay_out(folder_entries(path, limits), limits)
    return build_package(layout, Origin(layout.folder or path.resolve().name), limits=limits, profile=profile)


def build_package(
    layout: Layout, origin: Origin, *, limits: Limits = _DEFAULT, profile: Profile | None = None
) -> Package:
    """Reads the manifest of the files in a layout, and runs the checks.

    Raises Refusal if SKILL.md cannot be read. If the layout has blocking problems, raises Refusal with these
    and all other errors and warnings.
    """
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
    return Package(layout.files, manifest, front_matter.body, chosen, check(facts, chosen), front_matter)


def read_front_matter(files: tuple[PackageFile, ...], limits: Limits = _DEFAULT) -> FrontMatter:
    """The front matter of SKILL.md, which must exist, with empty fields filled from METADATA.yml.

    Raises Refusal like ``read_skill_md``.
    """
    skill = next(file for file in files if file.path == SKILL_MD)
    return with_metadata(read_skill_md(skill.data, limits), files, limits)


def problems_by_profile(package: Package, *, limits: Limits = _DEFAULT) -> dict[Profile, tuple[Problem, ...]]:
    """The problems of a package under each profile, without the notices from reading the archive."""
    front_matter = package.front_matter or read_front_matter(package.files, limits)
    return _problems_by_profile(package.files, front_matter, package.manifest.slug)


def stored_problems_by_profile(
    data: bytes, slug: str, *, limits: Limits = _DEFAULT
) -> dict[Profile, tuple[Problem, ...]]:
    """The result of ``problems_by_profile`` for the archive of a published version.

    Faster than building the package first, which would read the front matter twice.
    """
    files = _upload_layout(data, f"{slug}.zip", limits).files
    return _problems_by_profile(files, read_front_matter(files, limits), slug)


def _problems_by_profile(
    files: tuple[PackageFile, ...], front_matter: FrontMatter, slug: str
) -> dict[Profile, tuple[Problem, ...]]:
    reading = read_manifest(front_matter, Origin(slug))
    facts = Facts(files, front_matter, reading.manifest, reading.problems)
    return {profile: check(facts, profile) for profile in PROFILES}
