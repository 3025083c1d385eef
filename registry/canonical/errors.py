from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

CANONICAL_PRIVATE = declare("CANONICAL_PRIVATE", lambda *, skill: ..., http=409)(
    _("Can't make %(skill)s canonical: its visibility is not `site` or `public`."),
    _(
        "Ask a maintainer of the skill to set its visibility to `site` or `public`; a "
        "skill of type `internal` stays visible only to its team."
    ),
)
CANONICAL_SLUG = declare("CANONICAL_SLUG", lambda *, skill, slug: ...)(
    _("Can't use %(skill)s for the canonical name %(slug)s: the skill has a different short name."),
    _("Choose a skill with the same short name as the canonical name."),
)
CANONICAL_MIRROR_NAME = declare("CANONICAL_MIRROR_NAME", lambda *, skill, slug: ..., severity="warning")(
    _(
        "Can't propose updates from the mirror: it contains the skill %(skill)s, "
        "not a skill with the short name %(slug)s."
    ),
    _(
        "Correct `name` in the mirrored SKILL.md, or create another mirror of "
        "this address under the mirrored skill's own short name."
    ),
)
CANONICAL_YANKED = declare("CANONICAL_YANKED", lambda *, version, reason: ..., http=409)(
    _("%(version)s was yanked: %(reason)s"), _("Choose another version.")
)
CANONICAL_MOVED = declare("CANONICAL_MOVED", lambda *, version, digest: ..., http=409)(
    _("The digest does not match %(version)s, whose digest is %(digest)s."),
    _("Review that version, then send its digest."),
)
CANONICAL_NO_PROPOSAL = declare("CANONICAL_NO_PROPOSAL", lambda *, name: ..., http=409)(
    _("No change to %(name)s is waiting for a decision."),
    _("No action needed: newer versions are proposed automatically."),
)
