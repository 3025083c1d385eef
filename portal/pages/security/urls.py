"""Routes of second factors: a user's own ones, and their use at sign-in.

Users who still need a required second factor can open routes whose names start with ``security``.
"""

from django.urls import path

from portal.pages.security import change_views, sign_in_views, views

urlpatterns = [
    path("sign-in/second-factor/", sign_in_views.second_factor, name="mfa_authenticate"),  # allauth's name
    path("sign-in/passkey/", sign_in_views.passkey, name="passkey"),
    path("account/security/", views.page, name="security"),
    path("account/security/confirm/", views.confirm, name="security-confirm"),
    path("account/security/app/", change_views.add_app, name="security-app"),
    path("account/security/keys/new/", change_views.add_key, name="security-key-new"),
    path("account/security/keys/<int:pk>/rename/", change_views.rename_key, name="security-key-rename"),
    path("account/security/<int:pk>/remove/", change_views.remove, name="security-remove"),
    path("account/security/recovery-codes/", change_views.renew_codes, name="security-codes"),
]
