from django.urls import path

from portal.pages.audit import views

urlpatterns = [path("site/audit/", views.site, name="audit")]

team_urlpatterns = [path("activity/", views.team, name="team-activity")]
