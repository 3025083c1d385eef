"""The order of the documents: groups with translated titles, as the index and previous/next links use it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.pages.docs.titles import title_of
from portal.presenters.content.punctuation import labelled
from registry.documentation.library import ERRORS, DocLibrary, DocPage, Document

_GROUPS: list[tuple[str | Promise, str]] = [
    (_("Start"), "start"),
    (
        _("Publish and maintain skills"),
        "write-a-skill publish-a-skill manage-versions import-skills migrate-old-packages",
    ),
    (
        _("Install skills in a client"),
        "install-with-claude-code install-with-codex connect-cursor connect-vs-code install-with-gemini-cli "
        "connect-mcp-hosts install-with-npx-skills install-with-clawhub install-with-npm install-with-git "
        "install-with-apm install-with-links install-collections",
    ),
    (
        _("Use skills from agents and programs"),
        "call-the-api-from-an-agent use-the-api-from-python use-the-command-line "
        "use-the-anthropic-and-openai-sdks show-skills-to-agents report-activations receive-webhooks "
        "schedule-runs cancel-and-repeat-runs get-notified share-runs",
    ),
    (
        _("Decide which skills can run"),
        "approve-runs-and-set-rules use-secrets review-held-versions set-canonical-skills review-memory",
    ),
    (
        _("Operate a site"),
        "run-a-production-site size-a-site add-a-worker-host deploy-containers deploy-with-systemd "
        "move-to-postgresql-and-s3 monitor-a-site back-up-and-restore upgrade add-people-and-teams "
        "sign-in-with-your-identity-provider set-team-limits remove-old-runs rotate-keys release",
    ),
    (
        _("Configure the sandbox"),
        "harden-the-sandbox allow-dependencies connect-a-model use-another-sandbox-backend",
    ),
]
_FOLDERS: list[tuple[str | Promise, str]] = [
    (_("More guides"), "howto/"),
    (pgettext_lazy("documents", "Reference"), "reference/"),
    (_("Explanation"), "explanation/"),
    (_("Glossary"), ""),
]


@dataclass(frozen=True)
class DocGroup:
    title: str | Promise
    entries: tuple[IndexEntry, ...]


@dataclass(frozen=True)
class IndexEntry:
    """A document, or the list of error codes, which has no ``document``."""

    title: str | Promise
    url: str
    document: Document | None = None


def groups(library: DocLibrary) -> list[DocGroup]:
    """All documents by group.

    Documents that no group names follow in one group per folder, sorted by title.
    """
    documents = dict(library.documents)
    found = [DocGroup(title, tuple(_take(names.split(), documents))) for title, names in _GROUPS]
    for title, folder in _FOLDERS:
        own = [name for name in documents if name.startswith(folder)]
        entries = [_entry(documents.pop(name)) for name in own]
        if folder and ERRORS.startswith(folder):
            entries.append(IndexEntry(_("Error codes"), reverse("error-codes")))
        found.append(DocGroup(title, tuple(sorted(entries, key=lambda entry: str(entry.title).lower()))))
    return [group for group in found if group.entries]


def with_title(query: str, library: DocLibrary) -> list[IndexEntry]:
    """The documents whose title in the reader's language, other than English, contains all words."""
    words = query.casefold().split()
    entries = (entry for group in groups(library) for entry in group.entries if entry.document)
    return [
        entry
        for entry in entries
        if entry.document
        and entry.title != entry.document.title
        and all(word in str(entry.title).casefold() for word in words)
    ]


def _take(names: Sequence[str], documents: dict[str, Document]) -> Iterator[IndexEntry]:
    for name in names:
        document = documents.pop(name, None) or documents.pop(f"howto/{name}", None)
        if document:
            yield _entry(document)


def _entry(document: Document) -> IndexEntry:
    return IndexEntry(title_of(document), document.url, document)


def group_of(page: DocPage, groups: Iterable[DocGroup]) -> DocGroup:
    """The group that contains the page's document."""
    return next(
        group
        for group in groups
        for entry in group.entries
        if entry.document and entry.document.name == page.document
    )


def neighbors(page: DocPage, groups: Iterable[DocGroup]) -> tuple[IndexEntry | None, IndexEntry | None]:
    """The pages before and after this one in the order of the index, with their titles."""
    documents = [entry.document for group in groups for entry in group.entries if entry.document]
    pages = [(document, each) for document in documents for each in document.pages]
    at = [each.name for _document, each in pages].index(page.name)
    around = [pages[place] if 0 <= place < len(pages) else None for place in (at - 1, at + 1)]
    before, after = (found and IndexEntry(page_title(*found), found[1].url, found[0]) for found in around)
    return before, after


def page_title(document: Document, page: DocPage) -> str:
    """The document's title, and on its further pages also that of the first section."""
    if page is document.pages[0]:
        return title_of(document)
    return labelled(title_of(document), page.headings[0].text)
