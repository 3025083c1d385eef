from django.urls import path

from portal.pages.approvals import views

urlpatterns = [
    path("approvals/", views.waiting, name="approvals"),
    path("approvals/decided/", views.decided, name="approvals-decided"),
    path("approvals/decide/", views.decide_selected, name="approvals-decide"),
    path("approvals/<str:uid>/decide/", views.decide, name="approval-decide"),
]
