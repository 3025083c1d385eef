from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

RUN_UNFINISHED = declare("RUN_UNFINISHED", http=409)(
    _("The run has not ended yet."), _("Cancel the run or wait until it ends, then erase its content.")
)
