"""Error codes of install links."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

INSTALL_LINK_INVALID = declare("INSTALL_LINK_INVALID", http=404)(
    _("This install link is unknown, expired or revoked, or does not cover the requested skill."),
    _("Create a new install link, or use an access token."),
)
INSTALL_LINK_TARGET = declare("INSTALL_LINK_TARGET", lambda *, target: ...)(
    _("Can't create the link: %(target)s does not name a team, skill or collection."),
    _("Use the form `team`, `team/skill` or `collections/team/name`."),
)
INSTALL_LINKS_TOO_MANY = declare("INSTALL_LINKS_TOO_MANY", lambda *, limit: ..., http=409)(
    _("Can't create the link: you already have %(limit)s active install links."),
    _("Revoke a link that you no longer need."),
)
