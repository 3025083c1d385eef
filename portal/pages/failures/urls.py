from django.urls import path

from portal.pages.failures import bulk, views

urlpatterns = [
    path("failures/", views.group_list, name="failures"),
    path("failures/act/", bulk.act, name="failures-act"),
    path("failures/<str:uid>/", views.group, name="error-group"),
    path("failures/<str:uid>/resolve/", views.resolve, name="error-group-resolve"),
    path("failures/<str:uid>/reopen/", views.reopen, name="error-group-reopen"),
    path("failures/<str:uid>/assign/", views.assign, name="error-group-assign"),
]
