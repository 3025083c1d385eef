"""The pages that links in invitations and password resets open."""

from __future__ import annotations

from typing import Any

from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from django.contrib import messages
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.views import PasswordResetConfirmView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from portal.forms.errors import add_refusals, show_refusals
from portal.pages.users.forms import JoinForm
from registry.accounts import invitations
from registry.accounts.users import record_password_change
from registry.identity.middleware import ActorRequest
from registry.models import Invitation, User
from registry.rates.limits import RateLimit, count_request


@never_cache
@require_http_methods(["GET", "POST"])
def join(request: ActorRequest, secret: str) -> HttpResponse:
    """Creates an account; a signed-in user joins the team instead."""
    count_request(request, request.actor, RateLimit.SIGN_IN)
    invitation = invitations.find_invitation(secret)
    if request.actor.user:
        return _join_as(request, invitation, secret, request.actor.user)
    form = JoinForm(request.POST or None)
    if form.is_valid():
        with add_refusals(form):
            user = invitations.accept_with_new_account(
                secret, form.cleaned_data["username"], form.cleaned_data["password"]
            )
            welcome = _welcome(request, invitation)
            return perform_password_login(request, {}, Login(user=user, redirect_url=welcome.url))
    creates_account = invitations.creates_account(invitation)
    context = {"invitation": invitation, "form": form, "creates_account": creates_account}
    return render(request, "users/join.html", context, status=422 if form.is_bound else 200)


def _join_as(request: ActorRequest, invitation: Invitation, secret: str, user: User) -> HttpResponse:
    if request.method == "POST":
        with show_refusals(request):
            invitations.accept(secret, user)
            return _welcome(request, invitation)
    team = invitation.team
    is_member = team is not None and team.memberships.filter(user=user).exists()
    return render(request, "users/join.html", {"invitation": invitation, "is_member": is_member})


def _welcome(request: HttpRequest, invitation: Invitation) -> HttpResponseRedirect:
    if invitation.team:
        messages.success(request, _("You joined %(team)s.") % {"team": invitation.team.name})
        return redirect("team", invitation.team.slug)
    messages.success(request, _("Your account was created."))
    return redirect("home")


class ResetPassword(PasswordResetConfirmView):
    """Sets a new password; an invalid or used link gets status 404."""

    template_name = "users/reset_password.html"
    success_url = reverse_lazy("sign-in")

    def dispatch(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        count_request(self.request, self.request.actor, RateLimit.SIGN_IN)  # type: ignore[attr-defined]
        return super().dispatch(*args, **kwargs)

    def get_user(self, uidb64: str) -> Any:
        user = super().get_user(uidb64)
        return user if user is not None and user.is_active else None

    def form_valid(self, form: SetPasswordForm[User]) -> HttpResponse:
        form.user.must_change_password = False
        messages.success(self.request, _("Your password was changed. Sign in with the new password."))
        response = super().form_valid(form)
        record_password_change(form.user)
        return response

    def render_to_response(self, context: dict[str, Any], **options: Any) -> HttpResponse:
        form = context.get("form")
        status = 404 if not self.validlink else 422 if form and form.is_bound else 200
        return super().render_to_response(context, status=status, **options)


reset_password = ResetPassword.as_view()
