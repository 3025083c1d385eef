"""Serializers of requests and responses of canonical skills, and the functions that build the responses."""

from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers

from registry.api.documents.comparison import ComparisonDoc
from registry.api.documents.skills import Doc, ProblemDoc, api_url
from registry.api.documents.sources import SourceDoc
from registry.api.schema import Query, Shape, StrictText
from registry.canonical import pins, proposals
from registry.canonical.proposals import Proposal
from registry.core.time import rfc3339
from registry.lookup.canonical import PREFIX, unavailable_reason
from registry.models import Canonical, CanonicalChangeKind, UseKind, Version
from registry.versions.content import compare

_DIGEST = "The digest that you reviewed. The request fails with CANONICAL_MOVED if it has changed."


class PinnedVersionDoc(Doc):
    skill = serializers.CharField(help_text="`team/slug`.")
    version = serializers.CharField()
    digest = serializers.CharField()


class CanonicalDoc(Doc):
    name = serializers.CharField(help_text="`_canonical_<slug>`; works wherever the API takes a skill name.")
    slug = serializers.CharField()
    pinned = PinnedVersionDoc(
        allow_null=True, help_text="The pinned version; null for a mirror without an accepted version."
    )
    unavailable_reason = serializers.CharField(
        help_text="Why the canonical skill is unavailable; empty if it is available."
    )
    tracked_channel = serializers.CharField(
        help_text="The channel whose newer versions are proposed to administrators; empty for none."
    )
    set_at = serializers.DateTimeField()
    mirror = SourceDoc(
        allow_null=True,
        help_text="The source of the copy. Null if the skill is not a mirror, or if you are not an "
        "administrator.",
    )
    mirror_problems = ProblemDoc(
        many=True, help_text="Problems of the last import. Empty if you are not an administrator."
    )
    pending = PinnedVersionDoc(
        allow_null=True,
        help_text="The version that needs a decision. Null if there is none, or if you are not an "
        "administrator.",
    )
    url = serializers.URLField()
    text_url = serializers.URLField()
    archive_url = serializers.URLField()


class AffectedDoc(Doc):
    caller = serializers.CharField(help_text="The caller: a username, `anonymous` or `shell`.")
    teams = serializers.ListField(child=serializers.CharField())
    count = serializers.IntegerField()
    last_kind = serializers.ChoiceField(choices=UseKind.choices)
    last_used_at = serializers.DateTimeField()


class ProposalDoc(Doc):
    slug = serializers.CharField()
    before = PinnedVersionDoc(allow_null=True)
    after = PinnedVersionDoc(help_text="The version that would be pinned.")
    added_permissions = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="Permissions that the new version requests and the pinned version does not.",
    )
    affected = AffectedDoc(
        many=True, help_text="Callers of the canonical name, at most 1,000, most recent first."
    )
    comparison = ComparisonDoc(allow_null=True)


class CanonicalChangeDoc(Doc):
    id = serializers.CharField(source="uid")
    change = serializers.ChoiceField(choices=CanonicalChangeKind.choices)
    changed_at = serializers.DateTimeField(source="at")
    changed_by = serializers.CharField(source="by.username", allow_null=True)
    before = serializers.CharField(help_text="`team/slug@version`; empty if no version was pinned.")
    before_digest = serializers.CharField()
    after = serializers.CharField()
    after_digest = serializers.CharField()
    reason = serializers.CharField()


class CanonicalRequest(Shape):
    skill = StrictText(
        max_length=130,
        help_text="The skill to pin, as `team/slug`. Its current or a former slug must be that of the "
        "canonical name, and its visibility must be `site` or `public`.",
    )
    version = StrictText(
        max_length=64, required=False, help_text="A version number or a channel; default: latest."
    )
    digest = StrictText(max_length=71, required=False, help_text=_DIGEST)
    tracked_channel = StrictText(max_length=32, required=False, allow_blank=True, default=proposals.LATEST)
    reason = StrictText(max_length=500)


class MirrorRequest(Shape):
    team = StrictText(max_length=64, help_text="The team that owns the copy.")
    location = StrictText(max_length=2000, help_text="The URL to copy from: `https://`, `s3://` or `gs://`.")
    options = serializers.DictField(
        required=False,
        help_text=(
            "Options of the source; the only one is `credentials`, the name of credentials configured "
            "on the site."
        ),
    )
    interval_s = serializers.IntegerField(required=False, default=pins.MIRROR_INTERVAL_S)
    reason = StrictText(max_length=500)


class CanonicalAcceptRequest(Shape):
    digest = StrictText(max_length=71, help_text=_DIGEST)
    reason = StrictText(max_length=500, required=False, default="", allow_blank=True)


class CanonicalRejectRequest(Shape):
    digest = StrictText(max_length=71, help_text=_DIGEST)
    reason = StrictText(max_length=500)


class Reason(Shape):
    reason = StrictText(max_length=500)


class ProposalQuery(Query):
    skill = serializers.CharField(
        required=False,
        max_length=130,
        help_text="The skill to preview, as `team/slug`; default: the pending version.",
    )
    version = serializers.CharField(required=False, max_length=64)


class TextQuery(Query):
    dir = serializers.RegexField(
        r"^[^\x00-\x1f\x7f]+$",
        required=False,
        max_length=1000,
        help_text="The folder with your copy of the files; default: the URL of the files on this site.",
    )


def files_url(version: Version) -> str:
    return api_url("skills", str(version.skill), "versions", version.number, "files")


def canonical_document(row: Canonical, *, is_setter: bool) -> dict[str, Any]:
    reason = unavailable_reason(row) if row.digest else None
    waiting = proposals.pending_version(row) if is_setter else None
    address = ("skills", PREFIX, row.slug, "versions", "latest", "archive")
    return {
        "name": str(row),
        "slug": row.slug,
        "pinned": _pin(str(row.skill), row.number, row.digest) if row.digest else None,
        "unavailable_reason": reason.translated(gettext) if reason else "",
        "tracked_channel": row.tracked_channel,
        "set_at": rfc3339(row.set_at),
        "mirror": SourceDoc.document(row.mirror) if row.mirror and is_setter else None,
        "mirror_problems": _mirror_problems(row) if is_setter else [],
        "pending": _pin_of(waiting) if waiting else None,
        "url": api_url("canonical", row.slug),
        "text_url": api_url("canonical", row.slug, "text"),
        "archive_url": api_url(*address),
    }


def _mirror_problems(row: Canonical) -> list[dict[str, object]]:
    report = pins.last_import(row)
    return [each.document(gettext) for each in pins.mirror_problems(report, row.slug)] if report else []


def proposal_document(found: Proposal) -> dict[str, Any]:
    comparison = None
    if found.before:
        comparison = compare.comparison_document(
            found.before, found.after, with_texts=True, translate=gettext
        )
    return {
        "slug": found.slug,
        "before": _pin_of(found.before) if found.before else None,
        "after": _pin_of(found.after),
        "added_permissions": {
            name: sorted(names) for name, names in vars(found.added_permissions).items() if names
        },
        "affected": [{**vars(one), "last_used_at": rfc3339(one.last_used_at)} for one in found.affected],
        "comparison": comparison,
    }


def _pin_of(version: Version) -> dict[str, str]:
    return _pin(str(version.skill), version.number, version.digest)


def _pin(skill: str, number: str, digest: str) -> dict[str, str]:
    return {"skill": skill, "version": number, "digest": digest}
