"""Error codes of modules that can't be loaded."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

MODULE_LOAD_FAILED = declare("MODULE_LOAD_FAILED", lambda *, reason: ..., severity="warning")(
    _("The module can't be loaded, so every run of it fails: %(reason)s"),
    _("Correct the module. Move code that needs inputs, network access or secrets into `execute`."),
)
LOADED_MODULE_MISSING = declare("LOADED_MODULE_MISSING", lambda *, module: ..., severity="warning")(
    _("The module imports %(module)s, which neither the package nor its dependencies contain."),
    _(
        "Declare it in `requirements.txt` or `package.json`; in TypeScript, you can also import it "
        "with `npm:`. A maintainer can also add a Python library on the version's page."
    ),
)
