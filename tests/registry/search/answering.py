"""``python -m tests.registry.search.answering``: publishes a catalog, then answers the queries of stdin."""

from __future__ import annotations

import json
import os
import random
import sys

import django

SKILLS = 100
ENGLISH = (
    "report",
    "data",
    "weekly",
    "pdf",
    "convert",
    "table",
    "image",
    "email",
    "deploy",
    "review",
    "translate",
)
CHINESE = (
    "报告",
    "数据",
    "周报",
    "转换",
    "表格",
    "图片",
    "邮件",
    "部署",
    "审查",
    "翻译",
    "总结",
    "会议",
    "合同",
)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from registry.identity.actors import ANONYMOUS, administrator_actor
    from registry.matching import documents
    from registry.matching import match as matching
    from registry.search import facets
    from registry.search.query import Filters, search, search_document

    publish_catalog()
    for query in json.load(sys.stdin):
        for actor in (administrator_actor(), ANONYMOUS):
            found = search_document(search(query, actor))
            found["facets"] = facets.facets_document(facets.facets(query, Filters(), actor))
            matched = documents.match_document(matching.match(matching.MatchQuery(query), actor), actor)
            print(json.dumps(found, ensure_ascii=False))
            print(json.dumps(matched, ensure_ascii=False))


def publish_catalog() -> None:
    from registry.identity.actors import administrator_actor
    from registry.models import Team
    from registry.versions.publishing.publish import publish
    from tests.registry.conftest import make_package

    team, actor, dice = Team.objects.create(slug="docs", name="Docs"), administrator_actor(), random.Random(7)
    for number in range(SKILLS):
        words = (ENGLISH, CHINESE)[number % 2]
        package = make_package(
            f"{dice.choice(ENGLISH)}-{dice.choice(ENGLISH)}-{number}",
            name=" ".join(dice.sample(words, 2)),
            description=" ".join(dice.choices(ENGLISH + CHINESE, k=12)),
            tags=tuple(dice.sample(words, 2)),
            body="\n".join(" ".join(dice.choices(ENGLISH + CHINESE, k=30)) for _ in range(2)),
            version="1.0.0",
        )
        publish(package, team=team, actor=actor, visibility=("public", "private")[number % 3 == 0])


if __name__ == "__main__":
    main()
