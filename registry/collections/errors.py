"""Error codes of collections."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

COLLECTION_EXISTS = declare("COLLECTION_EXISTS", lambda *, collection: ..., http=409)(
    _("The team already has a collection named %(collection)s."),
    _("Choose another name, or edit the existing collection."),
)
COLLECTION_REPEATS = declare("COLLECTION_REPEATS", lambda *, skill: ...)(
    _("The list contains %(skill)s more than once."), _("Remove the repeated entry.")
)
COLLECTION_FULL = declare("COLLECTION_FULL", lambda *, limit: ...)(
    _("A collection can have at most %(limit)s skills."), _("Remove skills, or create another collection.")
)
COLLECTION_COMPUTED = declare("COLLECTION_COMPUTED", lambda *, collection: ..., http=409)(
    _("%(collection)s always contains all skills of its team and can't be changed."),
    _("Create a collection with another name."),
)
