from django.urls import path

from portal.pages.shared import views

urlpatterns = [
    path("shared/<str:secret>/", views.page, name="shared-run"),
    path("shared/<str:secret>/log/", views.log, name="shared-log"),
    path("shared/<str:secret>/artifacts/<path:path>", views.artifact, name="shared-artifact"),
]
