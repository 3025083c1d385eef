from django.urls import path

from portal.pages.match import views

urlpatterns = [
    path("skills/match/", views.moved, name="match"),
    path("skills/match/test/", views.page, name="match-test"),
    path("skills/match/report/", views.report, name="match-report"),
]
