"""The words for why a skill is listed, cut or left out."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from registry.listing import LeftOut, Listing, Row, Why
from registry.listing.choosing import Place
from registry.listing.fitting import Cut, Stage

STAGES = {
    Stage.FULL: _("No text had to be shortened for the budget."),
    Stage.SHARED: _("The budget is shared: each text has the same room, bundled ones all they need."),
    Stage.NAMES: _("An even share would be under 20 columns, so names stand alone."),
}
_PLACES = {
    Place.BUNDLED: _("bundled by administrators"),
    Place.USED: _("by its use"),
    Place.NEW: _("new: a place is kept for it"),
    Place.TURN: _("its turn today"),
}
_CUTS = {
    Cut.NONE: _("whole"),
    Cut.LONG: _("cut at 250 characters"),
    Cut.SHARE: _("cut to an even share"),
    Cut.NAME: _("name alone"),
}
_WHYS = {
    Why.PATHS: _("none of the named files fits its paths"),
    Why.LIMIT: _("there were places for so many only"),
    Why.BUDGET: _("not even its name had room"),
}


@dataclass(frozen=True)
class Shown:
    row: Row
    place: str
    cut: str


@dataclass(frozen=True)
class Missing:
    row: LeftOut
    why: str


def shown(listing: Listing) -> list[Shown]:
    return [Shown(row, str(_PLACES[row.place]), str(_CUTS[row.cut])) for row in listing.rows]


def missing(listing: Listing) -> list[Missing]:
    return [Missing(row, str(_WHYS[row.why])) for row in listing.left_out]
