"""The form that starts a run: from a schema, from a script's arguments, or as JSON; never a dead button."""

from __future__ import annotations

import json
from collections.abc import Mapping

from django.contrib.auth.views import redirect_to_login
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast, Length
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from portal.forms.file_field import Kept
from portal.showing.allowances import allowances
from portal.showing.asking import Asking, Before, schema_for
from portal.showing.permissions import verdict_of
from portal.showing.secrets import lacking_of
from portal.showing.skill_use import Offer, offer_of
from portal.showing.texts import json_text
from portal.views.skill import layout
from registry.actors import Actor
from registry.catalog import find_skill, find_version
from registry.middleware import ActorRequest
from registry.models import Role, Skill, Team
from registry.models.identity import new_uid
from registry.packages.problems import Problem, Refused
from registry.permissions import Action, may
from registry.teams import calling_team
from worker.inputs import store_input
from worker.models import Artifact, Run
from worker.protocols.call import Request
from worker.recording import streams_of
from worker.runs import request_run

_ARTIFACTS = 30  # of earlier runs, suggested as inputs
_HELP = {"help": ""}
_SHORT = 3_000  # characters of a request: asking for help takes no more
_LONGEST_HELP = 20_000


@never_cache
@require_http_methods(["GET", "POST"])
def page(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """The form, filled from ``?again=<run>`` or ``?inputs=<JSON>`` or as refused; a run leads to its page."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    if not request.actor.is_signed_in:
        return redirect_to_login(request.get_full_path())
    again = _again(request)
    named = request.POST.get("version") or request.GET.get("version")
    number = named or (again.version_number if again else None)
    offer = offer_of(find_version(skill, number, request.actor))
    if offer.menu.prompt and not (request.POST.get("script") or request.GET.get("script")):
        return _to_use(request, skill)
    if not offer.runnable or not may(request.actor, Action.RUN, skill=skill):
        return _nothing_to_press(request, offer)
    asking = _asking(request, offer, again)
    if request.method == "POST" and "more" not in request.POST and (run := _start(request, asking, again)):
        return redirect("run", run.uid)
    return _form(request, asking, again)


def _to_use(request: ActorRequest, skill: Skill) -> HttpResponse:
    """A prompt is used: by the same version, with the same arguments."""
    kept = {name: value for name in ("again", "version") if (value := request.GET.get(name))}
    if skill.found_as:
        kept["version"] = skill.found_as.number
    address = reverse("use", args=[skill.team.slug, skill.slug])
    return redirect(f"{address}?{urlencode(kept)}" if kept else address)


def _start(request: ActorRequest, asking: Asking, again: Run | None) -> Run | None:
    """The run, or None where the forms now say what is wrong."""
    if "help" in request.POST:
        return _ask_for_help(request, asking)
    if not asking.is_valid():
        return None
    try:
        return request_run(
            actor=request.actor,
            version=asking.offer.version,
            request=asking.request(lambda upload: _store(upload, request.actor)),
            team=asking.team,
            again_of=again,
            idempotency_key=_once(request),
            fresh=asking.fresh,
        )
    except Refused as refused:
        asking.take(refused.problems)
        return None


def _once(request: ActorRequest) -> str:
    """A form that is sent twice, as by a double click, starts one run."""
    once = request.POST.get("once", "")
    return f"form:{once[:40]}" if once else ""


def _ask_for_help(request: ActorRequest, asking: Asking) -> Run | None:
    """A run of the script with ``--help``: what it prints is shown beside the form from then on."""
    asking.is_valid()
    asked = Request(inputs=_HELP, script=asking.ask.given("script"))
    try:
        return request_run(actor=request.actor, version=asking.offer.version, request=asked, team=asking.team)
    except Refused as refused:
        for form in asking.forms:
            form.errors.clear()
        asking.take([Problem(problem.code, "", None, problem.params) for problem in refused.problems])
        return None


def _store(upload: UploadedFile[bytes], actor: Actor) -> Kept:
    stored = store_input(upload.chunks(), upload.name or "", actor)
    return Kept(stored.uid, stored.name, stored.size)


def _asking(request: ActorRequest, offer: Offer, again: Run | None) -> Asking:
    posted = request.method == "POST"
    query = request.POST if posted else request.GET
    tool = query.get("tool", "") or str((again.request.get("tool") if again else None) or "")
    tools = [one.name for one in offer.menu.tools]
    tool = tool if tool in tools else tools[0] if tools else ""
    same = again is not None and (again.request.get("tool") or "") in (tool, "")
    teams = _teams(request.actor)
    named = teams.filter(slug=query.get("team", "")[:64]).first()
    return Asking(
        offer,
        Before(again.request, named or again.team) if again and same else Before(_said(query), named),
        tool=tool,
        as_json=query.get("as") == "json",
        teams=teams,
        artifacts=_artifacts(request.actor),
        data=request.POST if posted else None,
        files=request.FILES if posted else None,
    )


def _said(query: QueryDict) -> Mapping[str, object]:
    """The script and the inputs, as JSON, that the address names; a form that is sent has its own."""
    try:
        inputs = json.loads(query.get("inputs", "null"))
        json.dumps(inputs, ensure_ascii=False).encode()  # no page holds a lone surrogate
    except (ValueError, RecursionError):
        inputs = None
    return {"script": query.get("script"), "inputs": inputs}


def _form(request: ActorRequest, asking: Asking, again: Run | None) -> HttpResponse:
    offer = asking.offer
    refused = any(form.is_bound and form.errors for form in asking.forms) and "more" not in request.POST
    team = asking.shown_team or calling_team(request.actor, offer.version.skill)
    context = layout(request, offer.version.skill, "run", version=offer.version) | {
        "asking": asking,
        "offer": offer,
        "again": again,
        "refused": refused,
        "as_json": asking.shape == "json",
        "can_switch": asking.shape != "json" or (request.GET.get("as") or request.POST.get("as")) == "json",
        "once": new_uid(),
        "schema_text": json_text(schema_for(offer, asking.tool)),
        "allowances": allowances(offer.manifest),
        "verdict": verdict_of(offer.version, request.actor, team),
        "lacking": lacking_of(offer.version, team),
        "curl": asking.curl(),
        "help": _help_output(request.actor, offer) if asking.shape == "arguments" else "",
    }
    return render(request, "run/form.html", context, status=422 if refused else 200)


def _nothing_to_press(request: ActorRequest, offer: Offer) -> HttpResponse:
    """Says why there is no form here, and what there is instead."""
    version = offer.version
    context = layout(request, version.skill, "run", version=version) | {
        "offer": offer,
        "files": version.files.order_by("path"),
    }
    return render(request, "run/nothing.html", context, status=403 if offer.runnable else 200)


def _again(request: ActorRequest) -> Run | None:
    uid = request.POST.get("again") or request.GET.get("again")
    if not uid:
        return None
    run = Run.objects.readable_by(request.actor).select_related("team").filter(uid=uid[:26]).first()
    if run is None:
        raise Http404
    return run


def _teams(actor: Actor) -> QuerySet[Team]:
    """The teams for which the actor may start runs."""
    keys = [team for team, role in actor.roles.items() if role != Role.VIEWER]
    return Team.objects.filter(pk__in=keys).order_by("slug")


def _artifacts(actor: Actor) -> list[tuple[str, str]]:
    runs = Run.objects.readable_by(actor).filter(caller=actor.user)
    rows = Artifact.objects.filter(run__in=runs).select_related("run").order_by("-id")[:_ARTIFACTS]
    return [(f"{row.run.uid}/{row.path}", f"{row.path} · {row.run.skill_label}") for row in rows]


def _help_output(actor: Actor, offer: Offer) -> str:
    """What the script printed when it was last asked for its help, by this person."""
    runs = Run.objects.readable_by(actor).filter(caller=actor.user, digest=offer.version.digest)
    short = runs.annotate(asked=Length(Cast("request", TextField()))).filter(asked__lt=_SHORT)
    rows = short.filter(finished_at__isnull=False).order_by("-id").values_list("pk", "request")
    asked = next((pk for pk, request in rows[:50] if request.get("inputs") == _HELP), None)
    run = runs.only("pk", "attempt").filter(pk=asked).first() if asked else None
    return "".join(streams_of(run, most=_LONGEST_HELP))[:_LONGEST_HELP] if run else ""
