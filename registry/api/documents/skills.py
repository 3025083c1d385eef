"""Builds the JSON objects of skills, versions and files for API responses, and declares their serializers."""

import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any
from urllib.parse import quote

from django.db.models import QuerySet
from django.utils.translation import gettext
from rest_framework import serializers

from registry.api.documents.command_lines import CommandLineDoc, command_line_document
from registry.api.documents.doc import Doc as Doc
from registry.api.documents.listed_skills import SkillFacts, facts_document
from registry.api.documents.needs import NeedDoc, needs_document
from registry.core.addresses import absolute_url
from registry.core.hooks import (
    DEPENDENCY_STATES,
    MODULE_LOAD_STATES,
    SKIP_REASONS,
    dependency_state,
    module_loads,
)
from registry.core.sql import prepared
from registry.core.time import rfc3339
from registry.identity.actors import Actor
from registry.listing.listed_skill import pinned_manifest
from registry.lookup import canonical as canonical_canonical
from registry.lookup import skills
from registry.lookup.visibility import sees_held_versions
from registry.models import Channel, File, Skill, Version
from registry.packages.manifest.sections import Phase, find_phases, find_specs, is_phase
from registry.packages.package import Manifest
from registry.storage import blobs
from registry.versions.publishing import version_rows


def api_url(*parts: str) -> str:
    return absolute_url("/api/v1/" + "/".join(quote(part) for part in parts))


def skill_document(skill: Skill) -> dict[str, Any]:
    """The skill as a JSON object, with its latest or, for a canonical name, its pinned version. Has no usage
    figures, so that its ETag does not change with every use.
    """
    latest = skill.resolved_canonical.version if skill.resolved_canonical else skill.latest
    words = pinned_manifest(skill.resolved_canonical) if skill.resolved_canonical else skill
    facts = SkillFacts(
        uid=skill.uid,
        team=skill.team.slug,
        slug=skill.slug,
        name=(words.display_name or words.name) if isinstance(words, Manifest) else words.name,
        description=words.description,
        type=words.type,
        domain=words.domain,
        category=words.category,
        tags=words.tags,
        visibility=skill.visibility,
        source=skill.source,
        deprecated_at=skill.deprecated_at,
        deprecation_reason=skill.deprecation_reason,
        purged_at=skill.purged_at,
        merged_into=skill.merged_into_id,
        created_at=skill.created_at,
        updated_at=skill.updated_at,
        number=latest.number if latest else None,
        digest=latest.digest if latest else None,
    )
    return facts_document(facts)


def skill_detail(skill: Skill, actor: Actor) -> dict[str, Any]:
    """``skill_document`` with the canonical name, and the successor and channels visible to the actor."""
    successor = skills.visible_successor(skill, actor)
    return {
        **skill_document(skill),
        "successor": str(successor) if successor else None,
        "channels": channels_of(skill, actor),
        "canonical": _canonical(skill),
    }


def _canonical(skill: Skill) -> dict[str, str] | None:
    row = canonical_canonical.canonical_for_skill(skill)
    return {"name": str(row), "version": row.number, "digest": row.digest} if row else None


def channels_of(skill: Skill, actor: Actor) -> dict[str, str]:
    """Version numbers by channel name, sorted by name, without versions that the actor may not see."""
    sees_held = sees_held_versions(skill, actor)
    rows = _channels(skill.pk)
    return {name: number for name, number, held, released in rows if sees_held or not held or released}


@prepared
def _channels(skill: int) -> QuerySet[Channel, tuple[Any, ...]]:
    rows = Channel.objects.filter(skill_id=skill).order_by("name")
    return rows.values_list("name", "version__number", "version__held_at", "version__released_at")


def version_summary(version: Version) -> dict[str, Any]:
    address = ("skills", str(version.skill), "versions", version.number)
    return {
        "id": version.uid,
        "skill": str(version.skill),
        "version": version.number,
        "digest": version.digest,
        "size": version.archive_size,
        "profile": version.profile,
        "changelog": version.changelog,
        "created_at": rfc3339(version.created_at),
        "yanked_at": rfc3339(version.yanked_at),
        "yank_reason": version.yank_reason,
        "deprecated_at": rfc3339(version.deprecated_at),
        "deprecation_reason": version.deprecation_reason,
        "successor": version.successor,
        "held": version.is_held,
        "url": api_url(*address),
        "files_url": api_url(*address, "files"),
        "archive_url": api_url(*address, "archive"),
    }


def version_document(version: Version, actor: Actor) -> dict[str, Any]:
    author = version.published_by if actor.is_signed_in else None
    return {
        **version_summary(version),
        "version_as_written": version.number_as_written,
        "published_by": author.username if author else None,
        "provenance": version.provenance,
        "manifest": version.manifest,
        "body": version.body,
        "problems": [each.document(gettext) for each in version_rows.load_problems(version)],
        "dependencies": dependency_state(version),
        "modules": [asdict(each) for each in module_loads(version)],
        "command_lines": [command_line_document(row) for row in version.command_lines.order_by("script")],
        "needs": needs_document(version),
        "channels": sorted(version.channels.values_list("name", flat=True)),
        **_documents_of(version),
        "notices": [each.document(gettext) for each in skills.notices(version, actor)],
    }


def _documents_of(version: Version) -> dict[str, Any]:
    """The phase files with the scripts that they declare, and the paths of the documents in ``specs/``."""
    paths = tuple(version.files.values_list("path", flat=True))
    phases: tuple[Phase, ...] = ()
    if any(map(is_phase, paths)):
        with blobs.open_blob(version.digest) as blob, zipfile.ZipFile(blob) as archive:
            phases = find_phases(paths, archive.read)[0]
    return {"phases": [asdict(phase) for phase in phases], "specs": list(find_specs(paths))}


def file_document(version: Version, file: File) -> dict[str, Any]:
    return {
        "path": file.path,
        "size": file.size,
        "digest": file.digest,
        "is_text": file.is_text,
        "executable": file.executable,
        "url": api_url("skills", str(version.skill), "versions", version.number, "files", file.path),
    }


class AddressField(serializers.URLField):
    """A field with an absolute URL of this site. ``path`` is a format string whose argument 0 is the row,
    such as ``/hooks/{0.uid}``.
    """

    def __init__(self, path: str, **options: Any) -> None:
        super().__init__(**{"source": "*", **options})
        self.path = path

    def to_representation(self, value: Any) -> str:
        return absolute_url(quote(self.path.format(value)))


class TextOrNull(serializers.CharField):
    """A text field in which an empty text becomes null."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_null=True, **options)

    def to_representation(self, value: Any) -> Any:
        return super().to_representation(value) or None


class ProblemDoc(Doc):
    code = serializers.CharField()
    severity = serializers.ChoiceField(choices=["error", "warning", "notice"])
    message = serializers.CharField()
    path = serializers.CharField(help_text="The package file, body field or parameter that has the problem.")
    line = serializers.IntegerField(allow_null=True, help_text="The line, counted from 1.")
    remedy = serializers.CharField()


class ErrorDoc(Doc):
    """An error: a stable code, and texts in the language of Accept-Language."""

    code = serializers.CharField(help_text="A stable code; `/api/v1/errors` lists all codes.")
    message = serializers.CharField()
    remedy = serializers.CharField(help_text="How to fix the problem.")
    retryable = serializers.BooleanField(help_text="Whether the same request may succeed later.")
    docs_url = serializers.URLField()
    request_id = serializers.CharField(help_text="The `X-Request-ID` of the response.")
    problems = ProblemDoc(many=True)


class SkillDoc(Doc):
    id = serializers.CharField(help_text="An opaque id that never changes.")
    skill = serializers.CharField(help_text="`team/slug`.")
    team = serializers.CharField()
    slug = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    type = serializers.CharField()
    domain = serializers.CharField()
    category = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    visibility = serializers.ChoiceField(choices=["private", "site", "public"])
    source = serializers.CharField()  # type: ignore[assignment]
    deprecated_at = serializers.DateTimeField(allow_null=True)
    deprecation_reason = serializers.CharField(
        help_text="The reason for the deprecation; empty if the skill is not deprecated."
    )
    removed_as = serializers.ChoiceField(
        choices=["", "merged", "purged"],
        help_text="`merged` or `purged`; set only in the list of changed skills.",
    )
    version = serializers.CharField(allow_null=True, help_text="The latest version; null if there is none.")
    digest = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    url = serializers.URLField()
    page_url = serializers.URLField(help_text="The URL of the skill's page.")


class CanonicalNameDoc(Doc):
    name = serializers.CharField(help_text="`_canonical_<slug>`.")
    version = serializers.CharField()
    digest = serializers.CharField()


class SkillDetailDoc(SkillDoc):
    successor = serializers.CharField(allow_null=True, help_text="The replacement, if visible to you.")
    channels = serializers.DictField(
        child=serializers.CharField(), help_text="Object with the channel names and their version numbers."
    )
    canonical = CanonicalNameDoc(
        allow_null=True, help_text="The canonical pin of the skill; null if no version is pinned."
    )


class VersionSummaryDoc(Doc):
    id = serializers.CharField()
    skill = serializers.CharField()
    version = serializers.CharField()
    digest = serializers.CharField(help_text="`sha256:…` of the archive.")
    size = serializers.IntegerField(help_text="The size of the archive in bytes.")
    profile = serializers.CharField()
    changelog = serializers.CharField()
    created_at = serializers.DateTimeField()
    yanked_at = serializers.DateTimeField(allow_null=True)
    yank_reason = serializers.CharField()
    deprecated_at = serializers.DateTimeField(allow_null=True)
    deprecation_reason = serializers.CharField()
    successor = serializers.CharField(help_text="The version to use instead; empty if there is none.")
    held = serializers.BooleanField(
        help_text="True if a finding or a report holds the version: only its team and administrators "
        "can see it, and it can't be downloaded."
    )
    url = serializers.URLField()
    files_url = serializers.URLField()
    archive_url = serializers.URLField()


class PhaseScriptDoc(Doc):
    id = serializers.CharField()
    line = serializers.IntegerField()
    missing = serializers.BooleanField(help_text="True if `scripts/` has no script with this id.")


class PhaseDoc(Doc):
    path = serializers.CharField()
    scripts = PhaseScriptDoc(many=True, help_text="Scripts that the file declares.")
    omitted = serializers.IntegerField(help_text="The number of declarations that are not listed.")


class ModuleDoc(Doc):
    path = serializers.CharField()
    state = serializers.ChoiceField(choices=MODULE_LOAD_STATES)
    reason = serializers.ChoiceField(
        choices=SKIP_REASONS, help_text='The reason why the module was skipped; otherwise "".'
    )


class VersionDoc(VersionSummaryDoc):
    version_as_written = serializers.CharField()
    published_by = serializers.CharField(
        allow_null=True,
        help_text="The user who published the version; null if there is none or you are not signed in.",
    )
    provenance = serializers.DictField(
        help_text="The origin of an imported version, such as repository, commit and path."
    )
    manifest = serializers.DictField(help_text="The parsed front matter, including unknown fields.")
    body = serializers.CharField(help_text="SKILL.md without front matter.")
    problems = ProblemDoc(many=True)
    dependencies = serializers.ChoiceField(
        choices=DEPENDENCY_STATES, help_text="The state of the version's dependency builds."
    )
    modules = ModuleDoc(
        many=True, help_text="Whether runs can load the `execute` modules that the version has."
    )
    command_lines = CommandLineDoc(many=True, help_text="The command lines of scripts that take arguments.")
    needs = NeedDoc(
        many=True,
        help_text="Modules, programs, hosts and secrets that the scripts need, read from their text.",
    )
    channels = serializers.ListField(child=serializers.CharField())
    phases = PhaseDoc(many=True, help_text="Files in `phases/` and `actions/`.")
    specs = serializers.ListField(child=serializers.CharField(), help_text="Documents in `specs/`.")
    notices = ProblemDoc(
        many=True, help_text="Notices, for example that the version is yanked or deprecated."
    )


class FileDoc(Doc):
    path = serializers.CharField()
    size = serializers.IntegerField()
    digest = serializers.CharField()
    is_text = serializers.BooleanField()
    executable = serializers.BooleanField()
    url = serializers.URLField()


def page_document(
    items: list[Mapping[str, Any]] | list[dict[str, Any]], cursor: str | None
) -> dict[str, Any]:
    return {"items": items, "next_cursor": cursor}


@cache  # one class per name in the OpenAPI document
def page_schema(shape: type[Doc]) -> serializers.Serializer[Any]:
    """The serializer of a page of ``shape`` items for OpenAPI: ``SkillPage`` for ``SkillDoc``."""
    from drf_spectacular.utils import inline_serializer

    name = shape.__name__.removesuffix("Doc") + "Page"
    fields = {
        "items": shape(many=True),
        "next_cursor": serializers.CharField(
            allow_null=True, help_text="Value of `cursor` for the next page; null on the last page."
        ),
    }
    return inline_serializer(name, fields)
