"""The documentation in a browser: from the sidebar to a section, and accessible on the smallest screen."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.row("P8")]
LOOKS = [{"java_script_enabled": False}, {"locale": "zh-CN", "color_scheme": "dark"}]
PAGES = (
    *("/docs/", "/docs/?q=rotate+keys", "/docs/reference/settings/", "/docs/reference/api/"),
    *("/docs/reference/errors/", "/docs/reference/errors/VERSION_EXISTS/"),
)


@pytest.mark.parametrize("look", LOOKS, ids=["no scripts", "Chinese"])
def test_search_leads_from_the_sidebar_to_a_section_and_on_to_the_next_page(page, look):
    page.goto("/")
    page.click("#sidebar [data-nav=docs]")
    page.fill("#q", "idempotency")
    page.press("#q", "Enter")
    page.click("[data-part=hit] a >> nth=0")
    page.wait_for_url("**/docs/reference/api/#idempotency")
    page.click("a[rel=next]")
    page.wait_for_url("**/docs/reference/api/*/")
    assert page.locator("[data-part=document] h2").count()


@pytest.mark.full
@pytest.mark.slow(reason="the accessibility checker reads long pages")
@pytest.mark.parametrize("look", [{}, {"color_scheme": "dark", "locale": "zh-CN"}], ids=["light", "dark-zh"])
def test_documents_are_accessible_and_fit_a_small_screen(page, axe, look):
    page.set_viewport_size({"width": 360, "height": 800})
    for path in PAGES:
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
        axe()


@pytest.mark.parametrize("look", [{}, {"color_scheme": "dark"}], ids=["light", "dark"])
def test_api_page_has_the_shell_the_theme_and_readable_text(page, look):
    page.goto("/api/docs/")
    page.wait_for_selector("#swagger-ui .opblock-tag")
    assert not page.locator("#swagger-ui .opblock").count()
    page.locator("#swagger-ui .opblock-tag").first.click()
    page.wait_for_selector("#swagger-ui .opblock")
    assert page.evaluate("document.documentElement.classList.contains('dark-mode')") == bool(look)
    # Swagger UI's own markup keeps one violation of a minor rule.
    assert [each["id"] for each in Axe().run(page).response["violations"]] in ([], ["aria-allowed-role"])
    assert page.locator("#sidebar .nav-link[aria-current]").get_attribute("data-nav") == "api-docs"
