from django.urls import path

from registry.search.api.glossary import Glossary, GlossaryDetail, GlossaryFile, GlossaryUndo
from registry.search.api.search import Changes, Search

urlpatterns = [
    path("search", Search.as_view(), name="api-search"),
    path("glossary", Glossary.as_view(), name="api-glossary"),
    path("glossary/built-in", GlossaryFile.as_view(), name="api-glossary-file"),
    path("glossary/changes/<str:uid>/undo", GlossaryUndo.as_view(), name="api-glossary-undo"),
    path("glossary/<str:uid>", GlossaryDetail.as_view(), name="api-glossary-line"),
    path("changes", Changes.as_view(), name="api-changes"),
]
