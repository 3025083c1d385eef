"""Saves filters of the run list under names, for one user each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from registry.identity.actors import Actor
from registry.models import User
from worker.models import SavedRunView
from worker.saved_views.errors import (
    SAVED_VIEW_EMPTY,
    SAVED_VIEW_NAME_INVALID,
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
    name = " ".join(name.split())
    if not 0 < len(name) <= MAX_NAME_LENGTH or not name.isprintable():
        raise SAVED_VIEW_NAME_INVALID.refusal(limit=MAX_NAME_LENGTH).at("name")
    if not query:
        raise SAVED_VIEW_EMPTY.refusal()
    if len(query) > MAX_QUERY_LENGTH:
        raise SAVED_VIEW_TOO_LONG.refusal(limit=MAX_QUERY_LENGTH)
    others = SavedRunView.objects.filter(user=user).exclude(name=name)
    if others.count() >= MAX_VIEWS:
        raise SAVED_VIEWS_TOO_MANY.refusal(limit=MAX_VIEWS)
    view, _created = SavedRunView.objects.update_or_create(user=user, name=name, defaults={"query": query})
    return view


def views_of(actor: Actor) -> list[SavedRunView]:
    """The saved views of the actor, by name."""
    return list(SavedRunView.objects.filter(user=actor.user).order_by("name")) if actor.user else []


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
