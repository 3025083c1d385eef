"""Finds collections. Each team also has the computed collection ``all`` with all of its skills."""

from django.db.models import QuerySet

from registry.changes import drafts
from registry.core.errors import NOT_FOUND
from registry.identity.actors import Actor
from registry.lookup import skills
from registry.models import Collection, Skill, Team

ALL = "all"


def find_collection(team: str, slug: str, actor: Actor) -> Collection:
    """The collection at this address. Raises NOT_FOUND if there is none that the actor may see.

    The collection ``all`` is an unsaved row. It is visible to actors who may see the team or one of its
    skills.
    """
    drafts.depend_on_catalog()
    if slug == ALL:
        return Collection(team=_find_team(team, actor), slug=ALL, title=ALL)
    rows = Collection.objects.visible_to(actor).select_related("team")
    found = rows.filter(team__slug=team, slug=slug).first()
    if found is None:
        raise NOT_FOUND.refusal(what="collection", name=f"{team}/{slug}"[:200])
    return found


def is_computed(collection: Collection) -> bool:
    return collection.pk is None


def collections(actor: Actor, *, team: str = "") -> QuerySet[Collection]:
    """The stored collections that the actor may see, of one team if given."""
    rows = Collection.objects.visible_to(actor).select_related("team")
    return rows.filter(team__slug=team) if team else rows


def _find_team(slug: str, actor: Actor) -> Team:
    shown = Skill.objects.discoverable_by(actor).filter(team__slug=slug, latest__isnull=False)
    first = shown.select_related("team").order_by("pk").first()
    return first.team if first else skills.find_team(slug, actor)
