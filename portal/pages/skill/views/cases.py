"""The action that runs the test cases of a version."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action
from portal.forms.errors import show_refusals
from portal.pages.skill.views.skill import version_at
from registry.identity.middleware import ActorRequest
from worker.cases.run_cases import run_cases


@signed_in_action
def run(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    version = version_at(request, team, slug, number)
    with show_refusals(request):
        run_cases(version, request.actor)
        messages.success(request, _("The test cases were started."))
    return redirect("version", version.skill.team.slug, version.skill.slug, version.number)
