from django.urls import path

from portal.pages.retention import views

urlpatterns = [path("site/retention/", views.site_page, name="retention")]
team_urlpatterns = [path("retention/", views.team_page, name="team-retention")]
