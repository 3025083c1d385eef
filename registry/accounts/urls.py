from django.urls import path

from registry.accounts.api import (
    audit,
    lock_outs,
    service_accounts,
    sessions,
    team_invitations,
    teams,
    tokens,
    users,
)

urlpatterns = [
    path("audit", audit.SiteAudit.as_view(), name="api-audit"),
    path("me/sessions", sessions.MySessions.as_view(), name="api-my-sessions"),
    path("me/sessions/<str:uid>", sessions.MySession.as_view(), name="api-my-session"),
    path("users", users.Users.as_view(), name="api-users"),
    path("users/<str:username>", users.UserDetail.as_view(), name="api-user"),
    path("users/<str:username>/deactivate", users.UserDeactivation.as_view(), name="api-user-deactivation"),
    path("users/<str:username>/reactivate", users.UserReactivation.as_view(), name="api-user-reactivation"),
    path("users/<str:username>/reset-password", users.PasswordReset.as_view(), name="api-password-reset"),
    path("users/<str:username>/sessions", sessions.UserSessions.as_view(), name="api-user-sessions"),
    path(
        "users/<str:username>/reset-second-factors",
        users.SecondFactorReset.as_view(),
        name="api-second-factor-reset",
    ),
    path("lockouts", lock_outs.LockOuts.as_view(), name="api-lock-outs"),
    path("lockouts/<str:uid>", lock_outs.LockOutDetail.as_view(), name="api-lock-out"),
    path("invitations", users.Invitations.as_view(), name="api-invitations"),
    path("invitations/<str:uid>", users.InvitationDetail.as_view(), name="api-invitation"),
    path("teams", teams.Teams.as_view(), name="api-teams"),
    path("teams/<str:team>", teams.TeamDetail.as_view(), name="api-team"),
    path("tokens", tokens.Tokens.as_view(), name="api-tokens"),
    path("tokens/<str:uid>", tokens.TokenDetail.as_view(), name="api-token"),
    path("tokens/<str:uid>/rotate", tokens.TokenRotation.as_view(), name="api-token-rotation"),
]

_ACCOUNT = "service-accounts/<str:username>"

team_urlpatterns = [
    path("archive", teams.TeamArchival.as_view(), name="api-team-archival"),
    path("unarchive", teams.TeamUnarchival.as_view(), name="api-team-unarchival"),
    path("transfer", teams.TeamTransfer.as_view(), name="api-team-transfer"),
    path("invitations", team_invitations.TeamInvitations.as_view(), name="api-team-invitations"),
    path(
        "invitations/<str:uid>",
        team_invitations.TeamInvitationDetail.as_view(),
        name="api-team-invitation",
    ),
    path("service-accounts", service_accounts.ServiceAccounts.as_view(), name="api-service-accounts"),
    path(_ACCOUNT, service_accounts.ServiceAccountDetail.as_view(), name="api-service-account"),
    path(
        f"{_ACCOUNT}/deactivate",
        service_accounts.ServiceAccountDeactivation.as_view(),
        name="api-service-account-deactivation",
    ),
    path(
        f"{_ACCOUNT}/reactivate",
        service_accounts.ServiceAccountReactivation.as_view(),
        name="api-service-account-reactivation",
    ),
    path(
        f"{_ACCOUNT}/tokens",
        service_accounts.ServiceAccountTokens.as_view(),
        name="api-service-account-tokens",
    ),
    path("audit", audit.TeamAudit.as_view(), name="api-team-audit"),
    path("members", teams.Members.as_view(), name="api-members"),
    path("members/<str:username>", teams.MemberDetail.as_view(), name="api-member"),
]
