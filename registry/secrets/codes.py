"""The refusals of secrets."""

from registry.packages.problems import Code, declare, gettext_noop

declare(
    Code(
        "SECRET_NAME_INVALID",
        gettext_noop("%(name)s cannot be the name of a secret."),
        gettext_noop(
            "Use capital letters, digits and _, as in API_KEY; none that the shell or an interpreter reads."
        ),
        http=422,
    ),
    Code(
        "SECRET_VALUE_INVALID",
        gettext_noop("A secret holds 1 to %(most)s bytes of text without NUL."),
        gettext_noop("Give another value; encode what is not text, as in base64."),
        http=422,
    ),
    Code(
        "SECRET_LIMIT",
        gettext_noop("The team keeps %(most)s secrets already."),
        gettext_noop("Remove some that no skill needs."),
        http=409,
    ),
    Code(
        "SECRET_SEALED",
        gettext_noop("The secret %(name)s cannot be opened with the keys that this site has."),
        gettext_noop(
            "Set its value again, or give SKILLQUAY_SECRETS_KEYS the key under which it was sealed."
        ),
        http=409,
    ),
    Code(
        "SECRET_UNASKED",
        gettext_noop("%(version)s asks for no secret %(name)s."),
        gettext_noop("Name it in security.secrets of the version, or grant one that it asks for."),
        http=409,
    ),
    Code(
        "SECRET_NOT_SET",
        gettext_noop("%(version)s needs the secrets %(names)s, which the team %(team)s does not keep."),
        gettext_noop("A maintainer of the team sets them at %(page)s."),
        http=409,
    ),
    Code(
        "SECRET_NOT_GRANTED",
        gettext_noop("The secrets %(names)s of the team %(team)s are not granted to %(version)s."),
        gettext_noop("An owner of the team grants them at %(page)s, after reading what the version does."),
        http=409,
    ),
    Code(
        "SECRET_WITHOUT_TEAM",
        gettext_noop("%(version)s needs secrets, and a run for no team of yours has none."),
        gettext_noop("Say for which of your teams it is to run."),
        http=409,
    ),
    Code(
        "REVIEW_OWN",
        gettext_noop("Who published %(version)s does not vouch for it."),
        gettext_noop("Ask somebody else of the team to read it."),
        http=403,
    ),
)
