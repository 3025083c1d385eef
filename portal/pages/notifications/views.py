"""Views of the inbox."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import ngettext

from portal.decorators import signed_in_action, signed_in_page
from portal.pages.notifications.presenters import inbox_groups, inbox_tabs
from registry.identity.middleware import ActorRequest
from worker.delivery import inbox
from worker.delivery.texts import text_of

PAGE = 50


@signed_in_page
def inbox_page(request: ActorRequest) -> HttpResponse:
    """Lists the user's notifications, newest first; only unread ones with ``?show=unread``.

    Equal ones of a page are one entry.
    """
    unread = request.GET.get("show") == "unread"
    rows = inbox.notifications(request.actor, unread=unread).order_by("-pk")
    page = Paginator(rows, PAGE).get_page(request.GET.get("page"))
    tabs = inbox_tabs("unread" if unread else "all")
    context = {"groups": inbox_groups(page), "page": page, "tabs": tabs, "unread": unread}
    return render(request, "notifications/inbox.html", context)


@signed_in_page
def open_notification(request: ActorRequest, uid: str) -> HttpResponse:
    """Marks the notification as read and opens the page that it is about."""
    found = inbox.find(uid, request.actor)
    inbox.mark_read(request.actor, [found.uid])
    return redirect(text_of(found.event).path)


@signed_in_action
def read_all(request: ActorRequest) -> HttpResponse:
    """Marks the notifications in the form as read, or all notifications if the form names none."""
    chosen = request.POST.getlist("notification")[:PAGE] or None
    count = inbox.mark_read(request.actor, chosen)
    text = ngettext(
        "%(count)s notification marked as read.", "%(count)s notifications marked as read.", count
    )
    messages.success(request, text % {"count": count})
    return redirect("notifications")
