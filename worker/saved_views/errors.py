from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

SAVED_VIEW_NAME_INVALID = declare("SAVED_VIEW_NAME_INVALID", lambda *, limit: ...)(
    _("Can't save the view: the name is not valid."), _("Use between 1 and %(limit)s printable characters.")
)
SAVED_VIEW_NAME_TAKEN = declare("SAVED_VIEW_NAME_TAKEN", lambda *, name: ..., http=409)(
    _("Can't save the view: you already have a view named %(name)s."),
    _("Choose another name, or change that view."),
)
SAVED_VIEW_EMPTY = declare("SAVED_VIEW_EMPTY")(
    _("Can't save the view: no filter is set."), _("Set at least one filter.")
)
SAVED_VIEW_TOO_LONG = declare("SAVED_VIEW_TOO_LONG", lambda *, limit: ...)(
    _("Can't save the view: its filters have more than %(limit)s characters."),
    _("Set fewer or shorter filters."),
)
SAVED_VIEWS_TOO_MANY = declare("SAVED_VIEWS_TOO_MANY", lambda *, limit: ...)(
    _("Can't save the view: you already have %(limit)s views."), _("Remove a view.")
)
