from django.urls import path

from portal.pages.collections import views

urlpatterns = [
    path("collections/", views.listing, name="collections"),
    path("collections/new/", views.new, name="collection-new"),
    path("collections/<slug:team>/<slug:collection>/", views.page, name="collection"),
    path("collections/<slug:team>/<slug:collection>/edit/", views.edit, name="collection-edit"),
    path("collections/<slug:team>/<slug:collection>/delete/", views.delete, name="collection-delete"),
]
