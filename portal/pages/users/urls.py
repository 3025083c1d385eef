"""Routes of user pages, and of the links that users receive."""

from django.urls import path

from portal.pages.users import link_views, sign_up_views, user_views, views

urlpatterns = [
    path("site/users/", views.page, name="users"),
    path("site/users/invitations/<str:uid>/revoke/", views.revoke_invitation, name="invitation-revoke"),
    path("site/users/lock-outs/<str:uid>/end/", views.end_lock_out, name="lock-out-end"),
    path("site/users/<str:uid>/", user_views.page, name="user"),
    path("site/users/<str:uid>/deactivate/", user_views.deactivate, name="user-deactivate"),
    path("site/users/<str:uid>/reactivate/", user_views.reactivate, name="user-reactivate"),
    path("site/users/<str:uid>/administrator/", user_views.administrator, name="user-administrator"),
    path("site/users/<str:uid>/end-sessions/", user_views.end_sessions, name="user-end-sessions"),
    path("site/users/<str:uid>/reset-password/", user_views.reset_password, name="user-reset-password"),
    path(
        "site/users/<str:uid>/reset-second-factors/",
        user_views.reset_second_factors,
        name="user-reset-second-factors",
    ),
    path("sign-up/", sign_up_views.create_account, name="sign-up"),
    path("forgot-password/", sign_up_views.forgot_password, name="forgot-password"),
    path("join/<str:secret>/", link_views.join, name="join"),
    path("reset-password/<str:uidb64>/<str:token>/", link_views.reset_password, name="reset-password"),
]
