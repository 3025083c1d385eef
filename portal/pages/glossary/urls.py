from django.urls import path

from portal.pages.glossary import views

urlpatterns = [
    path("glossary/", views.page, name="glossary"),
    path("glossary/changes/<str:uid>/undo/", views.undo, name="glossary-undo"),
    path("glossary/<str:uid>/change/", views.change, name="glossary-change"),
    path("glossary/<str:uid>/remove/", views.remove, name="glossary-remove"),
]
