from django.urls import path

from portal.pages.imports import views

urlpatterns = [
    path("imports/", views.listing, name="imports"),
    path("imports/new/", views.new, name="import-new"),
    path("imports/<str:uid>/", views.page, name="import"),
    path("imports/<str:uid>/live/", views.live, name="import-live"),
    path("imports/<str:uid>/cancel/", views.cancel, name="import-cancel"),
    path("imports/sources/<str:uid>/reimport/", views.again, name="source-reimport"),
    path("imports/sources/<str:uid>/compare/", views.compare, name="import-compare"),
    path("imports/sources/<str:uid>/remove/", views.remove, name="import-remove"),
]
