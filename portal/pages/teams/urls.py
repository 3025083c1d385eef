from django.urls import path

from portal.pages.teams import change_views, limit_views, member_views, service_account_views, views

urlpatterns = [
    path("teams/", views.listing, name="teams"),
    path("teams/new/", views.new, name="team-new"),
]

team_urlpatterns = [
    path("", views.page, name="team"),
    path("settings/", views.settings, name="team-settings"),
    path("limits/", limit_views.page, name="team-limits"),
    path("members/", member_views.page, name="team-members"),
    path("members/transfer/", change_views.transfer, name="team-transfer"),
    path(
        "members/invitations/<str:uid>/revoke/",
        change_views.revoke_invitation,
        name="team-invitation-revoke",
    ),
    path("leave/", change_views.departure, name="team-leave"),
    path("rejoin/", change_views.rejoin, name="team-rejoin"),
    path("archive/", change_views.archive, name="team-archive"),
    path("unarchive/", change_views.unarchive, name="team-unarchive"),
    path("service-accounts/", service_account_views.page, name="service-accounts"),
    path("service-accounts/<str:uid>/", service_account_views.account, name="service-account"),
    path("service-accounts/<str:uid>/role/", service_account_views.role, name="service-account-role"),
    path(
        "service-accounts/<str:uid>/deactivate/",
        service_account_views.deactivate,
        name="service-account-deactivate",
    ),
    path(
        "service-accounts/<str:uid>/reactivate/",
        service_account_views.reactivate,
        name="service-account-reactivate",
    ),
    path("members/<str:uid>/role/", member_views.role, name="member-role"),
    path("members/<str:uid>/remove/", member_views.remove, name="member-remove"),
    path("members/<str:uid>/restore/", member_views.restore, name="member-restore"),
]
