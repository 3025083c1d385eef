"""Routes of sign-in, preferences, account and tokens."""

from django.urls import path

from portal.pages.account import preference_views, session_views, token_views, views

urlpatterns = [
    path("sign-in/", session_views.sign_in, name="sign-in"),
    path("sign-out/", session_views.sign_out, name="sign-out"),
    path("preferences/language/", preference_views.set_language, name="set-language"),
    path("preferences/theme/", preference_views.set_theme, name="set-theme"),
    path("account/", views.page, name="account"),
    path("account/export/", views.export, name="account-export"),
    path("account/erase/", views.erase, name="account-erase"),
    path("account/password/", session_views.password, name="password"),
    path("account/tokens/", token_views.page, name="tokens"),
    path("account/tokens/<str:uid>/revoke/", token_views.revoke, name="token-revoke"),
]
