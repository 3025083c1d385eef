from django.urls import path

from registry.secrets import api

team_urlpatterns = [
    path("secrets", api.Secrets.as_view(), name="api-secrets"),
    path("secrets/<str:name>", api.SecretDetail.as_view(), name="api-secret"),
    path("secrets/<str:name>/grants", api.SecretGrants.as_view(), name="api-secret-grants"),
    path("secret-grants/<str:uid>", api.SecretGrantDetail.as_view(), name="api-secret-grant"),
]

version_urlpatterns = [
    path("secrets", api.VersionSecrets.as_view(), name="api-version-secrets"),
    path("review", api.VersionReviewed.as_view(), name="api-version-review"),
]
