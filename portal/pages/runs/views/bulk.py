"""Actions on several runs of a list: compare, run again, cancel."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.translation import gettext, ngettext

from portal.decorators import signed_in_action
from portal.pages.runs.views.batch import EDIT
from portal.pages.runs.views.run import start_again
from portal.pages.runs.views.run_list import PAGE
from portal.presenters.content.punctuation import labelled, sentences
from registry.identity.middleware import ActorRequest
from registry.packages.problems import Refusal
from registry.rates.limits import RateLimit, count_request
from worker.models import Run
from worker.runs.cancel import cancel


@signed_in_action
def act(request: ActorRequest) -> HttpResponse:
    """Repeats or cancels the selected runs, and reports the runs for which that failed. Ignores runs that the
    actor may not read.

    To compare or edit the runs, redirects to another page. At most ``PAGE`` runs are selected. Raises
    BadRequest for an unknown action.
    """
    uids = sorted(set(request.POST.getlist("run")))[:PAGE]
    action = request.POST.get("action")
    if action == "compare":
        return redirect(f"{reverse('runs-compare')}?{urlencode({'run': uids}, doseq=True)}")
    if action == EDIT and uids:
        query = {"action": EDIT, "ids": ",".join(uids), "next": _back(request)}
        return redirect(f"{reverse('run-batch-new')}?{urlencode(query)}")
    runs = Run.objects.readable_by(request.actor).filter(uid__in=uids).select_related("team")
    if action == "rerun":
        done, refused = _each(runs, lambda run: _run_again(request, run))
        text = ngettext("%(n)s run started.", "%(n)s runs started.", done)
    elif action == "cancel":
        done, refused = _each(runs, lambda run: cancel(run, actor=request.actor))
        text = ngettext(
            "Cancellation requested for %(n)s run.", "Cancellation requested for %(n)s runs.", done
        )
    else:
        raise BadRequest
    _report(request, text % {"n": done} if done else "", refused)
    return redirect(_back(request))


def _run_again(request: ActorRequest, run: Run) -> bool:
    count_request(request, request.actor, RateLimit.RUN)
    start_again(run, request.actor)
    return True


def _each(runs: Iterable[Run], action: Callable[[Run], bool]) -> tuple[int, list[str]]:
    """Calls ``action`` for each run. Returns the number of successes, and a message for each failure."""
    done, refused = 0, []
    for run in runs:
        try:
            problem = "" if action(run) else gettext("already ended")
        except Refusal as refusal:
            problem = refusal.problems[0].message(gettext)
        done += not problem
        if problem:
            refused.append(labelled(f"{run.skill_label} #{run.number}", problem))
    return done, refused


def _report(request: ActorRequest, text: str, refused: list[str]) -> None:
    if text:
        messages.success(request, text)
    if refused:
        head = ngettext(
            "The action failed for %(n)s run:", "The action failed for %(n)s runs:", len(refused)
        ) % {"n": len(refused)}
        shown = [*refused[:3], *(["…"] if len(refused) > 3 else [])]
        messages.error(request, sentences([head, *shown]))
    if not text and not refused:
        messages.error(request, gettext("Select at least one run whose content you can read."))


def _back(request: ActorRequest) -> str:
    """The URL in the form's ``next`` field if it is on this site, otherwise the URL of the run list."""
    address = request.POST.get("next", "")
    return address if url_has_allowed_host_and_scheme(address, None) else reverse("runs")
