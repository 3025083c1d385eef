from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

RUN_LABEL_INVALID = declare("RUN_LABEL_INVALID", lambda *, label, limit: ...)(
    _("`%(label)s` is not a valid label."),
    _("Use between 1 and %(limit)s printable characters without commas."),
)
RUN_LABELS_TOO_MANY = declare("RUN_LABELS_TOO_MANY", lambda *, limit: ...)(
    _("A run can't have more than %(limit)s labels."), _("Remove a label.")
)
RUN_NOTE_INVALID = declare("RUN_NOTE_INVALID", lambda *, limit: ...)(
    _("A note must have between 1 and %(limit)s characters."),
    _("Enter text, and split a long note into several."),
)
RUN_NOTES_TOO_MANY = declare("RUN_NOTES_TOO_MANY", lambda *, limit: ...)(
    _("A run can't have more than %(limit)s notes."), _("Delete a note, or add your text to an existing one.")
)
RUN_CONTENT_ERASED = declare("RUN_CONTENT_ERASED", http=409)(
    _("The run's content was erased."), _("Choose a run whose content still exists.")
)
