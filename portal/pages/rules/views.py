"""Views of the rules of a team or an access token: list, add, remove and restore."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action, signed_in_form
from portal.forms.errors import add_refusals, show_refusals
from portal.forms.suggestions import suggest, teams_of, visible_skills
from portal.pages.rules.forms import RuleForm
from portal.presenters.skill.permissions import rule_rows
from registry.identity.middleware import ActorRequest
from registry.identity.teams import calling_team
from registry.identity.tokens import find_token
from registry.lookup.skills import find_skill, find_team
from registry.models import Effect, Rule, Team
from registry.packages.rule_names import PREFIX_MARK
from registry.rules import edit
from registry.rules import holders as rules_holders
from registry.rules.holders import Holder, holder_of


@signed_in_form
def team_rules(request: ActorRequest, slug: str) -> HttpResponse:
    return _page(request, find_team(slug, request.actor))


@signed_in_form
def token_rules(request: ActorRequest, uid: str) -> HttpResponse:
    return _page(request, find_token(uid, request.actor))


@signed_in_action
def remove(request: ActorRequest, uid: str) -> HttpResponse:
    rule = edit.remove_rule(edit.find_rule(uid, request.actor), request.actor)
    undo = reverse("rule-restore", args=[rule.uid])
    messages.success(request, _("The rule for %(name)s was removed.") % {"name": rule.name}, extra_tags=undo)
    return redirect(_address(holder_of(rule)))


@signed_in_action
def restore(request: ActorRequest, uid: str) -> HttpResponse:
    rule = edit.find_rule(uid, request.actor)
    with show_refusals(request):
        edit.restore_rule(rule, request.actor)
        messages.success(request, _("The rule for %(name)s was restored.") % {"name": rule.name})
    return redirect(_address(holder_of(rule)))


@signed_in_action
def allow(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """Adds an allow rule for a name or prefix, from the button on a run form, and redirects to that form.

    The rule belongs to the submitted team, otherwise to the team for which the actor would run the skill.
    Without a team, no rule is added.
    """
    skill = find_skill(f"{team}/{slug}", request.actor)
    name, number = request.POST.get("name", "")[:200], request.POST.get("version", "")[:64]
    named = request.POST.get("team", "")[:64]
    holder = find_team(named, request.actor) if named else calling_team(request.actor, skill)
    with show_refusals(request):
        if holder:
            rule = edit.add_rule(holder, Effect.ALLOW, name, request.actor, number=number or None)
            _confirm(request, rule)
    query = urlencode({"version": number, "team": named} if named else {"version": number})
    return redirect(f"{reverse('run-form', args=[skill.team.slug, skill.slug])}?{query}")


def _page(request: ActorRequest, holder: Holder) -> HttpResponse:
    actor = request.actor
    rows = rule_rows(holder, actor)
    form = RuleForm(request.POST or None, may_grant=rules_holders.may_grant(holder, actor))
    if form.is_valid():
        with add_refusals(form):
            return _add(request, holder, form)
    skills = visible_skills(actor)
    suggest(form, "name", [*skills, *(f"{team}/{PREFIX_MARK}" for team in teams_of(skills))])
    context: dict[str, Any] = {
        "rows": rows,
        "form": form if rules_holders.may_deny(holder, actor) else None,
        "team": holder if isinstance(holder, Team) else None,
        "token": None if isinstance(holder, Team) else holder,
    }
    return render(request, "rules/page.html", context, status=422 if form.is_bound else 200)


def _add(request: ActorRequest, holder: Holder, form: RuleForm) -> HttpResponse:
    given = form.cleaned_data
    number = given["version"] or None
    _confirm(request, edit.add_rule(holder, given["effect"], given["name"], request.actor, number=number))
    return redirect(_address(holder))


def _confirm(request: ActorRequest, rule: Rule) -> None:
    text = _("The rule for %(name)s was added.") % {"name": rule.name}
    messages.success(request, text, extra_tags=reverse("rule-remove", args=[rule.uid]))


def _address(holder: Holder) -> str:
    if isinstance(holder, Team):
        return reverse("team-rules", args=[holder.slug])
    return reverse("token-rules", args=[holder.uid])
