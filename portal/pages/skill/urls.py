from django.urls import path

from portal.pages.skill.presenters.dependencies import dependency_status
from portal.pages.skill.presenters.modules import loaded_modules
from portal.pages.skill.views import (
    additions,
    cases,
    collisions,
    dependencies,
    feedback,
    files,
    phrases,
    settings,
    skill,
    use,
)
from portal.pages.skill.views.live_parts import live_part
from worker.cases.results import case_results

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
    path("cases/", live_part("cases", case_results), name="cases-live"),
    path("modules/", live_part("modules", loaded_modules), name="modules-live"),
    path("cases/run/", cases.run, name="cases-run"),
    path("dependencies/", live_part("dependencies", dependency_status), name="dependencies-live"),
    path("additions/", additions.change, name="change-additions"),
    path("dependencies/runtime/", dependencies.choose, name="choose-runtime"),
    path("dependencies/cancel/", dependencies.cancel, name="dependencies-cancel"),
    path("dependencies/retry/", dependencies.again, name="dependencies-retry"),
    path("files/<path:path>", files.file, name="file"),
    path("raw/<path:path>", files.raw, name="raw-file"),
]
