"""The endpoint that searches the documentation of the installed version."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.doc import Doc
from registry.api.endpoint import Endpoint
from registry.api.schema import Operations, Query, read_query
from registry.core.addresses import absolute_url
from registry.documentation.library import library
from registry.documentation.search import MAX_HITS, MAX_QUERY, DocHit, search
from registry.rates.limits import RateLimit

operation = Operations("site")


class DocsQuery(Query):
    q = serializers.CharField(max_length=MAX_QUERY)
    limit = serializers.IntegerField(default=10, min_value=1, max_value=MAX_HITS)


class DocsHitDoc(Doc):
    title = serializers.CharField(help_text="The title of the document.")
    section = serializers.CharField(
        help_text="The heading of the section. Empty for the beginning of a document."
    )
    url = serializers.URLField(help_text="The page of the section, for people and agents.")
    excerpt = serializers.CharField(
        help_text="The sentence, table row or line of code with most of the words, as plain text. At most "
        "about 280 characters."
    )


class DocsSearchDoc(Doc):
    query = serializers.CharField()
    results = DocsHitDoc(many=True)


class DocsSearch(Endpoint):
    rate_limits = {"GET": RateLimit.SEARCH}

    @operation("search_docs", "Search the documentation", query=DocsQuery, answer=DocsSearchDoc)
    def get(self, request: Request) -> HttpResponse:
        """Searches the guides and the reference of the installed version, which are in English. Returns the
        sections that contain the largest number of the query's words, best first. The texts of error codes
        are at `/errors`. Every token can call this endpoint, whatever its scopes.
        """
        query = read_query(DocsQuery, request)
        found = search(query["q"], library(), limit=query["limit"])
        return etag.document_response(request, {"query": query["q"], "results": [*map(_document, found)]})


def _document(hit: DocHit) -> dict[str, Any]:
    return {
        "title": hit.title,
        "section": "".join(stretch.text for stretch in hit.heading),
        "url": absolute_url(hit.url),
        "excerpt": "".join(stretch.text for stretch in hit.excerpt),
    }
