"""The actions that rebuild the dependencies of a version, cancel builds and choose a runtime."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action
from portal.forms.errors import show_refusals
from portal.pages.skill.views.skill import version_at
from registry.identity.middleware import ActorRequest
from worker.dependencies.runtimes.choice import choose_runtime
from worker.dependencies.status import cancel_builds, rebuild_dependencies


@signed_in_action
def again(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    version = version_at(request, team, slug, number)
    with show_refusals(request):
        rebuild_dependencies(version, request.actor)
        messages.success(request, _("The dependencies are being built."))
    return redirect("version", version.skill.team.slug, version.skill.slug, version.number)


@signed_in_action
def cancel(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    version = version_at(request, team, slug, number)
    with show_refusals(request):
        if cancel_builds(version, request.actor):
            messages.success(request, _("Build cancelled. To build the dependencies again, press Retry."))
    return redirect("version", version.skill.team.slug, version.skill.slug, version.number)


@signed_in_action
def choose(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    """Sets or removes the version's runtime."""
    version = version_at(request, team, slug, number)
    with show_refusals(request):
        choose_runtime(version, request.POST.get("runtime", "")[:32], request.actor)
        messages.success(request, _("Runtime saved."))
    return redirect("version", version.skill.team.slug, version.skill.slug, version.number)
