from django.urls import path

from worker.schedules.api import Firings, NextRuns, Pause, Restore, Resume, RunNow, ScheduleDetail, Schedules

urlpatterns = [
    path("schedules", Schedules.as_view(), name="api-schedules"),
    path("schedules/next-runs", NextRuns.as_view(), name="api-schedule-next-runs"),
    path("schedules/<str:uid>", ScheduleDetail.as_view(), name="api-schedule"),
    path("schedules/<str:uid>/firings", Firings.as_view(), name="api-schedule-firings"),
    path("schedules/<str:uid>/pause", Pause.as_view(), name="api-schedule-pause"),
    path("schedules/<str:uid>/resume", Resume.as_view(), name="api-schedule-resume"),
    path("schedules/<str:uid>/run", RunNow.as_view(), name="api-schedule-run"),
    path("schedules/<str:uid>/restore", Restore.as_view(), name="api-schedule-restore"),
]
