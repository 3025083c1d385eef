from django.urls import path

from registry.matching.api import feedback
from registry.matching.api.match import Matching

urlpatterns = [
    path("feedback", feedback.FeedbackReports.as_view(), name="api-feedback"),
    path("match", Matching.as_view(), name="api-match"),
]

skill_urlpatterns = [
    path("feedback", feedback.SkillFeedback.as_view(), name="api-skill-feedback"),
    path("feedback/<str:uid>", feedback.FeedbackDecision.as_view(), name="api-feedback-decision"),
    path("trigger-tests", feedback.TriggerTests.as_view(), name="api-trigger-tests"),
    path("trigger-tests/<str:uid>", feedback.TriggerTestDetail.as_view(), name="api-trigger-test"),
]
