from django.urls import path

from registry.documentation.api import DocsSearch

urlpatterns = [path("docs", DocsSearch.as_view(), name="api-docs-search")]
