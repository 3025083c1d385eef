"""One's own account: what it says, all of it as a file, and its end."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from portal.forms.refusals import add_refusal
from registry import people
from registry.middleware import ActorRequest
from registry.models import Membership, User
from registry.packages.problems import Refused


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = ("first_name", "last_name", "email")


class ErasureForm(forms.Form):
    password = forms.CharField(label=gettext_lazy("Your password"), widget=forms.PasswordInput, strip=False)
    typed = forms.CharField(label=gettext_lazy("Type your user name to confirm"), max_length=150)

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        if not user.has_usable_password():  # who signs in elsewhere has none
            del self.fields["password"]

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if not self.user.check_password(password):
            raise forms.ValidationError(_("This is not your password."))
        return password

    def clean_typed(self) -> str:
        typed: str = self.cleaned_data["typed"]
        if typed.strip() != self.user.username:
            raise forms.ValidationError(_("This is not your user name."))
        return typed


@login_required
@require_safe
def export(request: ActorRequest) -> HttpResponse:
    """Everything that the site keeps about the reader, as one file."""
    assert request.actor.user
    document = people.export_person(request.actor.user, request.actor)
    answer = HttpResponse(json.dumps(document, ensure_ascii=False, indent=2), content_type="application/json")
    answer["Content-Disposition"] = 'attachment; filename="skillquay-account.json"'
    answer["Cache-Control"] = "private, no-store"
    return answer


@login_required
def erase(request: ActorRequest) -> HttpResponse:
    """Takes away all that tells who the reader was, after their password and their name."""
    user = request.actor.user
    assert user
    form = ErasureForm(request.POST or None, user=user)
    if request.method == "POST" and form.is_valid():
        try:
            people.erase_person(user, request.actor)
            logout(request)
            messages.success(request, _("Your account is erased."))
            return redirect("home")
        except Refused as refused:
            add_refusal(form, refused)
    return render(request, "account/erase.html", {"form": form})


@login_required
def page(request: HttpRequest) -> HttpResponse:
    user = request.user
    assert isinstance(user, User)
    form = ProfileForm(request.POST or None, instance=user)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, _("Your account is saved."))
        return redirect("account")
    memberships = Membership.objects.filter(user=user).select_related("team").order_by("team__slug")
    return render(request, "account/account.html", {"form": form, "memberships": memberships})
