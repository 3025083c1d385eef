"""One's own account."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from registry.models import Membership, User


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = ("first_name", "last_name", "email")


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
