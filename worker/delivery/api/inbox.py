from typing import Any

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag, pagination
from registry.api.documents.skills import Doc, api_url, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, PageQuery, Shape, StrictBoolean, StrictText, read_body, read_query
from registry.core.time import rfc3339
from registry.identity.permissions import Action
from worker.delivery import inbox
from worker.delivery.texts import event_document
from worker.models import Notification, NotificationKind

operation = Operations("notifications")
_READS = (Action.READ_RUNS,)


class NotificationsQuery(PageQuery):
    unread = serializers.BooleanField(default=False, help_text="Only unread notifications.")
    kind = serializers.ChoiceField(required=False, choices=NotificationKind.values)


class NotificationDoc(Doc):
    id = serializers.CharField()
    kind = serializers.ChoiceField(choices=NotificationKind.values)
    title = serializers.CharField()
    skill = serializers.CharField(allow_null=True, help_text="`team/slug`.")
    version = serializers.CharField(allow_null=True)
    run = serializers.CharField(allow_null=True)
    failure_code = serializers.CharField(allow_null=True)
    schedule = serializers.CharField(allow_null=True)
    at = serializers.DateTimeField()
    read_at = serializers.DateTimeField(allow_null=True)
    page_url = serializers.URLField()
    url = serializers.URLField()


class ReadRequest(Shape):
    read = StrictBoolean(help_text="False marks the notification as unread.")


class ReadManyRequest(Shape):
    ids = serializers.ListField(
        child=StrictText(max_length=26),
        required=False,
        max_length=200,
        help_text="The notifications to mark as read. Omit it to mark all.",
    )


class ReadManyDoc(Doc):
    changed = serializers.IntegerField()
    unread = serializers.IntegerField(help_text=f"Unread notifications, at most {inbox.MAX_COUNT}.")


class Notifications(Endpoint):
    required_actions = {"GET": _READS}
    requires_sign_in = True

    @operation(
        "list_notifications",
        "List notifications",
        query=NotificationsQuery,
        answer=page_schema(NotificationDoc),
    )
    def get(self, request: Request) -> HttpResponse:
        """Lists your notifications about objects that you can still see, newest first."""
        query = read_query(NotificationsQuery, request)
        rows = inbox.notifications(self.actor, unread=query["unread"])
        if "kind" in query:
            rows = rows.filter(event__kind=query["kind"])
        found, cursor = pagination.last_first(
            rows, pagination.read_page("notifications", query, kinds=(int,))
        )
        return etag.document_response(request, page_document([*map(notification_document, found)], cursor))


class NotificationDetail(Endpoint):
    required_actions = {"GET": _READS, "PATCH": _READS}
    requires_sign_in = True

    @operation("get_notification", "Get a notification", answer=NotificationDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Returns one of your notifications, without marking it as read."""
        return etag.document_response(request, notification_document(inbox.find(uid, self.actor)))

    @operation("update_notification", "Mark a notification as read", body=ReadRequest, answer=NotificationDoc)
    def patch(self, request: Request, uid: str) -> HttpResponse:
        """Marks the notification as read or unread."""
        found = inbox.find(uid, self.actor)
        inbox.mark_read(self.actor, [found.uid], read=read_body(ReadRequest, request.data)["read"])
        return etag.document_response(request, notification_document(inbox.find(uid, self.actor)))


class ReadNotifications(Endpoint):
    required_actions = {"POST": _READS}
    requires_sign_in = True

    @operation("read_notifications", "Mark notifications as read", body=ReadManyRequest, answer=ReadManyDoc)
    @idempotent(ReadManyRequest)
    def post(self, request: Request) -> HttpResponse:
        """Marks the given notifications, or all of yours, as read. Ids that you can't see are ignored."""
        body = read_body(ReadManyRequest, request.data)
        changed = inbox.mark_read(self.actor, body.get("ids"))
        document = {"changed": changed, "unread": inbox.unread_count(self.actor)}
        return etag.document_response(request, document)


def notification_document(row: Notification) -> dict[str, Any]:
    return event_document(row.event) | {
        "id": row.uid,
        "read_at": rfc3339(row.read_at),
        "url": api_url("notifications", row.uid),
    }
