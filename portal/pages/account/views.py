"""The user's account: profile, data export and erasure."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from portal.forms.errors import add_refusals
from portal.sign_in.confirmation import redirect_to_confirmation
from registry.accounts.users import record_email_change
from registry.erasure import people
from registry.erasure.export import write_export
from registry.identity.middleware import ActorRequest
from registry.models import Membership, User


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = ("first_name", "last_name", "email")


class ErasureForm(forms.Form):
    password = forms.CharField(label=gettext_lazy("Your password"), widget=forms.PasswordInput, strip=False)
    confirmation = forms.CharField(label=gettext_lazy("Type your user name to confirm"), max_length=150)

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        if not user.has_usable_password():  # users of single sign-on have no password
            del self.fields["password"]

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if not self.user.check_password(password):
            raise forms.ValidationError(_("Incorrect password."))
        return password

    def clean_confirmation(self) -> str:
        typed: str = self.cleaned_data["confirmation"]
        if typed.strip() != self.user.username:
            raise forms.ValidationError(_("Incorrect user name."))
        return typed


@login_required
@require_safe
def export(request: ActorRequest) -> HttpResponseBase:
    """Downloads all data that the site stores about the user, as a JSON file."""
    assert request.actor.user
    file = write_export(request.actor.user, request.actor).file
    response = FileResponse(
        file, as_attachment=True, filename="skillquay-account.json", content_type="application/json"
    )
    response["Cache-Control"] = "private, no-store"
    return response


@login_required
def erase(request: ActorRequest) -> HttpResponse:
    """Erases the user's personal data and signs out.

    The user confirms with the user name, and with the password if the account has one.
    """
    user = request.actor.user
    assert user
    form = ErasureForm(request.POST or None, user=user)
    if form.is_valid():
        with add_refusals(form):
            people.erase_person(user, request.actor)
            logout(request)
            messages.success(request, _("Your account was deleted."))
            return redirect("home")
    return render(request, "account/erase.html", {"form": form})


@login_required
def page(request: HttpRequest) -> HttpResponse:
    user = request.user
    assert isinstance(user, User)
    form = ProfileForm(request.POST or None, instance=user)
    if form.is_valid():
        # Links for new passwords go to this address, so a stolen session alone must not change it.
        if "email" in form.changed_data:
            if confirmation := redirect_to_confirmation(request, back_to=reverse("account")):
                messages.info(request, _("Confirm your identity, then change the e-mail address."))
                return confirmation
            record_email_change(user)
        form.save()
        messages.success(request, _("Account saved."))
        return redirect("account")
    memberships = Membership.objects.filter(user=user).select_related("team").order_by("team__slug")
    return render(request, "account/account.html", {"form": form, "memberships": memberships})
