"""Search of the documentation through the API."""

from __future__ import annotations

import pytest

from registry.documentation.library import library
from registry.documentation.search import MAX_HITS
from tests.api.conftest import assert_error
from tests.shell import api

pytestmark = [pytest.mark.django_db, pytest.mark.row("P8", "P3")]


def test_anonymous_client_finds_the_section_about_the_words(anonymous, settings):
    settings.SKILLQUAY_PUBLIC_URL = "https://skills.example"
    document = anonymous.get("docs?q=Idempotency-Key&limit=2").json()
    assert document["query"] == "Idempotency-Key"
    assert len(document["results"]) == 2
    url = "https://skills.example/docs/reference/api/#idempotency"
    found = next(hit for hit in document["results"] if hit["url"] == url)
    assert (found["title"], found["section"]) == ("API reference", "Idempotency")
    assert "Idempotency-Key" in found["excerpt"]


def test_every_result_leads_to_a_page_of_the_documentation(anonymous, settings):
    results = anonymous.get(f"docs?q=run&limit={MAX_HITS}").json()["results"]
    urls = {page.url for page in library().pages.values()}
    assert len(results) == MAX_HITS
    assert {
        hit["url"].removeprefix(settings.SKILLQUAY_PUBLIC_URL).partition("#")[0] for hit in results
    } <= urls
    assert max(len(hit["excerpt"]) for hit in results) <= 290


def test_token_of_any_scope_can_search(token_api, alice):
    assert token_api(alice, "run").get("docs?q=sandbox").json()["results"]


def test_words_that_no_document_contains_find_nothing(anonymous):
    answer = anonymous.get("docs?q=zzzzqq")
    assert (answer.status_code, answer.json()) == (200, {"query": "zzzzqq", "results": []})


@pytest.mark.parametrize(
    "query", ["", "q=", f"q={'x' * 201}", "q=a&limit=0", f"q=a&limit={MAX_HITS + 1}", "q=a&q=b"]
)
def test_invalid_query_is_refused(anonymous, query):
    assert_error(anonymous.get(f"docs?{query}"), 400, "QUERY_INVALID")


def test_unknown_parameter_is_refused(anonymous):
    assert_error(anonymous.get("docs?q=a&page=2"), 400, "QUERY_UNKNOWN")


def test_search_counts_against_the_limit_of_searches(anonymous, settings):
    settings.SKILLQUAY_RATE_LIMITS = {**settings.SKILLQUAY_RATE_LIMITS, "search": 1}
    assert anonymous.get("docs?q=a").status_code == 200
    assert_error(anonymous.get("docs?q=a"), 429, "RATE_LIMITED")


def test_shell_searches_the_documentation(administrator):
    status, document = api("GET", "/api/v1/docs?q=rotate keys&limit=1")
    assert status == 0
    assert document["results"][0]["url"].partition("#")[0].endswith("/docs/howto/rotate-keys/")
