"""The documentation inside the site: its pages, links, search and error codes."""

from __future__ import annotations

import json
import re
from urllib.parse import urljoin, urlsplit

import pytest
from django.test import Client
from django.urls import Resolver404, resolve
from django.utils import translation

from portal.pages.docs.error_areas import AREAS
from portal.pages.docs.outline import _GROUPS, groups
from portal.pages.docs.rendering import page_html
from portal.pages.docs.titles import TITLES, title_of
from registry.api.error_response import problem_response
from registry.documentation.library import library
from registry.documentation.search import search
from registry.packages.problems import CODES
from tests.architecture.sources import ROOT
from tests.pages import codes, is_chinese, parsed, part, parts, select

pytestmark = [pytest.mark.django_db, pytest.mark.row("P8")]
MAX_PAGE_BYTES = 60_000
CODE = "VERSION_EXISTS"


def _documents():
    return {str(path.relative_to(ROOT / "docs").with_suffix("")) for path in (ROOT / "docs").rglob("*.md")}


def test_index_links_every_document_once(browse):
    page = browse().get("/docs/")
    links = [link["href"] for group in parts(page, "group") for link in group.select("a")]
    assert sorted(links) == sorted(f"/docs/{name}/" for name in _documents() - {"requirements"})


def test_every_guide_belongs_to_a_named_group():
    named = {name for _title, names in _GROUPS for name in names.split()}
    assert {path.stem for path in (ROOT / "docs/howto").glob("*.md")} <= named


@pytest.fixture(scope="module")
def rendered():
    """The HTML of each document page by its URL."""
    documents = library()
    return {page.url: page_html(documents, page) for page in documents.pages.values()}


def test_every_link_and_anchor_in_the_documents_resolves(rendered):
    broken = []
    for url, html in rendered.items():
        for link in re.findall(r'(?:href|src)="([^"]+)"', html):
            if urlsplit(link).scheme:
                continue
            path, _, anchor = urljoin(url, link).partition("#")
            known = path in rendered or path == "/docs/reference/errors/" or _is_image(path)
            if not known or (anchor and f'id="{anchor}"' not in rendered[path]):
                broken.append((url, link))
    assert broken == []


def _is_image(path):
    try:
        return resolve(path).url_name == "doc-image"
    except Resolver404:
        return False


def test_links_of_the_repository_lead_to_a_document_or_are_text(rendered):
    """A relative link to a document that does not exist would become text without a trace."""
    documents = library()
    lost = set()
    for page in documents.pages.values():
        for link in re.findall(r"\]\(((?!https?:|/)[^)\s]+\.md(?:#[^)]*)?|#[^)]+)\)", page.text):
            if documents.resolve(link, page.document) is None and "images/" not in link:
                lost.add(link)
    assert lost <= {"../../bench/README.md", "../../CHANGELOG.md", "../../CONTRIBUTING.md#house-rules"}


@pytest.mark.slow(reason="renders every page of the documentation")
def test_every_page_is_small_and_has_a_title_and_contents(browse):
    client = browse()
    for page in library().pages.values():
        answer = client.get(page.url)
        assert (answer.status_code, len(answer.content) < MAX_PAGE_BYTES) == (200, True), page.url
        assert len(select(answer, "h1")) == 1
        headings = {each.anchor for each in page.headings if each.level == 2}
        if headings:
            listed = {link["href"].partition("#")[2] for link in part(answer, "contents").select("a")}
            assert headings <= listed


def test_long_document_has_several_pages_and_its_contents_name_all_sections(browse):
    document = library().documents["reference/api"]
    assert len(document.pages) > 1
    answer = browse().get(document.pages[1].url)
    links = {link["href"] for link in part(answer, "contents").select("a")}
    assert "/docs/reference/api/#conventions" in links
    assert f"#{document.pages[1].headings[0].anchor}" in links


def test_address_of_any_heading_leads_to_its_page(browse):
    answer = browse().get("/docs/reference/api/idempotency/")
    assert answer["Location"] == "/docs/reference/api/#idempotency"
    assert browse().get("/docs/reference/api/no-such-heading/").status_code == 404
    assert browse().get("/docs/no-such-page/").status_code == 404


def test_next_links_visit_all_pages(browse):
    client, url, seen = browse(), "/docs/start/", []
    while url:
        seen.append(url)
        following = select(client.get(url), "a", rel="next")
        url = following[0]["href"] if following else ""
    assert sorted(seen) == sorted(page.url for page in library().pages.values())


def test_files_that_the_site_does_not_serve_are_text(rendered):
    assert "alerts.yml" in rendered["/docs/howto/monitor-a-site/"]
    assert not re.search(r"<a [^>]*>[^<]*alerts\.yml", rendered["/docs/howto/monitor-a-site/"])


def test_changed_document_is_read_again(tmp_path):
    (tmp_path / "start.md").write_text("# One\n\n## Here\n")
    assert library(tmp_path).documents["start"].title == "One"
    (tmp_path / "start.md").write_text("# Second\n\n```sh\n# no heading\n```\n\n## Here\n\n## Here\n")
    found = library(tmp_path).documents["start"]
    assert found.title == "Second"
    assert [each.anchor for each in found.pages[0].headings] == ["here", "here-1"]


def test_unlisted_guide_is_in_the_index(tmp_path):
    (tmp_path / "howto").mkdir()
    (tmp_path / "howto/brand-new.md").write_text("# Brand new\n")
    titles = [entry.title for group in groups(library(tmp_path)) for entry in group.entries]
    assert "Brand new" in titles


# Search -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("rotate keys", "/docs/howto/rotate-keys/"),
        ("Idempotency-Key", "/docs/reference/api/#idempotency"),
        ("back up and restore", "/docs/howto/back-up-and-restore/"),
        ("SKILLQUAY_WEB_PROCESSES", "/docs/reference/settings/#site"),
        ("撤回", "/docs/glossary/"),
    ],
)
def test_search_finds_the_section_about_the_words(query, first):
    assert first in [hit.url for hit in search(query, library())][:2]


def test_search_page_marks_the_words_and_links_to_sections(browse):
    page = browse().get("/docs/", {"q": "idempotency"})
    hit = parts(page, "hit")[0]
    assert hit.select("a")[0]["href"] == "/docs/reference/api/#idempotency"
    assert "Idempotency" in {mark.text for mark in hit.select("mark")}


def test_search_escapes_the_query_and_reports_no_results(browse):
    page = browse().get("/docs/", {"q": "<zzzzqq>"})
    assert part(page, "empty")
    assert "<zzzz" not in page.text


def test_search_finds_error_codes_in_the_language_of_the_reader(browse):
    page = browse().get("/docs/", {"q": CODE})
    assert part(page, "codes").parts(code=CODE)
    chinese = browse(language="zh-hans").get("/docs/", {"q": "已存在"})
    assert part(chinese, "codes").select("li")


# Error codes ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("query", "order"), [("token", ["hits", "codes"]), ("SCHEDULE_", ["codes", "hits"])])
def test_codes_come_first_only_for_a_query_like_a_code(browse, query, order):
    found = parsed(browse().get("/docs/", {"q": query})).values("part")
    assert [each for each in found if each in ("hits", "codes")] == order


def test_texts_of_a_code_name_their_parameters(browse):
    assert "<skill>" in part(browse().get(f"/docs/reference/errors/{CODE}/"), "error-code")
    assert "<skill>" in browse().get(f"/api/v1/errors/{CODE}").json()["message"]


def test_every_block_of_code_has_a_copy_button(browse):
    document = part(browse().get("/docs/howto/write-a-skill/"), "document")
    blocks = [f"#{block['id']}" for block in document.tags("pre")]
    assert len(blocks) > 2
    assert document.values("copy") == blocks


def test_docs_url_of_every_code_leads_to_its_page(rf, settings):
    client = Client()
    for name, code in CODES.items():
        document = json.loads(problem_response(rf.get("/api/v1/skills"), _problem(code)).content)
        path = document["docs_url"].removeprefix(settings.SKILLQUAY_PUBLIC_URL)
        assert resolve(path).kwargs == {"name": name}
    assert part(client.get(f"/docs/reference/errors/{CODE}/"), "error-code", code=CODE)


def _problem(code):
    return code.problem(**dict.fromkeys(code.parameters, 1))


def test_list_of_codes_has_an_anchor_and_a_link_for_each(browse):
    page = browse().get("/docs/reference/errors/")
    assert len(page.content) < MAX_PAGE_BYTES
    rows = [row for row in select(page, "li") if row.attributes.get("id") in CODES]
    assert sorted(row["id"] for row in rows) == sorted(CODES)
    assert [row.select("a")[0]["href"] for row in rows] == [f"{row['id']}/" for row in rows]


def test_every_code_belongs_to_one_area():
    assert sorted(name for area in AREAS for name in area.codes) == sorted(CODES)
    assert all(area.codes for area in AREAS)


def test_contents_of_the_codes_lead_to_the_areas_and_these_to_their_messages(browse):
    page = browse().get("/docs/reference/errors/")
    ids = {heading.attributes.get("id") for heading in select(page, "h2")}
    assert [link["href"] for link in part(page, "contents").select("a")] == [
        f"#area-{area.anchor}" for area in AREAS
    ]
    assert {f"area-{area.anchor}" for area in AREAS} <= ids
    for area in AREAS:
        assert part(page, "area", value=area.anchor)
        answer = browse().get(f"/docs/reference/errors/?area={area.anchor}")
        assert len(answer.content) < MAX_PAGE_BYTES
        assert [row["code"] for row in select(answer, "li") if "data-code" in row.attributes] == [*area.codes]


def test_page_of_a_code_links_its_area(browse):
    page = browse().get(f"/docs/reference/errors/{CODE}/")
    assert select(page, "a", href="/docs/reference/errors/?area=versions")


def test_page_of_a_code_is_translated_and_names_its_documents(browse):
    page = browse(language="zh-hans").get("/docs/reference/errors/IDEMPOTENCY_KEY_REUSED/")
    assert is_chinese(part(page, "error-code").text)
    assert part(page, "mentions").select("a", href="/docs/reference/api/")
    assert browse().get("/docs/reference/errors/NO_SUCH_CODE/").status_code == 404


def test_remedies_link_to_the_documents_they_name(browse):
    code = next(code for code in CODES.values() if "docs/howto/back-up-and-restore.md" in code.remedy)
    page = browse().get(f"/docs/reference/errors/{code.name}/")
    assert part(page, "error-code").select("a", href="/docs/howto/back-up-and-restore/")


def test_documents_named_in_texts_exist():
    named = {
        name
        for code in CODES.values()
        for name in re.findall(r"\bdocs/([a-z0-9/-]+)\.md", f"{code.message} {code.remedy}")
    }
    assert named
    assert named <= _documents()


def test_problems_on_pages_link_to_their_codes(browse, alice, team):
    page = browse(alice).get("/runs/", {"nonsense": "1"})
    (code,) = codes(page)
    assert select(page, "a", href=f"/docs/reference/errors/{code}/")


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_reader_of_chinese_is_told_that_documents_are_in_english(browse, language):
    for path in ("/docs/", "/docs/start/"):
        assert len(parts(browse(language=language).get(path), "language-note")) == (language != "en")
    document = part(browse(language=language).get("/docs/start/"), "document")
    assert document["lang"] == "en"


def test_every_document_has_a_chinese_title():
    documents = library().documents
    with translation.override("en"):
        assert {name: str(title) for name, title in TITLES.items()} == {
            name: document.title for name, document in documents.items()
        }
    with translation.override("zh-hans"):
        assert [name for name, document in documents.items() if not is_chinese(title_of(document))] == []


def test_chinese_pages_show_chinese_titles_and_find_documents_by_them(browse):
    client = browse(language="zh-hans")
    for path in ("/docs/", "/docs/howto/publish-a-skill/", "/docs/?q=idempotency"):
        page = client.get(path)
        in_text = [link for each in parts(page, "document") for link in each.select("a")]
        links = [link for link in select(page, "a") if link["href"].startswith("/docs/howto/")]
        shown = [link for link in links if link not in in_text and link.attributes.get("lang") != "en"]
        assert [each.text for each in (*select(page, "h1"), *shown) if not is_chinese(each.text)] == []
    found = part(client.get("/docs/", {"q": "轮换"}), "titled")
    assert [link["href"] for link in found.select("a")] == ["/docs/howto/rotate-keys/"]


def test_images_of_the_documents_are_served(browse):
    answer = browse().get("/docs/images/home.webp")
    assert (answer["Content-Type"], answer.content) == (
        "image/webp",
        (ROOT / "docs/images/home.webp").read_bytes(),
    )
    for name in ("none.webp", "start.md"):
        assert browse().get(f"/docs/images/{name}").status_code == 404
