from django.urls import path

from registry.canonical import api

urlpatterns = [
    path("skills/<str:slug>", api.NamedSkill.as_view(), name="api-named-skill"),
    path("canonical", api.Canonicals.as_view(), name="api-canonicals"),
    path("canonical/<str:slug>", api.CanonicalDetail.as_view(), name="api-canonical"),
    path("canonical/<str:slug>/mirror", api.CanonicalMirror.as_view(), name="api-canonical-mirror"),
    path("canonical/<str:slug>/proposal", api.CanonicalProposal.as_view(), name="api-canonical-proposal"),
    path("canonical/<str:slug>/history", api.CanonicalHistory.as_view(), name="api-canonical-history"),
    path("canonical/<str:slug>/accept", api.CanonicalAccept.as_view(), name="api-canonical-accept"),
    path("canonical/<str:slug>/reject", api.CanonicalReject.as_view(), name="api-canonical-reject"),
    path("canonical/<str:slug>/text", api.CanonicalText.as_view(), name="api-canonical-text"),
]
