"""The rules of a team and of an access token: what agents run unasked, and what nobody runs."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from portal.forms.refusals import add_refusal, say
from portal.forms.rules import RuleForm
from portal.showing.permissions import rule_rows
from registry import rules
from registry.catalog import find_skill, find_team
from registry.middleware import ActorRequest
from registry.models import Effect, Rule, Team
from registry.packages.problems import Refused
from registry.rules import Holder
from registry.rules.holders import holder_of
from registry.teams import calling_team
from registry.tokens import find_token


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def of_team(request: ActorRequest, slug: str) -> HttpResponse:
    return _page(request, find_team(slug, request.actor))


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def of_token(request: ActorRequest, uid: str) -> HttpResponse:
    return _page(request, find_token(uid, request.actor))


@login_required
@require_POST
def remove(request: ActorRequest, uid: str) -> HttpResponse:
    rule = rules.remove_rule(rules.find_rule(uid, request.actor), request.actor)
    undo = reverse("rule-restore", args=[rule.uid])
    messages.success(request, _("The rule for %(name)s is removed.") % {"name": rule.name}, extra_tags=undo)
    return redirect(_address(holder_of(rule)))


@login_required
@require_POST
def restore(request: ActorRequest, uid: str) -> HttpResponse:
    rule = rules.find_rule(uid, request.actor)
    try:
        rules.restore_rule(rule, request.actor)
        messages.success(request, _("The rule for %(name)s stands again.") % {"name": rule.name})
    except Refused as refused:
        say(request, refused)
    return redirect(_address(holder_of(rule)))


@login_required
@require_POST
def allow(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """From a skill's page: the exact or the prefix rule that was offered, for the version that was shown."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    name, number = request.POST.get("name", "")[:200], request.POST.get("version", "")[:64]
    named = request.POST.get("team", "")[:64]
    holder = find_team(named, request.actor) if named else calling_team(request.actor, skill)
    try:
        if holder:
            rule = rules.add_rule(holder, Effect.ALLOW, name, request.actor, number=number or None)
            _say_added(request, rule)
    except Refused as refused:
        say(request, refused)
    asked = urlencode({"version": number, "team": named} if named else {"version": number})
    return redirect(f"{reverse('run-form', args=[skill.team.slug, skill.slug])}?{asked}")


def _page(request: ActorRequest, holder: Holder) -> HttpResponse:
    actor = request.actor
    rows = rule_rows(holder, actor)
    form = RuleForm(request.POST or None, may_grant=rules.may_grant(holder, actor))
    if request.method == "POST" and form.is_valid():
        try:
            return _added(request, holder, form)
        except Refused as refused:
            add_refusal(form, refused)
    context: dict[str, Any] = {
        "rows": rows,
        "form": form if rules.may_deny(holder, actor) else None,
        "team": holder if isinstance(holder, Team) else None,
        "token": None if isinstance(holder, Team) else holder,
        "section": "teams" if isinstance(holder, Team) else "account",
    }
    return render(request, "rules/page.html", context, status=422 if form.is_bound else 200)


def _added(request: ActorRequest, holder: Holder, form: RuleForm) -> HttpResponse:
    asked = form.cleaned_data
    number = asked["version"] or None
    _say_added(request, rules.add_rule(holder, asked["effect"], asked["name"], request.actor, number=number))
    return redirect(_address(holder))


def _say_added(request: ActorRequest, rule: Rule) -> None:
    said = _("The rule for %(name)s stands.") % {"name": rule.name}
    messages.success(request, said, extra_tags=reverse("rule-remove", args=[rule.uid]))


def _address(holder: Holder) -> str:
    if isinstance(holder, Team):
        return reverse("team-rules", args=[holder.slug])
    return reverse("token-rules", args=[holder.uid])
