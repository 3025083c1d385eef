"""Labels of the reasons why a skill is listed, shortened or omitted."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from registry.listing.budget import Stage, Truncation
from registry.listing.list_skills import Listing, OmissionReason
from registry.listing.selection import PlaceReason

STAGES = {
    Stage.FULL: _(
        "Only texts of more than 250 characters are shortened; always-listed skills keep their full text."
    ),
    Stage.SHARED: _(
        "Always-listed skills keep their full text; the other skills share the remaining characters evenly."
    ),
    Stage.NAMES: _(
        "Only names are listed, except for always-listed skills: the character "
        "limit of the listing leaves fewer than 20 characters per description."
    ),
}
_PLACES = {
    PlaceReason.BUNDLED: _("chosen by administrators, always listed"),
    PlaceReason.USED: _("ranked by use"),
    PlaceReason.NEW: _("new skill, in a place kept for new skills"),
    PlaceReason.TURN: _("chosen by daily rotation"),
}
_CUTS = {
    Truncation.NONE: _("full text"),
    Truncation.LONG: _("shortened to 250 characters"),
    Truncation.SHARE: _("shortened to an equal share of the character limit"),
    Truncation.NAME: _("name only"),
}
_WHYS = {
    OmissionReason.PATHS: _("applies only to certain files, and none of the given paths matches"),
    OmissionReason.LIMIT: _("skill limit reached"),
    OmissionReason.BUDGET: _("character limit reached"),
}


def listed_rows(listing: Listing) -> list[dict[str, Any]]:
    return [{"row": row, "place": _PLACES[row.place], "cut": _CUTS[row.cut]} for row in listing.rows]


def omitted_rows(listing: Listing) -> list[dict[str, Any]]:
    return [{"row": row, "why": _WHYS[row.why]} for row in listing.omitted]
