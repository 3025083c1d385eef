from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

SUBSCRIPTION_TO_ITSELF = declare("SUBSCRIPTION_TO_ITSELF", lambda *, team: ...)(
    _("%(team)s can't subscribe to itself."), _("Choose another team.")
)
