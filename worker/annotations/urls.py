from django.urls import path

from worker.annotations.api import RunNoteDetail, RunNotes

urlpatterns = [
    path("runs/<str:uid>/notes", RunNotes.as_view(), name="api-run-notes"),
    path("runs/<str:uid>/notes/<str:note>", RunNoteDetail.as_view(), name="api-run-note"),
]
