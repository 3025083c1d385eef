"""Prints the evidence that matching finds for each request of the read half, in a catalog of its own."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import json
import random
import sys

import django

django.setup()

from django.core.management import call_command

from bench import _catalog, _chat
from registry.core import search_terms
from registry.identity.actors import administrator_actor
from registry.matching import match as matching
from registry.matching import ranking
from registry.matching.sentences import wording_terms


def main():
    options = json.loads(sys.argv[1])
    call_command("migrate", verbosity=0)
    queries = [row for row in _catalog._rows(options["queries"]) if row.get("half", "read") == "read"]
    if options["chat"]:
        queries += _chat.sample(options["chat"])
    skills = _catalog._rows(options["corpus"])
    if options["skills"]:
        skills = _sample(skills, queries, options["skills"], options["seed"])
    _catalog.Catalog(_catalog._skills(skills)).grow(len(skills))
    slugs = {row["slug"][:64] for row in skills}
    print(json.dumps([_measured(row, slugs) for row in queries]))


def _sample(skills, queries, size, seed):
    """Skills that are expected for some request, so that a small catalog fits several requests."""
    expected = sorted({row["expected_slug"] for row in queries} - {""})
    chosen = set(random.Random(seed).sample(expected, min(size, len(expected))))
    return [row for row in skills if row["slug"] in chosen]


def _measured(row, slugs):
    """The request's kind, evidence, terms and rank of the expected skill. The evidence is None for explicit
    matches, and empty without any result.
    """
    found = []
    measure, least = ranking.request_evidence, matching.MIN_CONFIDENCE

    def record(*arguments):
        found.append(measure(*arguments))
        return found[-1]

    ranking.request_evidence, matching.MIN_CONFIDENCE = record, 0.0
    try:
        rows = matching.match(matching.MatchQuery(row["query"]), administrator_actor()).rows
    finally:
        ranking.request_evidence, matching.MIN_CONFIDENCE = measure, least
    is_explicit = bool(rows) and rows[0].tier is matching.MatchTier.EXPLICIT
    results, expected = [each.skill.slug for each in rows], row["expected_slug"]
    return {
        "kind": _kind(row, slugs),
        "place": results.index(expected) + 1 if expected in results else None,
        "evidence": None if is_explicit else list(map(float, found[0])) if found and rows else [],
        "terms": wording_terms(search_terms.text_tokens(row["query"])),
    }


def _kind(row, slugs):
    if row["expected_slug"]:
        return "real" if row["expected_slug"] in slugs else "absent"
    return "chat" if row.get("split") == "chat" else "idle"


if __name__ == "__main__":
    main()
