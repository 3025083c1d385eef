"""Views for sign-in, sign-out and password change."""

from __future__ import annotations

from typing import Any

from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.sign_in.adapters import supports_keys
from portal.sign_in.forms import SignInForm
from registry.accounts import mail, sign_up
from registry.accounts.users import record_password_change
from registry.identity.actors import ANONYMOUS
from registry.identity.middleware import ActorRequest
from registry.models import User
from registry.rates.limits import RateLimit, count_request
from registry.single_sign_on.issuers import issuers


class SignIn(LoginView):
    """Signs in with a password through django-allauth's login flow, which requires second factors."""

    form_class = SignInForm
    template_name = "account/sign_in.html"
    redirect_authenticated_user = True
    extra_context = {
        "issuers": issuers,
        "mail": mail.is_configured,
        "sign_up": sign_up.is_open,
        "supports_keys": supports_keys,
    }

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        count_request(request, ANONYMOUS, RateLimit.SIGN_IN)
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        login = Login(user=form.get_user(), redirect_url=self.get_success_url())
        return perform_password_login(self.request, {}, login)


sign_in = SignIn.as_view()
sign_out = LogoutView.as_view()


@login_required
def password(request: ActorRequest) -> HttpResponse:
    """Changes the password. Users with a one-time password are redirected here from all other pages."""
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
        record_password_change(user)
        update_session_auth_hash(request, user)
        messages.success(request, _("Your password was changed."))
        return redirect("home")
    return render(request, "account/password.html", {"form": form, "first": user.must_change_password})
