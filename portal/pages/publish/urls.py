from django.urls import path

from portal.pages.publish.views import edit, new_skill, publish

urlpatterns = [
    path("publish/", publish.page, name="publish"),
    path("publish/new/", new_skill.page, name="publish-new"),
]

version_urlpatterns = [
    path("edit/", edit.page, name="edit"),
]
