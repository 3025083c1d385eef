from django.urls import path

from portal.pages.schedules import form_views, views

urlpatterns = [
    path("schedules/", views.listing, name="schedules"),
    path("schedules/new/", form_views.new, name="schedule-new"),
    path("schedules/<str:uid>/", views.page, name="schedule"),
    path("schedules/<str:uid>/edit/", form_views.edit, name="schedule-edit"),
    path("schedules/<str:uid>/pause/", views.pause, name="schedule-pause"),
    path("schedules/<str:uid>/resume/", views.resume, name="schedule-resume"),
    path("schedules/<str:uid>/run/", views.run_now, name="schedule-run"),
    path("schedules/<str:uid>/delete/", views.delete, name="schedule-delete"),
    path("schedules/<str:uid>/restore/", views.restore, name="schedule-restore"),
]
