from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

ORIGIN_NOT_ALLOWED = declare("ORIGIN_NOT_ALLOWED", lambda *, origin: ..., http=403)(
    _("Pages of %(origin)s can't use this endpoint."),
    _("Connect from a program or from a page of this site; pages of other sites can't connect."),
)
