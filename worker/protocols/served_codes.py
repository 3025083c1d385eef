"""Why a service or distributed skill is not run by its endpoints."""

from __future__ import annotations

from registry.packages.problems import Code, declare
from registry.packages.problems import gettext_noop as _

declare(
    Code(
        "ENDPOINT_NOT_ALLOWED",
        _("The skill's endpoint %(address)s is no host of its security.network_allowlist."),
        _("Have its authors set security.network to allowlist and name the host in network_allowlist."),
    ),
    Code(
        "ENDPOINT_FILES",
        _("The skill is run by an endpoint, which can be sent no files."),
        _("Give the content itself, or an address at which the endpoint finds it."),
    ),
)
