"""The action that changes the additions of a version."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action
from portal.forms.errors import show_refusals
from portal.pages.skill.views.skill import version_at
from registry.identity.middleware import ActorRequest
from registry.versions.needs.change_additions import set_additions
from registry.versions.needs.offered_additions import Addition

_MAX_ADDITIONS = 500


@signed_in_action
def change(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    """Adds the needs in ``add``, such as "host api.example.org", and removes those in ``remove``."""
    version = version_at(request, team, slug, number)
    add, remove = _read_additions(request, "add"), _read_additions(request, "remove")
    present = [(row["kind"], row["name"]) for row in version.additions]
    with show_refusals(request):
        set_additions(version, [*(each for each in present if each not in remove), *add], request.actor)
        messages.success(
            request,
            _("Saved the added libraries, hosts and secrets. Runs with new permissions may need approval."),
        )
    return redirect("version", version.skill.team.slug, version.skill.slug, version.number)


def _read_additions(request: ActorRequest, name: str) -> list[Addition]:
    pairs = (value.partition(" ") for value in request.POST.getlist(name)[:_MAX_ADDITIONS])
    return [(kind, rest[:200]) for kind, _space, rest in pairs]
