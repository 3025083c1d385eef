"""Error codes of the glossary."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

GLOSSARY_LINE_INVALID = declare("GLOSSARY_LINE_INVALID", lambda *, most, count: ...)(
    _("A glossary entry needs 2 to %(most)s different synonyms, but this one has %(count)s."),
    _("Separate synonyms with commas, such as invoice, receipt, 发票."),
)
GLOSSARY_WORD_INVALID = declare("GLOSSARY_WORD_INVALID", lambda *, word, most: ...)(
    _(
        "%(word)s has no letters, contains invisible characters, or has more than %(most)s words "
        "(each Chinese character counts as a word)."
    ),
    _("Correct or remove this word or phrase."),
)
GLOSSARY_LINE_KNOWN = declare("GLOSSARY_LINE_KNOWN", lambda *, entry: ..., http=409)(
    _("The glossary already contains this entry: %(entry)s."),
    _(
        "Add a synonym to your entry that the existing entry doesn't contain, "
        "or, if the existing entry is a custom one, edit that entry instead."
    ),
)
