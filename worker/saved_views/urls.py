from django.urls import path

from worker.saved_views.api import SavedViewDetail, SavedViews

urlpatterns = [
    path("saved-views", SavedViews.as_view(), name="api-saved-views"),
    path("saved-views/<str:uid>", SavedViewDetail.as_view(), name="api-saved-view"),
]
