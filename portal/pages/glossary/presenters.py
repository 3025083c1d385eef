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
    "Play": _("Play"),
    "Verbs of requests": _("Verbs in requests"),
    "Things and qualities": _("Things and qualities"),
}


def by_topic(lines: Iterable[GlossaryLine]) -> list[tuple[str | Promise, list[GlossaryLine]]]:
    """Pairs of a topic's label and its lines. The lines keep their order."""
    groups = groupby(lines, key=lambda line: line.topic)
    return [(TOPICS.get(topic, topic), list(entries)) for topic, entries in groups]
