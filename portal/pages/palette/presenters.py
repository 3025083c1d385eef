"""The entries that the command palette shows for a text: pages, actions, skills and runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from portal.presenters.navigation import NavLink, nav_rights, navigation_groups
from portal.presenters.skill.names import skill_names
from portal.presenters.status import TONES
from registry.core.sql import evaluate, prepared
from registry.identity.actors import Actor
from registry.models import Skill
from registry.search.query import search
from worker.models import Run
from worker.models.run import ids_of_skills

MAX_TEXT = 200
MAX_PER_SECTION = 6
_MAX_SKILLS_OF_RUNS = 3  # the runs of this many found skills are listed
_MAX_NAMED_SKILLS = 10  # skills with the same name in several teams
_RUN_COLUMNS = ("uid", "skill", "skill_label", "number", "status")
_NUMBER = re.compile(r"#?(\d{1,9})", re.ASCII)
_UID = re.compile(r"[0-9a-zA-Z]{26}")
_ACTIONS = (
    NavLink("publish", gettext_lazy("Publish a skill"), "upload"),
    NavLink("publish-new", gettext_lazy("Create a new skill"), "plus"),
    NavLink("import-new", gettext_lazy("Import skills"), "download"),
    NavLink("team-new", gettext_lazy("Create a team"), "team"),
    NavLink("tokens", gettext_lazy("Create an access token"), "key"),
    NavLink("account", gettext_lazy("Open account settings"), "user"),
)


@dataclass(frozen=True)
class Entry:
    """One line of the palette; ``note`` is, for example, the status of a run."""

    url: str
    label: str
    icon: str
    note: str = ""


@dataclass(frozen=True)
class Section:
    title: str
    entries: tuple[Entry, ...]


def sections(text: str, actor: Actor) -> list[Section]:
    """The sections that have entries. An empty text lists pages, actions and the actor's newest runs."""
    skills = [hit.skill for hit in search(text, actor, limit=MAX_PER_SECTION).hits] if text else []
    found = (
        Section(_("Skills"), tuple(map(_skill, skills))),
        Section(pgettext("list", "Runs"), tuple(_runs(text, skills[:_MAX_SKILLS_OF_RUNS], actor))),
        Section(pgettext("list", "Pages"), tuple(_links(text, _pages(actor)))),
        Section(_("Actions"), tuple(_links(text, _ACTIONS if actor.user else ()))),
    )
    return [section for section in found if section.entries]


def _pages(actor: Actor) -> Iterator[NavLink]:
    for group in navigation_groups(nav_rights(actor)):
        yield from group.links


def _links(text: str, links: Iterable[NavLink]) -> Iterator[Entry]:
    """Yields the links whose label or English route name contains all words of the text."""
    words = text.casefold().split()
    for link in links:
        haystack = f"{link.label} {link.name}".casefold()
        if all(word in haystack for word in words):
            yield Entry(link.url, str(link.label), link.icon)


def _skill(skill: Skill) -> Entry:
    return Entry(reverse("skill", args=[skill.team.slug, skill.slug]), skill.name, "skill", str(skill))


def _runs(text: str, skills: Sequence[Skill], actor: Actor) -> Iterator[Entry]:
    """Yields the actor's newest runs; with a text, visible runs with that ID or number, or of the skills
    found by the text.
    """
    if actor.user is None:
        return
    visible = Run.objects.visible_to(actor)
    newest: Iterable[Run]
    if not text:
        newest = _newest(visible.filter(caller=actor.user))
    elif _UID.fullmatch(text):
        newest = _newest(visible.filter(uid=text))
    elif number := _NUMBER.fullmatch(text):
        newest = _newest(visible.filter(number=int(number[1]), number__gt=0))  # the condition of the index
    else:
        newest = _runs_of_skills(text, skills, actor)
    newest = list(newest)
    names = skill_names(newest, actor)
    for run in newest:
        label = f"{names[run.pk]} #{run.number}" if run.number else names[run.pk]
        yield Entry(reverse("run", args=[run.uid]), label, "play", str(TONES[run.status][2]))


def _runs_of_skills(name: str, skills: Sequence[Skill], actor: Actor) -> list[Run]:
    """The newest runs of ``skills`` and of the skills with the name, also of deleted ones.

    Reads each skill's runs along the index: a skill can have most of the site's runs, or one old run.
    """
    keys = dict.fromkeys([skill.pk for skill in skills] + ids_of_skills(name)[:_MAX_NAMED_SKILLS])
    reads = [_newest_of_skill(actor, key) for key in keys]
    deleted = _newest(Run.objects.visible_to(actor).of_deleted_skills(name))
    evaluate(*reads, deleted)
    lists: list[Iterable[Run]] = [*reads, deleted]
    return sorted(chain.from_iterable(lists), key=lambda run: run.pk, reverse=True)[:MAX_PER_SECTION]


@prepared
def _newest_of_skill(actor: Actor, skill: int) -> QuerySet[Run]:
    return _newest(Run.objects.visible_to(actor).filter(skill_id=skill))


def _newest(runs: QuerySet[Run]) -> QuerySet[Run]:
    return runs.only(*_RUN_COLUMNS).order_by("-pk")[:MAX_PER_SECTION]
