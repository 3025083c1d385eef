"""The overview of a skill, the pages of its versions, and the context that all tabs share."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from portal.context import navigation_counts
from portal.forms.version_changes import forms_for
from portal.pages.errors.views import SkillMoved
from portal.pages.skill.presenters import dependencies
from portal.pages.skill.presenters.additions import version_additions
from portal.pages.skill.presenters.modules import loaded_modules
from portal.pages.skill.presenters.plain_values import (
    AboutValues,
    ActionValues,
    ReportValues,
    detail_values,
    purpose_values,
    report_values,
    skill_values,
    version_values,
)
from portal.pages.skill.presenters.readme import readme_html
from portal.pages.skill.presenters.recent_runs import recent_strip
from portal.pages.skill.presenters.schema_rows import input_rows, tool_rows
from portal.pages.skill.presenters.tabs import skill_tabs
from portal.presenters.skill.allowances import allowances
from portal.presenters.skill.install_lines import install_lines, need_token
from portal.presenters.skill.kind import kind_of
from portal.presenters.skill.needs import need_groups
from portal.presenters.skill.runnable_version import RunnableVersion, runnable_version, stored_profile_reports
from registry.changes import drafts
from registry.core.sql import (
    Readable,
    Reads,
    count_rows,
    gather,
    prepared,
    read_together,
    reader,
    reads_of,
)
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, may
from registry.lookup import canonical as canonical_lookup
from registry.lookup import skills
from registry.lookup.errors import PURGED
from registry.lookup.skills import find_skill, find_version
from registry.models import File, Role, Skill, User, Version
from registry.packages.problems import Refusal
from registry.packages.version_numbers import normalise
from registry.pins.pins import is_pinned
from registry.trigger_tests import evaluate
from registry.usage import scores
from registry.versions.publishing import version_rows
from worker.cases.results import case_results
from worker.run_views.observed import observed_permissions
from worker.run_views.statistics import version_statistics

_SEVERITIES = ("error", "warning", "notice")


@reader
def layout(
    request: ActorRequest,
    skill: Skill,
    tab: str,
    *,
    version: Version | None = None,
    also: Sequence[Readable] = (),
) -> Reads[dict[str, Any]]:
    """The context of ``skill/layout.html``; ``tab`` names the current tab, such as ``overview`` or ``files``.
    Also reads the querysets in ``also``.

    Raises ``SkillMoved`` if the request used a canonical name or, for a GET, an old address of the skill.
    """
    _redirect_moved(request, skill)
    shown = version or skill.latest
    runnable = runnable_version(shown) if shown else None
    may_change = may(request.actor, Action.SETTINGS, skill=skill)
    signed_in = request.actor.is_signed_in
    canonicals = canonical_lookup.canonicals_of(skill.pk)
    _canonicals, tabs, pinned = yield from gather(
        reads_of(canonicals, *also),
        skill_tabs.reads(skill, shown, tab, is_signed_in=signed_in, may_change=may_change),
        is_pinned.reads(request.actor, skill),
    )
    actions = _action_values(request, skill, shown, runnable, tab=tab, is_pinned=pinned)
    return {
        "skill": skill,
        "skill_values": skill_values(skill),
        "version_values": version_values(shown),
        "kind": kind_of(skill),
        "tab": tab,
        "tabs": tabs,
        "version": shown,
        "is_latest": actions.is_latest,
        "notice": _notice_tone(skill, shown),
        "runnable_version": runnable,
        "runnable": actions.may_run,
        "may_change": may_change,
        "successor": skills.visible_successor(skill, request.actor),
        "canonical": next(iter(canonicals), None),
        "may_edit": actions.may_edit,
        "actions": actions,
    }


def _action_values(
    request: ActorRequest,
    skill: Skill,
    version: Version | None,
    runnable: RunnableVersion | None,
    *,
    tab: str,
    is_pinned: bool,
) -> ActionValues:
    return ActionValues(
        tab=tab,
        is_signed_in=request.actor.is_signed_in,
        is_pinned=is_pinned,
        may_edit=may(request.actor, Action.PUBLISH, skill=skill),
        may_run=runnable is not None and runnable.runnable and _may_run(request, skill),
        is_invocable=runnable is not None and runnable.manifest.user_invocable,
        is_latest=version is not None and version.pk == skill.latest_id,
    )


def _notice_tone(skill: Skill, version: Version | None) -> str:
    """The tone of the most severe notice about the version; "" if there is none."""
    if version and version.is_held:
        return "bad"
    if skill.deprecated_at or (
        version and (version.yanked_at or version.reported_at or version.deprecated_at)
    ):
        return "warn"
    return "info" if version and version.pk != skill.latest_id else ""


def version_at(request: ActorRequest, team: str, slug: str, number: str) -> Version:
    """The version at a URL. Administrators and members of its team also get a held version, for display."""
    return find_version(find_skill(f"{team}/{slug}", request.actor), number, request.actor, include_held=True)


def _redirect_moved(request: ActorRequest, skill: Skill) -> None:
    """Raises ``SkillMoved`` if the request used a canonical name or, for a GET, the skill's old address."""
    match = request.resolver_match
    named = {"team": skill.team.slug, "slug": skill.slug}
    if skill.resolved_canonical:
        raise SkillMoved(reverse("version", kwargs={**named, "number": skill.resolved_canonical.number}))
    if request.method not in ("GET", "HEAD") or match is None or named.items() <= match.kwargs.items():
        return
    query = request.META.get("QUERY_STRING", "")
    address = reverse(match.view_name, kwargs={**match.kwargs, **named})
    raise SkillMoved(f"{address}?{query}" if query else address)


def _may_run(request: ActorRequest, skill: Skill) -> bool:
    """Whether to show the Run button. Anonymous users also see it, and sign in after they press it."""
    return not request.actor.is_signed_in or may(request.actor, Action.RUN, skill=skill)


@require_safe
def overview(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """Shows the latest version; redirects to the version list if no visible version is the latest."""
    drafts.keep_page()
    skill = find_skill(f"{team}/{slug}", request.actor)
    if skill.latest_id is None and skill.versions.visible_to(request.actor).exists():
        return redirect("versions", skill.team.slug, skill.slug)
    return _render_version(request, find_version(skill, None, request.actor), "overview")


@require_safe
def version(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    """Shows one version; for a purged version, shows the record of the purge with status 410."""
    drafts.keep_page()
    skill = find_skill(f"{team}/{slug}", request.actor)
    try:
        found = find_version(skill, number, request.actor, include_held=True)
    except Refusal as refused:
        tombstone = (skill.merged_from or skill).tombstones.filter(number=normalise(number)).first()
        if refused.code != PURGED.name or tombstone is None:
            raise
        return render(
            request,
            "versions/purged.html",
            layout(request, skill, "versions") | {"tombstone": tombstone},
            status=410,
        )
    return _render_version(request, found, "versions")


def _render_version(request: ActorRequest, version: Version, tab: str) -> HttpResponse:
    skill = version.skill
    actor, number = request.actor, "" if tab == "overview" else version.number
    reads: dict[str, Reads[Any]] = {
        "statistics": version_statistics.reads(version, actor),
        "needs": need_groups.reads(version),
        "additions": version_additions.reads(version, actor),
        "dependencies": dependencies.dependency_status.reads(version, actor),
        "modules": loaded_modules.reads(version, actor),
        "strip": recent_strip.reads(skill, actor, number=number),
        "trials": evaluate.stored_results.reads(version, actor),
        "owners": _owners(request, skill),
        "file_count": _file_count(version),
        "earlier": _earlier(request, version),
        "publisher": _publisher(version),
    }
    if actor.user:
        reads["observed"] = observed_permissions.reads(version, actor)
    if may(actor, Action.SETTINGS, skill=skill):
        reads["cases"] = case_results.reads(version, actor)
    context, counts, *found = read_together(
        layout.reads(request, skill, tab, version=version), navigation_counts.reads(actor), *reads.values()
    )
    runnable: RunnableVersion = context["runnable_version"]
    context |= counts | dict(zip(reads, found, strict=True)) | _contract(runnable)
    context |= {
        "readme": readme_html(version),
        "problems": _problems(version),
        "purpose": purpose_values(runnable),
        "cards": _cards(actor, version, context),
        "details": detail_values(runnable, scores.explain_score(skill), _reports(version, context)),
    }
    if tab == "versions" and context["may_change"]:
        may_purge = may(request.actor, Action.DELETE, skill=skill)
        context |= {"changes": forms_for(version), "may_purge": may_purge}
    return render(request, "skill/overview.html", context)


def _cards(actor: Actor, version: Version, context: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the cards that each overview has. ``context`` has the rows that were read."""
    runnable: RunnableVersion = context["runnable_version"]
    lines = install_lines(runnable)
    return {
        "about": _about(actor, version, context),
        "lines": lines,
        "with_links": actor.is_signed_in and need_token(lines),
        "allowances": allowances(runnable.manifest),
    }


def _reports(version: Version, context: Mapping[str, Any]) -> list[ReportValues]:
    if not context["may_edit"]:
        return []
    return report_values(stored_profile_reports(version, version_rows.load_problems(version)))


def _about(actor: Actor, version: Version, context: Mapping[str, Any]) -> AboutValues:
    manifest, publisher = context["manifest"], version.published_by
    return AboutValues(
        is_signed_in=actor.is_signed_in,
        earlier=context["earlier"],
        publisher=publisher.username if actor.is_signed_in and publisher else "",
        owners=tuple(owner.username for owner in context["owners"]),
        license=manifest.license,
        compatibility=manifest.compatibility,
        file_count=context["file_count"],
    )


def _contract(runnable: RunnableVersion) -> dict[str, Any]:
    manifest = runnable.manifest
    return {
        "manifest": manifest,
        "inputs": input_rows(manifest.input_schema),
        "outputs": input_rows(manifest.output_schema),
        "tools": tool_rows(runnable.entry_points.tools),
    }


def _earlier(request: ActorRequest, version: Version) -> Reads[str | None]:
    """The number of the next lower visible version; None if there is none."""
    actor, skill = request.actor, version.skill
    sees_held = actor.is_administrator or skill.team_id in actor.team_ids
    yield (numbers := _lower_numbers(skill.pk, version.precedence, sees_held=sees_held))
    return next(iter(numbers), None)


@prepared
def _lower_numbers(skill: int, precedence: str, *, sees_held: bool) -> QuerySet[Version, str]:
    versions = Version.objects.all() if sees_held else Version.objects.unheld()
    rows = versions.filter(skill_id=skill, precedence__lt=precedence).order_by("-precedence")
    return rows.values_list("number", flat=True)[:1]


def _file_count(version: Version) -> Reads[int]:
    yield (files := _files(version.pk))
    return sum(files)


@prepared
def _files(version: int) -> QuerySet[File, int]:
    return count_rows(File.objects.filter(version_id=version))


def _publisher(version: Version) -> Reads[User | None]:
    """The user who published the version, also set as ``version.published_by``."""
    yield (users := _users(version.published_by_id or 0))
    version.published_by = next(iter(users), None)
    return version.published_by


@prepared
def _users(key: int) -> QuerySet[User]:
    return User.objects.filter(pk=key)


def _problems(version: Version) -> list[dict[str, object]]:
    found = [problem.document(_) for problem in version_rows.load_problems(version)]
    return sorted(found, key=lambda problem: _SEVERITIES.index(str(problem["severity"])))


def _owners(request: ActorRequest, skill: Skill) -> Reads[list[User]]:
    """The team's owners; empty for anonymous users."""
    if not request.actor.is_signed_in:
        return []
    yield (owners := _owners_of(skill.team_id))
    return list(owners)


@prepared
def _owners_of(team: int) -> QuerySet[User]:
    rows = User.objects.filter(memberships__team_id=team, memberships__role=Role.OWNER)
    return rows.order_by("username")
