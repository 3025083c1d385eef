from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

CASES_NONE = declare("CASES_NONE", lambda *, version: ..., http=409)(
    _("Can't run the test cases: %(version)s has no valid test cases."),
    _("Add valid cases to tests/cases.yaml in the package, then publish a new version."),
)
