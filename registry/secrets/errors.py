from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

SECRET_NAME_INVALID = declare("SECRET_NAME_INVALID", lambda *, name: ...)(
    _("%(name)s is not a valid secret name."),
    _(
        "Use up to 64 uppercase letters, digits and _, starting with a letter, such as API_KEY; "
        "names that shells, interpreters or HTTP clients use, such as PATH or HTTP_PROXY, are "
        "reserved."
    ),
)
SECRET_VALUE_INVALID = declare("SECRET_VALUE_INVALID", lambda *, most: ...)(
    _("A secret must be 1 to %(most)s bytes of text without NUL characters."),
    _("Use another value; encode binary data, for example as base64."),
)
SECRET_LIMIT = declare("SECRET_LIMIT", lambda *, most: ..., http=409)(
    _("Can't add a secret: the team has reached the limit of %(most)s secrets."),
    _("Remove secrets that no skill needs."),
)
SECRET_SEALED = declare("SECRET_SEALED", lambda *, name: ..., http=409)(
    _("Can't decrypt the secret %(name)s: the key that encrypted it is not in this site's settings."),
    _(
        "Ask a maintainer of the team to set the secret again, or an administrator to restore the "
        "key in SKILLQUAY_SECRETS_KEYS."
    ),
)
SECRET_NOT_DECLARED = declare("SECRET_NOT_DECLARED", lambda *, version, name: ..., http=409)(
    _("%(version)s does not request the secret %(name)s."),
    _(
        "Publish a version that lists the secret in `security.secrets`, or grant a secret "
        "that this version requests."
    ),
)
SECRET_NOT_SET = declare("SECRET_NOT_SET", lambda *, version, names, team, page: ..., http=409)(
    _("%(version)s needs the secrets %(names)s, which team %(team)s has not set."),
    _("Ask a maintainer of the team to set the secrets at %(page)s."),
)
SECRET_NOT_GRANTED = declare("SECRET_NOT_GRANTED", lambda *, team, names, version, page: ..., http=409)(
    _("Team %(team)s has not granted the secrets %(names)s to %(version)s."),
    _("Ask an owner of the team to review the version and grant the secrets at %(page)s."),
)
SECRET_WITHOUT_TEAM = declare("SECRET_WITHOUT_TEAM", lambda *, version: ..., http=409)(
    _("Can't run %(version)s without a team: it needs secrets, and only teams have secrets."),
    _("Join a team, then run the skill again; a team owner or an administrator can add you."),
)
REVIEW_OWN = declare("REVIEW_OWN", lambda *, version: ..., http=403)(
    _("You can't review %(version)s because you published it."),
    _("Ask another maintainer of the team to review the version."),
)
