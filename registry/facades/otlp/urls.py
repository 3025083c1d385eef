from django.urls import path

from registry.facades.otlp.views import OtlpLogs, OtlpUnknown

urlpatterns = [
    path("otlp/v1/logs", OtlpLogs.as_view(), name="otlp-logs"),
    path("otlp/<path:path>", OtlpUnknown.as_view(), name="otlp-unknown"),
]
