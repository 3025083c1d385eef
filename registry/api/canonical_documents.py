"""Canonical skills as the JSON objects of the API, what may be asked about them, and the shapes of both."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers

from registry import comparing
from registry.api.comparing import ComparisonDoc
from registry.api.documents import Doc, ProblemDoc, api_address
from registry.api.imports import SourceDoc, source_document
from registry.api.shapes import Query, Shape, StrictText
from registry.canonical import PREFIX, proposing, setting, trouble_of
from registry.canonical.proposing import Proposal
from registry.models import Canonical, CanonicalChange, CanonicalDeed, UseKind, Version
from registry.moments import moment

_DIGEST = "Of what was looked at: refused as CANONICAL_MOVED where it is another by now."


class PinDoc(Doc):
    skill = serializers.CharField(help_text="`team/slug`.")
    version = serializers.CharField()
    digest = serializers.CharField()


class CanonicalDoc(Doc):
    name = serializers.CharField(help_text="`_canonical_<slug>`, wherever a skill is named.")
    slug = serializers.CharField()
    pinned = PinDoc(
        allow_null=True, help_text="What is answered; null while nothing of a mirror is accepted."
    )
    unavailable = serializers.CharField(help_text="Why it cannot be answered at present; empty where it is.")
    follows = serializers.CharField(
        help_text="The channel whose newer versions are proposed; empty for none."
    )
    since = serializers.DateTimeField()
    mirror = SourceDoc(allow_null=True, help_text="Where it is copied from; for administrators.")
    mirror_problems = ProblemDoc(many=True, help_text="Why it could not be read last; for administrators.")
    waiting = PinDoc(allow_null=True, help_text="What waits for a decision; for administrators.")
    url = serializers.URLField()
    text_url = serializers.URLField()
    archive_url = serializers.URLField()


class AffectedDoc(Doc):
    caller = serializers.CharField(help_text="A username, `anonymous` or `shell`.")
    teams = serializers.ListField(child=serializers.CharField())
    count = serializers.IntegerField()
    last_kind = serializers.ChoiceField(choices=UseKind.choices)
    last_used_at = serializers.DateTimeField()


class ProposalDoc(Doc):
    slug = serializers.CharField()
    before = PinDoc(allow_null=True)
    after = PinDoc(help_text="What would be answered, to the byte.")
    asks_more = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="What the new one may do beyond the old.",
    )
    affected = AffectedDoc(many=True, help_text="Who got it by its canonical name, the latest first.")
    comparison = ComparisonDoc(allow_null=True)


class CanonicalChangeDoc(Doc):
    id = serializers.CharField()
    deed = serializers.ChoiceField(choices=CanonicalDeed.choices)
    at = serializers.DateTimeField()
    by = serializers.CharField(allow_null=True)
    before = serializers.CharField(help_text="`team/slug@version`.")
    before_digest = serializers.CharField()
    after = serializers.CharField()
    after_digest = serializers.CharField()
    reason = serializers.CharField()


class CanonicalRequest(Shape):
    skill = StrictText(max_length=130, help_text="`team/slug`, of the same slug, site or public.")
    version = StrictText(
        max_length=64, required=False, help_text="A number or a channel; the latest if not said."
    )
    digest = StrictText(max_length=71, required=False, help_text=_DIGEST)
    follows = StrictText(max_length=32, required=False, allow_blank=True, default=proposing.LATEST)
    reason = StrictText(max_length=500)


class MirrorRequest(Shape):
    team = StrictText(max_length=64, help_text="Whose skill the copy is.")
    location = StrictText(max_length=2000, help_text="`https://`, `s3://` or `gs://`.")
    options = serializers.DictField(required=False, help_text="`credentials`: a name of the site's.")
    interval_s = serializers.IntegerField(required=False, default=setting.MIRRORED_EVERY_S)
    reason = StrictText(max_length=500)


class Acceptance(Shape):
    digest = StrictText(max_length=71, help_text=_DIGEST)
    reason = StrictText(max_length=500, required=False, default="", allow_blank=True)


class Rejection(Shape):
    digest = StrictText(max_length=71, help_text=_DIGEST)
    reason = StrictText(max_length=500)


class Reason(Shape):
    reason = StrictText(max_length=500)


class ProposalQuery(Query):
    skill = serializers.CharField(required=False, max_length=130, help_text="If not said, what waits.")
    version = serializers.CharField(required=False, max_length=64)


class TextQuery(Query):
    dir = serializers.RegexField(
        r"^[^\x00-\x1f\x7f]+$",
        required=False,
        max_length=1000,
        help_text="Where you have the files; if not said, their address here.",
    )


def files_address(version: Version) -> str:
    return api_address("skills", str(version.skill), "versions", version.number, "files")


def canonical_document(row: Canonical, *, is_setter: bool) -> dict[str, Any]:
    reason = trouble_of(row) if row.digest else None
    waiting = proposing.waiting(row) if is_setter else None
    address = ("skills", PREFIX, row.slug, "versions", "latest", "archive")
    return {
        "name": str(row),
        "slug": row.slug,
        "pinned": _pin(str(row.skill), row.number, row.digest) if row.digest else None,
        "unavailable": reason.translated(gettext) if reason else "",
        "follows": row.follows,
        "since": moment(row.since),
        "mirror": source_document(row.mirror) if row.mirror and is_setter else None,
        "mirror_problems": _mirror_problems(row) if is_setter else [],
        "waiting": _pin_of(waiting) if waiting else None,
        "url": api_address("canonical", row.slug),
        "text_url": api_address("canonical", row.slug, "text"),
        "archive_url": api_address(*address),
    }


def _mirror_problems(row: Canonical) -> list[dict[str, object]]:
    report = setting.last_import(row)
    return [each.document(gettext) for each in setting.mirror_problems(report)] if report else []


def proposal_document(found: Proposal) -> dict[str, Any]:
    comparison = None
    if found.before:
        comparison = comparing.document(found.before, found.after, with_texts=True, translate=gettext)
    return {
        "slug": found.slug,
        "before": _pin_of(found.before) if found.before else None,
        "after": _pin_of(found.after),
        "asks_more": {name: sorted(names) for name, names in vars(found.asks_more).items() if names},
        "affected": [{**vars(one), "last_used_at": moment(one.last_used_at)} for one in found.affected],
        "comparison": comparison,
    }


def change_document(change: CanonicalChange) -> dict[str, Any]:
    return {
        "id": change.uid,
        "deed": change.deed,
        "at": moment(change.at),
        "by": change.by.username if change.by else None,
        "before": change.before,
        "before_digest": change.before_digest,
        "after": change.after,
        "after_digest": change.after_digest,
        "reason": change.reason,
    }


def _pin_of(version: Version) -> dict[str, str]:
    return _pin(str(version.skill), version.number, version.digest)


def _pin(skill: str, number: str, digest: str) -> dict[str, str]:
    return {"skill": skill, "version": number, "digest": digest}
