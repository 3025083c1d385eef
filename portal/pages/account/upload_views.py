"""The action that discards an upload that was interrupted."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action
from portal.pages.account.preference_views import next_url
from registry.identity.middleware import ActorRequest
from registry.uploads.uploads import discard_upload, find_upload


@signed_in_action
def discard(request: ActorRequest, uid: str) -> HttpResponse:
    discard_upload(find_upload(uid, request.actor))
    messages.success(request, _("Upload discarded."))
    return redirect(next_url(request))
