from typing import Any

from rest_framework import serializers

from registry.api.documents.doc import Doc
from registry.api.schema import Shape, StrictBoolean
from registry.core.time import rfc3339
from worker.models import ShareLink
from worker.sharing.links import DEFAULT_DAYS, MAX_DAYS, state_of

STATES = ("active", "revoked", "expired", "blocked")


class ShareLinkRequest(Shape):
    inputs = StrictBoolean(default=False, help_text="True also shows the inputs and arguments.")
    log = StrictBoolean(default=False, help_text="True also shows the log.")
    artifacts = StrictBoolean(default=False, help_text="True also offers the artifacts.")
    days = serializers.IntegerField(
        default=DEFAULT_DAYS, min_value=1, max_value=MAX_DAYS, help_text="Days until the link expires."
    )


class ShareLinkDoc(Doc):
    id = serializers.CharField()
    state = serializers.ChoiceField(
        choices=STATES,
        help_text=(
            "State of the link; `blocked` means that its creator can no longer share the run, or that "
            "the team allows no links."
        ),
    )
    inputs = serializers.BooleanField()
    log = serializers.BooleanField()
    artifacts = serializers.BooleanField()
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    revoked_at = serializers.DateTimeField(allow_null=True)


class NewShareLinkDoc(ShareLinkDoc):
    page_url = serializers.URLField(help_text="Address of the shared page. Shown only in this response.")


class ShareLinksDoc(Doc):
    items = ShareLinkDoc(many=True)


def link_document(link: ShareLink) -> dict[str, Any]:
    return {
        "id": link.uid,
        "state": state_of(link),
        "inputs": link.with_inputs,
        "log": link.with_log,
        "artifacts": link.with_artifacts,
        "created_by": link.created_by.username,
        "created_at": rfc3339(link.created_at),
        "expires_at": rfc3339(link.expires_at),
        "revoked_at": rfc3339(link.revoked_at),
    }
