"""Why a canonical name is not answered, or not set."""

from registry.packages.problems import Code, declare, gettext_noop

declare(
    Code(
        "CANONICAL_UNAVAILABLE",
        gettext_noop("%(name)s cannot be answered at present: %(reason)s."),
        gettext_noop("Ask an administrator to move it, or name another skill as team/slug."),
        http=409,
    ),
    Code(
        "CANONICAL_PRIVATE",
        gettext_noop("%(skill)s is seen by its team alone; a canonical skill is answered to everybody."),
        gettext_noop("A maintainer makes it site or public in its settings; then set it."),
        http=409,
    ),
    Code(
        "CANONICAL_SLUG",
        gettext_noop("%(skill)s is not called %(slug)s."),
        gettext_noop("A canonical name means a skill of the same slug: set it under that skill's own."),
    ),
    Code(
        "CANONICAL_YANKED",
        gettext_noop("%(version)s was yanked: %(reason)s"),
        gettext_noop("Choose another version."),
        http=409,
    ),
    Code(
        "CANONICAL_MOVED",
        gettext_noop("What would be answered is %(version)s with the digest %(digest)s by now."),
        gettext_noop("Look at that one, then give its digest."),
        http=409,
    ),
    Code(
        "CANONICAL_NOTHING_WAITS",
        gettext_noop("Nothing waits for a decision about %(name)s."),
        gettext_noop("Nothing is to be done; a newer version or a changed mirror will wait here."),
        http=409,
    ),
)
