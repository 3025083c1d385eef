from django.urls import path

from registry.trigger_tests.api import trigger_tests
from registry.trigger_tests.api.phrases import PhraseDetail, PhraseProposals, Phrases

urlpatterns = [
    path("collisions", trigger_tests.TriggerCollisions.as_view(), name="api-collisions"),
]

team_urlpatterns = [
    path("settings", trigger_tests.TeamSettings.as_view(), name="api-team-settings"),
]

skill_urlpatterns = [
    path("phrases", Phrases.as_view(), name="api-phrases"),
    path("phrases/propose", PhraseProposals.as_view(), name="api-phrase-proposals"),
    path("phrases/<str:uid>", PhraseDetail.as_view(), name="api-phrase"),
    path("trigger-tests/run", trigger_tests.TriggerTestRuns.as_view(), name="api-trigger-test-runs"),
]

version_urlpatterns = [
    path("trigger-tests", trigger_tests.VersionTriggerTests.as_view(), name="api-version-trigger-tests"),
]
