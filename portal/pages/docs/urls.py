from django.urls import path

from portal.pages.docs import views

urlpatterns = [
    path("docs/", views.index, name="docs"),
    path("docs/images/<str:name>", views.image, name="doc-image"),
    path("docs/reference/errors/", views.error_codes, name="error-codes"),
    path("docs/reference/errors/<str:name>/", views.error_code, name="error-code"),
    path("docs/<path:path>/", views.page, name="doc"),
]
