"""Presents the options of a source."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.presenters.content.punctuation import labelled, listed
from registry.models import Source

_LABELS: Mapping[str, str | Promise] = {
    "branch": _("Branch"),
    "tags": _("Each tag is a version"),
    "path": _("Folder"),
    "paths": _("Folders"),
    "credentials": _("Credentials"),
    "recursive": _("With subfolders"),
    "parents": _("With parent folders"),
    "allow_external": _("With linked files outside the folder"),
}


def option_texts(source: Source) -> list[str]:
    """The options in words, such as "Branch: main"."""
    return [_text(_LABELS.get(name, name), value) for name, value in source.options.items() if value]


def _text(label: object, value: object) -> str:
    if value is True:
        return str(label)
    return labelled(label, listed(value) if isinstance(value, list) else value)
