from django.urls import path

from portal.pages.skill.views import collisions, dependencies, feedback, files, phrases, settings, skill, use

urlpatterns = [
    path("skills/collisions/", collisions.page, name="collisions"),
]

skill_urlpatterns = [
    path("", skill.overview, name="skill"),
    path("settings/", settings.page, name="skill-settings"),
    path("feedback/tests/run/", feedback.try_again, name="trigger-tests-run"),
    path("settings/phrases/", phrases.propose, name="phrases-propose"),
    path("settings/phrases/<str:uid>/", phrases.decide, name="phrase-decide"),
    path("settings/undeprecate/", settings.undeprecate, name="skill-undeprecate"),
    path("channels/<str:name>/remove/", settings.remove_channel, name="channel-remove"),
    path("use/", use.page, name="use"),
    path("feedback/", feedback.page, name="skill-feedback"),
    path("feedback/<str:uid>/", feedback.decide, name="feedback-decide"),
    path("feedback/tests/<str:uid>/remove/", feedback.remove, name="trigger-test-remove"),
]

version_urlpatterns = [
    path("", skill.version, name="version"),
    path("files/", files.tree, name="files"),
    path("dependencies/", dependencies.live, name="dependencies-live"),
    path("dependencies/runtime/", dependencies.choose, name="choose-runtime"),
    path("dependencies/retry/", dependencies.again, name="dependencies-retry"),
    path("files/<path:path>", files.file, name="file"),
    path("raw/<path:path>", files.raw, name="raw-file"),
]
