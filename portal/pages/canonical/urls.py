from django.urls import path

from portal.pages.canonical import views

urlpatterns = [
    path("canonical/", views.listing, name="canonicals"),
    path("canonical/new/", views.new, name="canonical-new"),
    path("canonical/new/mirror/", views.mirror, name="canonical-mirror"),
    path("canonical/<slug:slug>/", views.page, name="canonical"),
    path("canonical/<slug:slug>/decide/", views.decide, name="canonical-decide"),
    path("canonical/<slug:slug>/unset/", views.unset, name="canonical-unset"),
    path("skills/_canonical_<slug:slug>/", views.redirect_by_name, name="canonical-skill"),
]
