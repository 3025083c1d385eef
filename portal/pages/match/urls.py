from django.urls import path

from portal.pages.match import views

urlpatterns = [
    path("skills/match/", views.page, name="match"),
    path("skills/match/report/", views.report, name="match-report"),
]
