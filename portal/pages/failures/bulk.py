"""Changes several error groups at once, and reports the groups that stayed as they were."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.decorators import signed_in_action
from portal.forms.errors import problem_text
from portal.pages.failures.forms import version_numbers, version_to_resolve
from registry.core.sql import read_together
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.packages.problems import Refusal
from worker.failures import changes
from worker.failures.groups import versions_of
from worker.models import ErrorGroup

MAX_SELECTED = 25  # as many as a page of the list has


@signed_in_action
def act(request: ActorRequest) -> HttpResponse:
    """Assigns, resolves or reopens the selected groups, and reports for which of them that failed. Ignores
    groups that the actor can't see. Raises BadRequest for an unknown action.
    """
    change = _change(request)
    if change is None:
        messages.error(request, _("Choose the person to assign."))
        return redirect(_back(request))
    uids = sorted(set(request.POST.getlist("group")))[:MAX_SELECTED]
    visible = ErrorGroup.objects.visible_to(request.actor).filter(uid__in=uids)
    groups = visible.select_related("skill__team").order_by("uid")
    done, refused = _each(groups, change)
    if done:
        text = ngettext("%(n)s error group changed.", "%(n)s error groups changed.", done)
        messages.success(request, text % {"n": done})
    for (code, why), number in refused.items():
        text = ngettext(
            "Can't change %(n)s error group: %(why)s", "Can't change %(n)s error groups: %(why)s", number
        )
        messages.error(request, text % {"n": number, "why": why}, extra_tags=code)
    if not done and not refused:
        messages.error(request, _("Select at least one error group."))
    return redirect(_back(request))


def _change(request: ActorRequest) -> Callable[[ErrorGroup], None] | None:
    """The change that the pressed button requests; None if it assigns the groups and no person is chosen."""
    actor = request.actor
    match request.POST.get("action"):
        case "assign":
            user = request.POST.get("user", "")
            name = "" if user == "-" else user
            return (lambda group: changes.assign(group, name, actor)) if user else None
        case "resolve":
            return lambda group: changes.resolve(group, _version_to_resolve(group, actor), actor)
        case "reopen":
            return lambda group: changes.reopen(group, actor)
        case _:
            raise BadRequest


def _version_to_resolve(group: ErrorGroup, actor: Actor) -> str:
    numbers, failing = read_together(version_numbers.reads(group), versions_of.reads(group, actor))
    return version_to_resolve(numbers, failing)


def _back(request: ActorRequest) -> str:
    """The URL in the form's ``next`` field if it is on this site, otherwise the URL of the list."""
    address = request.POST.get("next", "")
    return address if url_has_allowed_host_and_scheme(address, None) else reverse("failures")


def _each(
    groups: Iterable[ErrorGroup], change: Callable[[ErrorGroup], None]
) -> tuple[int, dict[tuple[str, str], int]]:
    """Changes each group in a transaction of its own. Returns the number of changed groups, and the number of
    groups for each code and text of a refusal.
    """
    done, refused = 0, dict[tuple[str, str], int]()
    for group in groups:
        try:
            change(group)
            done += 1
        except Refusal as refusal:
            problem = refusal.problems[0]
            key = problem.code, problem_text(problem)
            refused[key] = refused.get(key, 0) + 1
    return done, refused
