"""Sign-in, sign-out and password change."""

from __future__ import annotations

from typing import Any

from axes.helpers import get_cache_timeout
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.pages.account.preference_views import remember_language
from registry.identity.actors import ANONYMOUS
from registry.identity.middleware import ActorRequest
from registry.models import User
from registry.rates.limits import RateLimit, count_request


class SignIn(LoginView):
    template_name = "account/sign_in.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        count_request(request, ANONYMOUS, RateLimit.SIGN_IN)
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        response = super().form_valid(form)
        user = form.get_user()
        if isinstance(user, User) and user.language:
            remember_language(response, user.language)
        return response


sign_in = SignIn.as_view()
sign_out = LogoutView.as_view()


def locked_out(request: HttpRequest, credentials: Any = None, *args: Any, **kwargs: Any) -> HttpResponse:
    """The page after too many failed sign-ins for one name from one address."""
    response = render(request, "account/locked_out.html", status=429)
    response["Retry-After"] = str(get_cache_timeout(request))
    return response


@login_required
def password(request: ActorRequest) -> HttpResponse:
    """Changes the password; the only page that is open after sign-in with a one-time password."""
    user = request.user
    assert isinstance(user, User)
    if request.method == "POST":
        count_request(request, request.actor, RateLimit.SIGN_IN)
    form = PasswordChangeForm(user, request.POST or None)
    if user.must_change_password:
        form.fields["old_password"].label = _("One-time password")
    if request.method == "POST" and form.is_valid():
        user.must_change_password = False
        form.save()
        update_session_auth_hash(request, user)
        messages.success(request, _("Your password was changed."))
        return redirect("home")
    return render(request, "account/password.html", {"form": form, "first": user.must_change_password})
