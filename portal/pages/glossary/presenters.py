"""Labels of the topics of built-in glossary entries."""

from collections.abc import Iterable
from itertools import groupby

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from registry.search.glossary.documents import GlossaryLine

TOPICS: dict[str, Promise] = {
    "Documents and office": _("Documents and office"),
    "Writing": _("Writing"),
    "People and work": _("People and work"),
    "Law": _("Law"),
    "Communication": _("Communication"),
    "Software": _("Software"),
    "Data and AI": _("Data and AI"),
    "Media": _("Media"),
    "Money": _("Money"),
    "Shopping": _("Shopping"),
    "Marketing": _("Marketing"),
    "Health": _("Health"),
    "Food": _("Food"),
    "Travel and places": _("Travel and places"),
    "Home": _("Home life"),
    "Learning and science": _("Learning and science"),
    "Play": _("Games and sports"),
    "Verbs of requests": _("Verbs in requests"),
    "Things and qualities": _("Things and qualities"),
    (
        "Names of products and companies in both languages and other spellings of file types. "
        "Facts, not taste"
    ): _("Products, companies and file types"),
    "Everyday words in both languages": _("Everyday words"),
    "Places in both languages. Facts, not taste": _("Places"),
    "Words of law, state and society": _("Law, state and society"),
    "Words of nature and science": _("Nature and science"),
    "Words of media, fashion and leisure": _("Media, fashion and leisure"),
    "Words of work, trade and software": _("Work, trade and software"),
    "More words of skills in both languages": _("More words in skills"),
    "Words of requests, and the words of skills that they mean. A line works in one direction only": _(
        "Words in requests"
    ),
    "Money and trade": _("Money and trade"),
    "Health, home, travel and leisure": _("Health, home, travel and leisure"),
    "Cities and landmarks, and their countries": _("Cities and landmarks"),
    "Software and data": _("Software and data"),
    "Research, school and industry": _("Research, school and industry"),
    "Everyday words for tasks": _("Everyday words for tasks"),
}


def by_topic(lines: Iterable[GlossaryLine]) -> list[tuple[str | Promise, list[GlossaryLine]]]:
    """Pairs of a topic's label and its lines. The lines keep their order."""
    groups = groupby(lines, key=lambda line: line.topic)
    return [(TOPICS.get(topic, topic), list(entries)) for topic, entries in groups]
