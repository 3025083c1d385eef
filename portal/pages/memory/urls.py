from django.urls import path

from portal.pages.memory import review_views, views

urlpatterns = [
    path("memory/", views.page, name="memory"),
    path("memory/export/", views.export, name="memory-export"),
    path("memory/clear/", views.clear, name="memory-clear"),
    path("memory/undo/", views.undo, name="memory-undo"),
    path("memory/review/", review_views.queue, name="memory-review"),
    path("memory/review/<str:uid>/", review_views.detail, name="memory-proposal"),
    path("memory/<str:uid>/", views.detail, name="memory-one"),
    path("memory/<str:uid>/delete/", views.delete, name="memory-delete"),
    path("memory/<str:uid>/restore/", views.restore, name="memory-restore"),
]

team_urlpatterns = [
    path("memory/", views.page, name="team-memory"),
    path("memory/export/", views.export, name="team-memory-export"),
    path("memory/clear/", views.clear, name="team-memory-clear"),
    path("memory/undo/", views.undo, name="team-memory-undo"),
]
