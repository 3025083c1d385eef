from django.urls import path

from portal.pages.account import (
    device_views,
    install_link_views,
    issuer_views,
    open_session_views,
    preference_views,
    session_views,
    token_views,
    upload_views,
    views,
)

urlpatterns = [
    path("sign-in/", session_views.sign_in, name="sign-in"),
    path("sign-in/", session_views.sign_in, name="account_login"),  # django-allauth uses this name
    path("sign-in/with/<slug:name>/", issuer_views.start, name="issuer-sign-in"),
    path("sign-in/with/<slug:name>/callback/", issuer_views.callback, name="issuer-callback"),
    path("sign-out/", session_views.sign_out, name="sign-out"),
    path("preferences/language/", preference_views.set_language, name="set-language"),
    path("preferences/theme/", preference_views.set_theme, name="set-theme"),
    path("account/", views.page, name="account"),
    path("account/export/", views.export, name="account-export"),
    path("account/erase/", views.erase, name="account-erase"),
    path("account/password/", session_views.password, name="password"),
    path("account/sessions/", open_session_views.page, name="sessions"),
    path("account/sessions/end-others/", open_session_views.end_others, name="sessions-end-others"),
    path("account/sessions/<str:uid>/end/", open_session_views.end, name="session-end"),
    path("account/identities/", issuer_views.identities, name="identities"),
    path("account/identities/unlink/", issuer_views.unlink, name="identity-unlink"),
    path("account/device/", device_views.page, name="device-login"),
    path("account/install-links/", install_link_views.page, name="install-links"),
    path("account/install-links/<str:uid>/revoke/", install_link_views.revoke, name="install-link-revoke"),
    path("account/uploads/<str:uid>/discard/", upload_views.discard, name="upload-discard"),
    path("account/tokens/", token_views.page, name="tokens"),
    path("account/tokens/<str:uid>/", token_views.token, name="token"),
    path("account/tokens/<str:uid>/connection/", token_views.connection, name="token-connection"),
    path("account/tokens/<str:uid>/restore/", token_views.restore, name="token-restore"),
    path("account/tokens/<str:uid>/revoke/", token_views.revoke, name="token-revoke"),
]
