"""Rows as the JSON objects of the API, and their shapes for its documentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from django.utils.translation import gettext
from rest_framework import serializers

from registry import canonical, catalog, publishing
from registry.actors import Actor
from registry.addresses import absolute
from registry.listing.offering import said_by
from registry.models import File, Skill, Version
from registry.moments import moment
from registry.packages.package import Manifest
from registry.publishing.readiness import READINESS, readiness


def api_address(*parts: str) -> str:
    return absolute("/api/v1/" + "/".join(quote(part) for part in parts))


def skill_document(skill: Skill) -> dict[str, Any]:
    """What does not change when somebody uses the skill, so that its ETag holds."""
    latest = skill.found_as.version if skill.found_as else skill.latest
    label = str(skill)
    return {
        "id": skill.uid,
        "skill": label,
        "team": skill.team.slug,
        "slug": skill.slug,
        **_words(skill),
        "visibility": skill.visibility,
        "source": skill.source,
        "deprecated_at": moment(skill.deprecated_at),
        "deprecation": skill.deprecation,
        "gone": "purged" if skill.purged_at else "merged" if skill.merged_into_id else "",
        "version": latest.number if latest else None,
        "digest": latest.digest if latest else None,
        "created_at": moment(skill.created_at),
        "updated_at": moment(skill.updated_at),
        "url": api_address("skills", label),
        "page": absolute(f"/skills/{quote(label)}/"),
    }


def _words(skill: Skill) -> dict[str, Any]:
    """What it says of itself: by a canonical name what was accepted, whatever a later version says."""
    said = said_by(skill.found_as) if skill.found_as else skill
    return {
        "name": (said.display_name or said.name) if isinstance(said, Manifest) else said.name,
        "description": said.description,
        "type": said.type or "",
        "domain": said.domain,
        "category": said.category,
        "tags": list(said.tags),
    }


def skill_detail(skill: Skill, actor: Actor) -> dict[str, Any]:
    """The skill with what one reader may see of its neighbours."""
    successor = catalog.successor_of(skill, actor)
    return {
        **skill_document(skill),
        "successor": str(successor) if successor else None,
        "channels": channels_of(skill, actor),
        "canonical": _canonical(skill),
    }


def _canonical(skill: Skill) -> dict[str, str] | None:
    row = canonical.of_skill(skill)
    return {"name": str(row), "version": row.number, "digest": row.digest} if row else None


def channels_of(skill: Skill, actor: Actor) -> dict[str, str]:
    """Version numbers by channel; a held one is nobody's."""
    rows = skill.channels.filter(version__in=Version.objects.visible_to(actor))
    return dict(rows.order_by("name").values_list("name", "version__number"))


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
        "created_at": moment(version.created_at),
        "yanked_at": moment(version.yanked_at),
        "yank_reason": version.yank_reason,
        "deprecated_at": moment(version.deprecated_at),
        "deprecation": version.deprecation,
        "successor": version.successor,
        "held": version.is_held,
        "url": api_address(*address),
        "files_url": api_address(*address, "files"),
        "archive_url": api_address(*address, "archive"),
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
        "problems": [each.document(gettext) for each in publishing.problems_of(version)],
        "preparation": readiness(version),
        "channels": sorted(version.channels.values_list("name", flat=True)),
        "notices": [each.document(gettext) for each in catalog.notices(version, actor)],
    }


def file_document(version: Version, file: File) -> dict[str, Any]:
    return {
        "path": file.path,
        "size": file.size,
        "digest": file.digest,
        "is_text": file.is_text,
        "executable": file.executable,
        "url": api_address("skills", str(version.skill), "versions", version.number, "files", file.path),
    }


class Doc(serializers.Serializer[Any]):
    """An object of an answer."""


class ProblemDoc(Doc):
    code = serializers.CharField()
    severity = serializers.ChoiceField(choices=["error", "warning", "notice"])
    message = serializers.CharField()
    path = serializers.CharField(help_text="A file of the package, a field of the body or a parameter.")
    line = serializers.IntegerField(allow_null=True, help_text="From 1.")
    remedy = serializers.CharField()


class ErrorDoc(Doc):
    """Every failure: a stable code to act on, texts in the language of Accept-Language."""

    code = serializers.CharField(help_text="Stable; listed at `/api/v1/errors`.")
    message = serializers.CharField()
    remedy = serializers.CharField(help_text="What to do about it.")
    retryable = serializers.BooleanField(help_text="Whether the same request may succeed later.")
    docs_url = serializers.URLField()
    request_id = serializers.CharField(help_text="The answer's `X-Request-ID`.")
    problems = ProblemDoc(many=True)


class SkillDoc(Doc):
    id = serializers.CharField(help_text="Opaque and stable.")
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
    deprecation = serializers.CharField(help_text="Why, and what to do instead.")
    gone = serializers.ChoiceField(choices=["", "merged", "purged"], help_text="Told by changes alone.")
    version = serializers.CharField(allow_null=True, help_text="The latest; null where none is to be used.")
    digest = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    url = serializers.URLField()
    page = serializers.URLField(help_text="The page for people.")


class CanonicalNameDoc(Doc):
    name = serializers.CharField(help_text="`_canonical_<slug>`.")
    version = serializers.CharField()
    digest = serializers.CharField()


class SkillDetailDoc(SkillDoc):
    successor = serializers.CharField(allow_null=True, help_text="What takes its place, if you may see it.")
    channels = serializers.DictField(child=serializers.CharField(), help_text="Version numbers by name.")
    canonical = CanonicalNameDoc(
        allow_null=True, help_text="Where administrators vouch for it, in one version."
    )


class VersionSummaryDoc(Doc):
    id = serializers.CharField()
    skill = serializers.CharField()
    version = serializers.CharField()
    digest = serializers.CharField(help_text="`sha256:…` of the archive.")
    size = serializers.IntegerField(help_text="Bytes of the archive.")
    profile = serializers.CharField()
    changelog = serializers.CharField()
    created_at = serializers.DateTimeField()
    yanked_at = serializers.DateTimeField(allow_null=True)
    yank_reason = serializers.CharField()
    deprecated_at = serializers.DateTimeField(allow_null=True)
    deprecation = serializers.CharField()
    successor = serializers.CharField(help_text="The number to use instead.")
    held = serializers.BooleanField(help_text="Held by a scan: shown to its team, got by nobody.")
    url = serializers.URLField()
    files_url = serializers.URLField()
    archive_url = serializers.URLField()


class VersionDoc(VersionSummaryDoc):
    version_as_written = serializers.CharField()
    published_by = serializers.CharField(allow_null=True, help_text="For those signed in.")
    provenance = serializers.DictField(help_text="Where an import read it: repository, commit, path …")
    manifest = serializers.DictField(help_text="The typed front matter, unknown fields included.")
    body = serializers.CharField(help_text="SKILL.md without its front matter.")
    problems = ProblemDoc(many=True)
    preparation = serializers.ChoiceField(
        choices=READINESS, help_text="What it depends on, to be made or made."
    )
    channels = serializers.ListField(child=serializers.CharField())
    notices = ProblemDoc(many=True, help_text="What its user should know: yanked, deprecated.")


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


def page_shape(shape: type[Doc]) -> serializers.Serializer[Any]:
    """The documentation of a page of these."""
    from drf_spectacular.utils import inline_serializer

    name = shape.__name__.removesuffix("Doc") + "Page"
    fields = {
        "items": shape(many=True),
        "next_cursor": serializers.CharField(allow_null=True, help_text="Null on the last page."),
    }
    return inline_serializer(name, fields)
