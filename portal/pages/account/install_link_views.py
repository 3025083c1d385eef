"""Views of install links: create, list and revoke. The address of a link is shown only once."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from portal.decorators import signed_in_action, signed_in_form
from portal.forms.errors import add_refusals
from portal.forms.suggestions import suggest, teams_of, visible_skills
from registry.identity import tokens
from registry.identity.middleware import ActorRequest
from registry.install_links import links
from registry.install_links.links import LinkTarget

_SHOWN = 200
_DAYS = ((7, gettext_lazy("7 days")), (30, gettext_lazy("30 days")), (90, gettext_lazy("90 days")))


class InstallLinkForm(forms.Form):
    target = forms.CharField(
        label=gettext_lazy("Team, skill or collection"),
        max_length=200,
        help_text=gettext_lazy("Enter team, team/skill or collections/team/name."),
    )
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=120,
        required=False,
        help_text=gettext_lazy("Name the machine or person that uses this link."),
    )
    days = forms.TypedChoiceField(
        label=gettext_lazy("Expires after"), choices=_DAYS, coerce=int, initial=30, widget=forms.RadioSelect
    )
    use_required_attribute = False


@signed_in_form
def page(request: ActorRequest) -> HttpResponse:
    """The user's links, and the form for a new one. Only the response to the POST shows the new address."""
    form = InstallLinkForm(request.POST or None, initial={"target": request.GET.get("target", "")})
    context: dict[str, Any] = {}
    if form.is_valid():
        with add_refusals(form):
            context = _create(form.cleaned_data, request)
            form = InstallLinkForm()
    skills = visible_skills(request.actor)
    suggest(form, "target", [*teams_of(skills), *skills])
    rows = [_row(link) for link in links.links_of(request.actor).order_by("-pk")[:_SHOWN]]
    context |= {"form": form, "rows": rows}
    return render(request, "account/install_links.html", context, status=422 if form.is_bound else 200)


@signed_in_action
def revoke(request: ActorRequest, uid: str) -> HttpResponse:
    tokens.revoke(links.find_link(uid, request.actor), request.actor)
    messages.success(request, _("Link revoked."))
    return redirect("install-links")


def _create(given: dict[str, Any], request: ActorRequest) -> dict[str, Any]:
    target = links.find_target(given["target"], request.actor)
    link, address = links.create_link(target, request.actor, name=given["name"], days=given["days"])
    return {"made": link, "lines": _lines(target, address)}


def _lines(target: LinkTarget, address: str) -> list[dict[str, str]]:
    """Commands with the new address: dicts with id, label and text."""
    market = f"{address}/all.git" if target.team else f"{address}.git"
    found = [{"id": "link-skills", "label": "npx skills", "text": f"npx skills add {address}"}]
    if not target.skill:
        claude = f"claude plugin marketplace add {market}"
        found.append({"id": "link-claude", "label": "Claude Code", "text": claude})
        codex = f"codex plugin marketplace add {market}"
        found.append({"id": "link-codex", "label": "Codex", "text": codex})
    return [*found, {"id": "link-git", "label": "git", "text": f"git clone {market}"}]


def _row(link: Any) -> dict[str, Any]:
    return {
        "link": link,
        "target": links.target_of(link).path,
        "state": tokens.state_of(link, timezone.now()),
    }
