"""Views that reload one part of a version's page."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal.pages.skill.views.skill import version_at
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.models import Version


def live_part(name: str, load: Callable[[Version, Actor], Any]) -> Callable[..., HttpResponse]:
    """A view that renders ``skill/NAME.html``. The template gets the result of ``load`` as the
    variable NAME.
    """

    @require_safe
    def view(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
        version = version_at(request, team, slug, number)
        context = {"skill": version.skill, "version": version, name: load(version, request.actor)}
        return render(request, f"skill/{name}.html", context)

    return view
