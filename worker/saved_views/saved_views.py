"""Saves filters of the run list under names, for one user each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction

from registry.core.errors import NOT_FOUND
from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.identity.permissions import Action
from registry.models import User
from worker.models import SavedRunView
from worker.saved_views.errors import (
    SAVED_VIEW_EMPTY,
    SAVED_VIEW_NAME_INVALID,
    SAVED_VIEW_NAME_TAKEN,
    SAVED_VIEW_TOO_LONG,
    SAVED_VIEWS_TOO_MANY,
)

MAX_VIEWS = 20
MAX_NAME_LENGTH = 40
MAX_QUERY_LENGTH = 1000


def save_view(user: User, name: str, query: str) -> SavedRunView:
    """Saves the query string of the run list; replaces the user's view of the same name.

    Raises SAVED_VIEW_NAME_INVALID, SAVED_VIEW_EMPTY, SAVED_VIEW_TOO_LONG, and SAVED_VIEWS_TOO_MANY above
    ``MAX_VIEWS``.
    """
    name, query = _checked_name(name), _checked_query(query)
    others = SavedRunView.objects.filter(user=user).exclude(name=name)
    if others.count() >= MAX_VIEWS:
        raise SAVED_VIEWS_TOO_MANY.refusal(limit=MAX_VIEWS)
    view, _created = SavedRunView.objects.update_or_create(user=user, name=name, defaults={"query": query})
    return view


def create_view(actor: Actor, name: str, query: str) -> SavedRunView:
    """Like ``save_view``, but raises SAVED_VIEW_NAME_TAKEN instead of replacing a view. Raises FORBIDDEN
    without a user, and for a token of one team.
    """
    if not isinstance(actor.user, User) or _is_limited(actor):
        raise FORBIDDEN.refusal(action=Action.RUN.value)
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=actor.user.pk)
        _require_free(actor.user, _checked_name(name))
        return save_view(actor.user, name, query)


def change_view(view: SavedRunView, *, name: str | None = None, query: str | None = None) -> SavedRunView:
    """Renames the view or replaces its filters; None keeps a value. Raises SAVED_VIEW_NAME_TAKEN if the user
    has another view of this name, and the refusals of ``save_view``.
    """
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=view.user_id)
        if name is not None:
            view.name = _checked_name(name)
            _require_free(view.user, view.name, view)
        if query is not None:
            view.query = _checked_query(query)
        view.save(update_fields=["name", "query"])
    return view


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not 0 < len(name) <= MAX_NAME_LENGTH or not name.isprintable():
        raise SAVED_VIEW_NAME_INVALID.refusal(limit=MAX_NAME_LENGTH).at("name")
    return name


def _checked_query(query: str) -> str:
    if not query:
        raise SAVED_VIEW_EMPTY.refusal()
    if len(query) > MAX_QUERY_LENGTH:
        raise SAVED_VIEW_TOO_LONG.refusal(limit=MAX_QUERY_LENGTH)
    return query


def _require_free(user: User, name: str, view: SavedRunView | None = None) -> None:
    same = SavedRunView.objects.filter(user=user, name=name)
    if (same.exclude(pk=view.pk) if view else same).exists():
        raise SAVED_VIEW_NAME_TAKEN.refusal(name=name).at("name")


def _is_limited(actor: Actor) -> bool:
    """Whether the actor is a token of one team: filters can name skills and users of other teams."""
    return actor.token is not None and actor.token.team_id is not None


@reader
def views_of(actor: Actor) -> Reads[list[SavedRunView]]:
    """The saved views of the actor, by name; none for a token of one team."""
    if actor.user is None or _is_limited(actor):
        return []
    yield (views := SavedRunView.objects.filter(user=actor.user).order_by("name"))
    return list(views)


def find_view(uid: str, actor: Actor) -> SavedRunView:
    """The actor's view. Raises NOT_FOUND if ``views_of`` does not contain it."""
    view = next((view for view in views_of(actor) if view.uid == uid), None)
    if view is None:
        raise NOT_FOUND.refusal(what="saved view", name=uid[:80])
    return view


def remove_view(user: User, uid: str) -> SavedRunView | None:
    """Deletes a view of the user and returns it; None if the user has no such view."""
    view = SavedRunView.objects.filter(user=user, uid=uid).first()
    if view:
        view.delete()
    return view


def export_person(user: User) -> Mapping[str, Any]:
    """The names and queries of the user's views."""
    views = SavedRunView.objects.filter(user=user).order_by("pk")
    return {"saved_run_views": [{"name": view.name, "query": view.query} for view in views]}


def erase_person(user: User) -> Iterable[str]:
    SavedRunView.objects.filter(user=user).delete()
    return ()
