"""The documentation: its index with search, its pages, and the error codes. Anonymous users may read it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from portal.pages.docs.error_areas import AREAS, area_named, area_of
from portal.pages.docs.error_codes import code_entry, entries_of, find_codes
from portal.pages.docs.outline import groups, with_title
from portal.pages.docs.presenters import contents_of, mentions_of
from portal.pages.docs.titles import title_of
from registry.documentation.library import library
from registry.documentation.search import MAX_QUERY, search
from registry.packages.problems import CODES

_CODES_SHOWN = 5  # in the results of a search in all documents
_IMAGE_TYPES = {"webp": "image/webp", "png": "image/png", "svg": "image/svg+xml"}


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "").strip()[:MAX_QUERY]
    documents = library()
    if not query:
        return render(request, "docs/index.html", {"groups": groups(documents)})
    codes = find_codes(query)
    hits = [(title_of(documents.documents[hit.document]), hit) for hit in search(query, documents)]
    context: dict[str, Any] = {"query": query, "hits": hits, "titled": with_title(query, documents)}
    context |= {"codes": codes[:_CODES_SHOWN], "all_codes": len(codes)}
    context["codes_first"] = "_" in query or query.upper() in CODES
    return render(request, "docs/search.html", context)


@require_safe
def page(request: HttpRequest, path: str) -> HttpResponse:
    documents = library()
    found = documents.pages.get(path)
    if found is not None:
        return render(request, "docs/page.html", contents_of(found, documents))
    name, _, anchor = path.rpartition("/")
    document = documents.documents.get(name)
    url = document.url_of(anchor) if document else None
    if url is None:
        raise Http404
    return redirect(url)


@require_safe
def image(request: HttpRequest, name: str) -> HttpResponse:
    kind = _IMAGE_TYPES.get(name.rpartition(".")[2])
    if kind is None or name not in library().images:
        raise Http404
    data = settings.BASE_DIR.joinpath("docs", "images", name).read_bytes()
    return HttpResponse(data, content_type=kind, headers={"Cache-Control": "public, max-age=3600"})


@require_safe
def error_codes(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "").strip()[:MAX_QUERY]
    area = None if query else area_named(request.GET.get("area", ""))
    found = entries_of(area.codes) if area else find_codes(query)
    context = {"query": query, "found": found, "area": area, "areas": AREAS}
    return render(request, "docs/error_codes.html", context)


@require_safe
def error_code(request: HttpRequest, name: str) -> HttpResponse:
    entry = code_entry(name)
    context = {"entry": entry, "area": area_of(name), "mentions": mentions_of(name, library())}
    return render(request, "docs/error_code.html", context)
