from django.urls import path

from worker.approvals.api import Approvals, Decide

urlpatterns = [
    path("approvals", Approvals.as_view(), name="api-approvals"),
    path("runs/<str:uid>/approval", Decide.as_view(), name="api-approval"),
]
