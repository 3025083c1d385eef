"""Imports: a team's sources, a new one, and the report of what became of each folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal.forms.imports import ImportForm, OutcomeFilter
from portal.forms.refusals import add_refusal, say
from registry.actors import Actor
from registry.imports import queue, sources
from registry.imports.drift import look, published_over
from registry.imports.report import counts_of, problems_of
from registry.middleware import ActorRequest
from registry.models import Import, ImportRow, ImportStatus, Skill, Source, Team
from registry.packages.problems import Problem, Refused, refuse
from registry.permissions import Action, may

PAGE = 50
_ENDED = (ImportStatus.DONE, ImportStatus.FAILED)


@dataclass(frozen=True)
class Row:
    """A source as the list shows it."""

    source: Source
    last: Import | None
    counts: list[tuple[str, int]]  # of the last import: outcome and how often
    drifted: list[Skill]  # published another way since
    may_import: bool


@dataclass(frozen=True)
class Seen:
    """A row of a report: its problems in words, and its skill where the reader may see it."""

    row: ImportRow
    problems: list[dict[str, object]]
    skill: Skill | None


@never_cache
@login_required
@require_safe
def listing(request: ActorRequest) -> HttpResponse:
    own = Source.objects.visible_to(request.actor).select_related("team").order_by("team__slug", "-pk")
    if slug := request.GET.get("team", "")[:64]:
        own = own.filter(team__slug=slug)
    pages = Paginator(own, PAGE).get_page(request.GET.get("page"))
    rows = [_row(source, request.actor) for source in pages]
    return render(request, "imports/list.html", {"rows": rows, "page": pages, "team": slug})


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    teams = _teams(request.actor)
    if request.method == "GET":
        form = ImportForm(teams=teams, initial={"team": request.GET.get("team")})
        return render(request, "imports/new.html", {"form": form, "can": teams.exists()})
    form = ImportForm(request.POST, request.FILES, teams=teams)
    if form.is_valid():
        try:
            return redirect("import", _asked(form, request.actor).uid)
        except Refused as refused:
            add_refusal(form, refused)
    return render(request, "imports/new.html", {"form": form, "can": True}, status=422)


@never_cache
@login_required
@require_safe
def page(request: ActorRequest, uid: str) -> HttpResponse:
    """The report; it refreshes itself while the import goes on."""
    report = sources.find_report(uid, request.actor)
    return render(request, "imports/report.html", _context(request, report))


@never_cache
@login_required
@require_safe
def live(request: ActorRequest, uid: str) -> HttpResponse:
    """The part of the report that changes."""
    report = sources.find_report(uid, request.actor)
    return render(request, "imports/progress.html", _context(request, report))


@login_required
@require_POST
def again(request: ActorRequest, uid: str) -> HttpResponse:
    source = sources.find(uid, request.actor)
    try:
        return redirect("import", queue.request(source, request.actor).uid)
    except Refused as refused:
        say(request, refused)
    return redirect("imports")


@login_required
@require_POST
def compare(request: ActorRequest, uid: str) -> HttpResponse:
    """Whether the repository has gone on since it was imported; nothing of it is read."""
    source = sources.find(uid, request.actor)
    try:
        found = look(source, request.actor)
        said = _("%(place)s has gone on since it was imported: it is at %(now)s.")
        same = _("%(place)s is as it was imported, at %(now)s.")
        now = {"place": source.location, "now": found.now[:12]}
        messages.info(request, (said if found.is_ahead else same) % now)
    except Refused as refused:
        say(request, refused)
    return redirect("imports")


@login_required
@require_POST
def remove(request: ActorRequest, uid: str) -> HttpResponse:
    source = sources.find(uid, request.actor)
    try:
        sources.remove(source, request.actor)
        messages.success(request, _("The source is forgotten; its skills stay."))
    except Refused as refused:
        say(request, refused)
    return redirect("imports")


def _asked(form: ImportForm, actor: Actor) -> Import:
    """The source is kept and asked for."""
    given = form.cleaned_data
    upload = given["content"]
    if upload and upload.size > settings.SKILLQUAY_IMPORT_ARCHIVE_BYTES:
        most = settings.SKILLQUAY_IMPORT_ARCHIVE_BYTES
        raise refuse("ARCHIVE_TOO_LARGE", path="content", size=upload.size, limit=most)
    is_upload = given["kind"] == "archive"
    source = sources.described(
        actor,
        team=given["team"],
        kind=given["kind"],
        location=upload.name if is_upload else given["location"].strip(),
        options=form.options,
        content=upload.read() if is_upload else None,
    )
    sources.keep(source, actor, visibility=given["visibility"], interval_s=given["interval_s"])
    return queue.request(source, actor)


def _row(source: Source, actor: Actor) -> Row:
    last = source.imports.order_by("-pk").first()
    counts = [(outcome, number) for outcome, number in counts_of(last).items() if number] if last else []
    allowed = may(actor, Action.PUBLISH, team=source.team)
    return Row(source, last, counts, published_over(source, actor), allowed)


def _context(request: ActorRequest, report: Import) -> dict[str, Any]:
    chosen = OutcomeFilter(request.GET)
    rows = report.rows.order_by("pk")
    if chosen.is_valid() and (outcome := chosen.cleaned_data["outcome"]):
        rows = rows.filter(outcome=outcome)
    pages = Paginator(rows, PAGE).get_page(request.GET.get("page"))
    return {
        "report": report,
        "source": report.source,
        "ended": report.status in _ENDED,
        "counts": counts_of(report),
        "total": report.rows.count(),
        "outcome": request.GET.get("outcome", ""),
        "problems": _documents(problems_of(report)),
        "page": pages,
        "rows": _seen(pages.object_list, report, request.actor),
        "may_import": may(request.actor, Action.PUBLISH, team=report.source.team),
    }


def _seen(rows: Any, report: Import, actor: Actor) -> list[Seen]:
    slugs = [row.skill.rpartition("/")[2] for row in rows if row.skill]
    visible = Skill.objects.visible_to(actor).filter(team=report.source.team, slug__in=slugs)
    skills = {skill.slug: skill for skill in visible.select_related("team")}
    return [Seen(row, _documents(problems_of(row)), skills.get(row.skill.rpartition("/")[2])) for row in rows]


def _documents(problems: tuple[Problem, ...]) -> list[dict[str, object]]:
    return [problem.document(_) for problem in problems]


def _teams(actor: Actor) -> QuerySet[Team]:
    """The teams for which the actor may import."""
    seen = Team.objects.visible_to(actor).order_by("slug")
    return seen.filter(pk__in=[team.pk for team in seen if may(actor, Action.PUBLISH, team=team)])
