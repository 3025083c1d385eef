"""Views of imports: the list of sources, the form for a new source, and the report of an import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Max
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action, signed_in_form, signed_in_page
from portal.forms.errors import add_refusals, show_refusals
from portal.forms.resumable_uploads import attach_uploads
from portal.forms.team_choice import has_team_to_publish, publishing_teams
from portal.pages.imports.forms import ImportForm, OutcomeFilter
from portal.pages.imports.presenters import option_texts
from registry.core.sql import evaluate
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, may
from registry.imports import queue, sources
from registry.imports.drift import check_source, overwritten_skills
from registry.imports.report import count_outcomes, first_problems, load_problems, phase_of
from registry.models import Import, ImportOutcome, ImportRow, ImportStatus, Skill, Source
from registry.packages.errors import ARCHIVE_TOO_LARGE
from registry.packages.problems import Problem

PAGE = 50
_ENDED = (ImportStatus.DONE, ImportStatus.FAILED)


@signed_in_page
def listing(request: ActorRequest) -> HttpResponse:
    own = Source.objects.visible_to(request.actor).select_related("team").order_by("team__slug", "-pk")
    if slug := request.GET.get("team", "")[:64]:
        own = own.filter(team__slug=slug)
    pages = Paginator(own, PAGE).get_page(request.GET.get("page"))
    rows = _rows(list(pages), request.actor)
    return render(request, "imports/list.html", {"rows": rows, "page": pages, "team": slug})


@signed_in_form
def new(request: ActorRequest) -> HttpResponse:
    teams = publishing_teams(request.actor)
    if request.method == "GET":
        chosen = request.GET.get("team", "")
        form = ImportForm(teams=teams, initial={"team": chosen})
        return render(request, "imports/new.html", {"form": form, "can": has_team_to_publish(teams, chosen)})
    attach_uploads(request)
    form = ImportForm(request.POST, request.FILES, teams=teams)
    if form.is_valid():
        with add_refusals(form):
            return redirect("import", _request_import(form, request.actor).uid)
    return render(request, "imports/new.html", {"form": form, "can": True}, status=422)


@signed_in_page
def page(request: ActorRequest, uid: str) -> HttpResponse:
    """Shows the report of an import; the page refreshes itself until the import ends."""
    report = sources.find_import(uid, request.actor)
    return render(request, "imports/report.html", _context(request, report))


@signed_in_page
def live(request: ActorRequest, uid: str) -> HttpResponse:
    """Renders only the part of the report page that changes during the import."""
    report = sources.find_import(uid, request.actor)
    return render(request, "imports/progress.html", _context(request, report) | {"is_part": True})


@signed_in_action
def again(request: ActorRequest, uid: str) -> HttpResponse:
    source = sources.find_source(uid, request.actor)
    with show_refusals(request):
        return redirect("import", queue.request_import(source, request.actor).uid)
    return redirect("imports")


@signed_in_action
def cancel(request: ActorRequest, uid: str) -> HttpResponse:
    report = sources.find_import(uid, request.actor)
    with show_refusals(request):
        if queue.cancel_import(report, request.actor):
            messages.success(request, _("Import cancelled. Skills that it had already published stay."))
    return redirect("import", uid)


@signed_in_action
def compare(request: ActorRequest, uid: str) -> HttpResponse:
    """Checks whether a git repository has changed since the last import, without fetching its files."""
    source = sources.find_source(uid, request.actor)
    with show_refusals(request):
        found = check_source(source, request.actor)
        changed = _("%(place)s has changed since the last import (now at commit %(now)s).")
        same = _("%(place)s has not changed since the last import (still at %(now)s).")
        now = {"place": source.location, "now": found.now[:12]}
        code = "SOURCE_CHANGED" if found.has_changes else "SOURCE_UNCHANGED"
        messages.info(request, (changed if found.has_changes else same) % now, extra_tags=code)
    return redirect("imports")


@signed_in_action
def remove(request: ActorRequest, uid: str) -> HttpResponse:
    source = sources.find_source(uid, request.actor)
    with show_refusals(request):
        sources.remove_source(source, request.actor)
        messages.success(request, _("Source removed. Its skills are kept."))
    return redirect("imports")


def _request_import(form: ImportForm, actor: Actor) -> Import:
    """Saves the source and requests its import. Raises Refusal, such as ARCHIVE_TOO_LARGE."""
    given = form.cleaned_data
    upload = given["content"]
    if upload and upload.size > settings.SKILLQUAY_MAX_IMPORT_ARCHIVE_BYTES:
        raise ARCHIVE_TOO_LARGE.refusal(
            size=upload.size, limit=settings.SKILLQUAY_MAX_IMPORT_ARCHIVE_BYTES
        ).at("content")
    is_upload = given["kind"] == "archive"
    source = sources.prepare_source(
        actor,
        team=given["team"],
        kind=given["kind"],
        location=upload.name if is_upload else given["location"].strip(),
        options=form.options,
        content=upload.read() if is_upload else None,
    )
    sources.save_source(source, actor, visibility=given["visibility"], interval_s=given["interval_s"])
    return queue.request_import(source, actor)


def _rows(sources: Sequence[Source], actor: Actor) -> list[dict[str, Any]]:
    """Sources for templates, each with its last import (None if there is none) and that import's outcomes.

    ``overwritten`` contains the visible skills of the source whose latest version was not imported.
    """
    imports = Import.objects.filter(source__in=sources).order_by()
    last = imports.values("source").annotate(last=Max("pk")).values("last")
    newest, skills = imports.filter(pk__in=last), overwritten_skills(sources, actor)
    outcomes = ImportRow.objects.filter(report__in=last).order_by().values_list("report", "outcome")
    counted = outcomes.annotate(count=Count("pk"))
    evaluate(newest, counted, skills)
    by_source = {report.source_id: report for report in newest}
    counts = {(report, outcome): number for report, outcome, number in counted}
    return [
        {
            "source": source,
            "options": option_texts(source),
            "last": (report := by_source.get(source.pk)),
            "counts": [
                (outcome, number)
                for outcome in ImportOutcome.values
                if report and (number := counts.get((report.pk, outcome)))
            ],
            "failure": _failure(report),
            "overwritten": [skill for skill in skills if skill.origin_id == source.pk],
            "may_import": may(actor, Action.PUBLISH, team=source.team),
        }
        for source in sources
    ]


def _failure(report: Import | None) -> str:
    """The first reason why the import failed; "" if it did not."""
    problems = load_problems(report) if report and report.status == ImportStatus.FAILED else ()
    return problems[0].message(_) if problems else ""


def _context(request: ActorRequest, report: Import) -> dict[str, Any]:
    chosen = OutcomeFilter(request.GET)
    rows = report.rows.order_by("pk")
    if chosen.is_valid() and (outcome := chosen.cleaned_data["outcome"]):
        rows = rows.filter(outcome=outcome)
    pages = Paginator(rows, PAGE).get_page(request.GET.get("page"))
    phase = phase_of(report)
    return {
        "report": report,
        "source": report.source,
        "options": option_texts(report.source),
        "phase": phase,
        "done": report.processed if phase == "publishing" else report.checked,
        "ended": report.status in _ENDED,
        "counts": count_outcomes(report),
        "total": report.rows.count(),
        "outcome": request.GET.get("outcome", ""),
        "problems": _documents(load_problems(report)),
        "cancelled": queue.is_cancelled(report),
        "page": pages,
        "rows": _report_rows(pages.object_list, report, request.actor),
        "may_import": may(request.actor, Action.PUBLISH, team=report.source.team),
    }


def _report_rows(rows: Any, report: Import, actor: Actor) -> list[dict[str, Any]]:
    """The rows with their translated problems and skills. A skill is None if the actor can't see it."""
    slugs = [row.skill.rpartition("/")[2] for row in rows if row.skill]
    visible = Skill.objects.visible_to(actor).filter(team=report.source.team, slug__in=slugs)
    skills = {skill.slug: skill for skill in visible.select_related("team")}
    found = []
    for row in rows:
        problems, omitted = first_problems(row)
        skill = skills.get(row.skill.rpartition("/")[2])
        found.append({"row": row, "problems": _documents(problems), "omitted": omitted, "skill": skill})
    return found


def _documents(problems: tuple[Problem, ...]) -> list[dict[str, object]]:
    return [problem.document(_) for problem in problems]
