"""Builds the JSON objects of a version's additions, and declares their serializers."""

from typing import Any

from rest_framework import serializers

from registry.additions.additions import ADDITION_KINDS
from registry.api.documents.doc import Doc
from registry.core.sql import Reads, reader
from registry.models import User, Version
from registry.versions.needs.offered_additions import earlier_additions, offered_additions


class AdditionDoc(Doc):
    kind = serializers.ChoiceField(choices=ADDITION_KINDS)
    name = serializers.CharField(help_text="The name of the library, program, host or secret.")
    added_by = serializers.CharField(
        allow_null=True, help_text="The user who added the item; null if the user no longer exists."
    )
    added_at = serializers.DateTimeField()


class AdditionOfferDoc(Doc):
    kind = serializers.ChoiceField(choices=ADDITION_KINDS)
    name = serializers.CharField()
    required = serializers.BooleanField(  # type: ignore[assignment]
        help_text="False if the scripts also work without the library."
    )


class EarlierAdditionDoc(Doc):
    kind = serializers.ChoiceField(choices=ADDITION_KINDS)
    name = serializers.CharField()


class EarlierAdditionsDoc(Doc):
    version = serializers.CharField()
    additions = EarlierAdditionDoc(many=True)


class AdditionsDoc(Doc):
    version = serializers.CharField()
    additions = AdditionDoc(many=True)
    offered = AdditionOfferDoc(
        many=True, help_text="Needs of the scripts that the package does not declare and that you can add."
    )
    unmapped = serializers.ListField(
        child=serializers.CharField(),
        help_text="Imported modules that you can't add, because Skillquay does not know their library.",
    )
    earlier = EarlierAdditionsDoc(
        allow_null=True,
        help_text="The next lower version, and those of its additions that this version needs but lacks.",
    )


@reader
def additions_document(version: Version) -> Reads[dict[str, Any]]:
    yield version.ordered_needs
    offered = offered_additions(version)
    present = {(row["kind"], row["name"]) for row in version.additions}
    earlier, rows = yield from earlier_additions.reads(version, offered)
    return {
        "version": version.number,
        "additions": addition_rows(version),
        "offered": [vars(each) for each in offered.offers if (each.kind, each.name) not in present],
        "unmapped": list(offered.unmapped),
        "earlier": earlier
        and {
            "version": earlier.number,
            "additions": [{"kind": kind, "name": name} for kind, name in rows],
        },
    }


def addition_rows(version: Version) -> list[dict[str, Any]]:
    """The additions of the version, with the names of the users who added them."""
    uids = {row["added_by"] for row in version.additions if row["added_by"]}
    names = dict(User.objects.filter(uid__in=uids).values_list("uid", "username")) if uids else {}
    return [{**row, "added_by": names.get(row["added_by"])} for row in version.additions]
