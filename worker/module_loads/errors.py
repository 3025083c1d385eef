from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

MODULE_LOAD_FAILED = declare("MODULE_LOAD_FAILED", lambda *, reason: ..., severity="warning")(
    _("The module can't be loaded, so every run of it fails: %(reason)s"),
    _("Correct the module, and move code that needs inputs, network access or secrets into `execute`."),
)
LOADED_MODULE_MISSING = declare("LOADED_MODULE_MISSING", lambda *, module: ..., severity="warning")(
    _(
        "Can't load the module: it imports %(module)s, which neither the package nor its dependencies "
        "contain."
    ),
    _(
        "Declare the module's library in `requirements.txt` or `package.json`, "
        "import the module with `npm:` in TypeScript, or ask a maintainer to add "
        "the library on the version's page."
    ),
)
