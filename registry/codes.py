"""The refusals of the registry and of its API, with their HTTP status."""

from registry.packages.problems import Code, declare, gettext_noop

declare(
    Code(
        "NOT_FOUND",
        gettext_noop("There is no %(what)s %(name)s, or it is not yours to see."),
        gettext_noop("Check the spelling, and that you are signed in as somebody who may see it."),
        http=404,
    ),
    Code(
        "NAME_AMBIGUOUS",
        gettext_noop("%(name)s alone does not say which skill is meant: %(candidates)s."),
        gettext_noop("Give the team with it, as team/slug."),
        http=409,
    ),
    Code(
        "FORBIDDEN",
        gettext_noop("You may not do this here: %(action)s."),
        gettext_noop(
            "Ask an owner of the team; what no access token may do, a person does in a session. "
            "docs/permissions.md has the table of who may do what."
        ),
        http=403,
    ),
    Code(
        "SIGN_IN_REQUIRED",
        gettext_noop("This needs somebody who is signed in."),
        gettext_noop("Sign in, or send an access token."),
        http=401,
    ),
    Code(
        "TOKEN_INVALID",
        gettext_noop("The access token is unknown, expired or revoked, or its owner is no longer active."),
        gettext_noop("Make a new token on your account page."),
        http=401,
    ),
    Code(
        "TOKEN_SCOPE_UNKNOWN",
        gettext_noop("A token needs at least one of the scopes %(scopes)s, and no other."),
        gettext_noop("Choose what the token is for."),
        http=422,
    ),
    Code(
        "TOKEN_EXPIRY_INVALID",
        gettext_noop("A token expires in the future, within a year."),
        gettext_noop("Choose a date within a year."),
        http=422,
    ),
    Code(
        "GLOSSARY_LINE_INVALID",
        gettext_noop("A line of the glossary has 2 to %(most)s different words; this one has %(count)s."),
        gettext_noop("Separate what means the same by commas, such as invoice, receipt, 发票."),
    ),
    Code(
        "GLOSSARY_WORD_INVALID",
        gettext_noop(
            "%(word)s has no letters, one that nobody sees, or more than %(most)s words"
            " or characters without spaces."
        ),
        gettext_noop("Shorten it to what people would say, or leave it away."),
    ),
    Code(
        "GLOSSARY_LINE_KNOWN",
        gettext_noop("The glossary says that already: %(said)s."),
        gettext_noop("Add a word that is not in it, or change that line where it is the site's own."),
        http=409,
    ),
    Code(
        "VERSION_EXISTS",
        gettext_noop("%(skill)s %(version)s is already published, with other content."),
        gettext_noop("Published versions never change: raise the version and publish again."),
        http=409,
    ),
    Code(
        "SKILL_EXISTS",
        gettext_noop("The team has a skill %(skill)s already."),
        gettext_noop("Choose another name, or edit that skill."),
        http=409,
    ),
    Code(
        "EDIT_CONFLICT",
        gettext_noop("Somebody published %(skill)s %(version)s while you were editing."),
        gettext_noop("Compare it with your text, then publish again on top of it."),
        http=409,
    ),
    Code(
        "EDIT_RENAMES",
        gettext_noop("The edited SKILL.md would be the skill %(other)s, not %(slug)s."),
        gettext_noop("Keep the name; publish it as a package of its own where another skill is meant."),
    ),
    Code(
        "VERSION_DIFFERS",
        gettext_noop("The package says it is version %(stated)s; it cannot be published as %(asked)s."),
        gettext_noop("Change the version in SKILL.md, or leave the other away."),
        http=422,
    ),
    Code(
        "VERSION_NUMBER_INVALID",
        gettext_noop("%(version)s is not a version number of at most 64 characters."),
        gettext_noop("Write a semantic version such as 1.2.0."),
        http=422,
    ),
    Code(
        "VERSION_HELD",
        gettext_noop("%(version)s is held: a maintainer has to judge what a scan or a report says of it."),
        gettext_noop("A maintainer other than its publisher reads it and releases it."),
        http=409,
    ),
    Code(
        "SCAN_HOLDS",
        gettext_noop("%(rule)s: %(why)s The version is held for review."),
        gettext_noop(
            "%(clear)s Or a maintainer other than its publisher reads the findings and releases the version."
        ),
        severity="warning",
    ),
    Code(
        "REPORT_HOLDS",
        gettext_noop("An earlier version was found to do harm and none was released since: this is held."),
        gettext_noop("A maintainer other than its publisher reads it and releases it."),
        severity="warning",
    ),
    Code(
        "SCAN_FINDS",
        gettext_noop("%(rule)s: %(why)s"),
        gettext_noop("%(clear)s Or a maintainer suppresses the finding, with a reason."),
        severity="notice",
    ),
    Code(
        "JUDGE_OWN",
        gettext_noop("%(version)s is yours: what holds it is for somebody else to judge."),
        gettext_noop("Ask another maintainer of the team, an owner or the site's administrator, by name."),
        http=403,
    ),
    Code(
        "TRIGGER_TESTS_NONE",
        gettext_noop("%(skill)s has no trigger tests to try."),
        gettext_noop("Write one on its feedback page, or put tests/triggers.yaml into the package."),
        http=409,
    ),
    Code(
        "NOT_HELD",
        gettext_noop("%(version)s is not held."),
        gettext_noop("Nothing is to be done: it can be used already."),
        http=409,
    ),
    Code(
        "VERSION_PURGED",
        gettext_noop("%(version)s was purged; neither its number nor its content is published again."),
        gettext_noop("Publish what is different from it under another number."),
        http=409,
    ),
    Code(
        "SKILL_PURGED",
        gettext_noop("%(skill)s was purged; its name is not given again."),
        gettext_noop("Publish under another name."),
        http=409,
    ),
    Code(
        "PURGED",
        gettext_noop("%(name)s was purged: %(reason)s"),
        gettext_noop("Its content is gone for good; use another version or skill."),
        http=410,
    ),
    Code(
        "NO_LATEST",
        gettext_noop("%(skill)s has no version to use: what there was is yanked, held or purged."),
        gettext_noop("Name a yanked version exactly if you must, or ask the skill's team."),
        http=404,
    ),
    Code(
        "VERSION_YANKED",
        gettext_noop("%(version)s was yanked: %(reason)s"),
        gettext_noop("Use the latest version; this one is got only by its exact number."),
        severity="warning",
    ),
    Code(
        "VERSION_REPORTED",
        gettext_noop("%(version)s was reported as doing harm, and nobody has decided that yet."),
        gettext_noop("Read it before you use it; it is offered to nobody outside its team meanwhile."),
        severity="warning",
    ),
    Code(
        "VERSION_DEPRECATED",
        gettext_noop("%(version)s is deprecated: %(reason)s"),
        gettext_noop("Use %(successor)s instead."),
        severity="warning",
    ),
    Code(
        "SKILL_DEPRECATED",
        gettext_noop("%(skill)s is deprecated: %(reason)s"),
        gettext_noop("Use %(successor)s instead."),
        severity="warning",
    ),
    Code(
        "SUCCESSOR_INVALID",
        gettext_noop("%(successor)s cannot be the successor."),
        gettext_noop("Name another skill that does not point back, or another usable version of this skill."),
        http=422,
    ),
    Code(
        "CHANNEL_NAME_INVALID",
        gettext_noop("%(channel)s cannot be a channel."),
        gettext_noop(
            "Use a small letter and then letters, digits or hyphens, at most 32; no version, nor latest."
        ),
        http=422,
    ),
    Code(
        "CHANNEL_WITHDRAWN",
        gettext_noop("The channel %(channel)s names %(version)s, which was yanked: %(reason)s"),
        gettext_noop("A maintainer moves the channel to another version; until then name a version."),
        http=409,
    ),
    Code(
        "SLUG_REDIRECTED",
        gettext_noop("%(skill)s is an old name; it leads to %(to)s and is given to nothing else."),
        gettext_noop("Change the name in SKILL.md to the present one, or choose another."),
        http=409,
    ),
    Code(
        "SLUG_TAKEN",
        gettext_noop("There is, or was, another skill at %(skill)s."),
        gettext_noop("Choose another name."),
        http=409,
    ),
    Code(
        "MERGE_INVALID",
        gettext_noop("%(skill)s cannot be merged into %(into)s."),
        gettext_noop("Name two different skills, neither of which was merged or purged."),
        http=409,
    ),
    Code(
        "LAST_ADMINISTRATOR",
        gettext_noop("%(user)s is the last administrator of this site."),
        gettext_noop("Make somebody else an administrator first."),
        http=409,
    ),
    Code(
        "VISIBILITY_UNKNOWN",
        gettext_noop("%(visibility)s is not a visibility."),
        gettext_noop("Choose private, site or public."),
        http=422,
    ),
    Code(
        "SLUG_INVALID",
        gettext_noop("%(slug)s cannot be part of an address."),
        gettext_noop("Use small letters, digits and single hyphens, at most 64, and no reserved word."),
        http=422,
    ),
    Code(
        "TEAM_EXISTS",
        gettext_noop("There is already a team %(slug)s."),
        gettext_noop("Choose another name."),
        http=409,
    ),
    Code(
        "ROLE_UNKNOWN",
        gettext_noop("%(role)s is not a role."),
        gettext_noop("Choose viewer, member, maintainer or owner."),
        http=422,
    ),
    Code(
        "MEMBER_EXISTS",
        gettext_noop("%(user)s is already on the team."),
        gettext_noop("Change the role instead."),
        http=409,
    ),
    Code(
        "LAST_OWNER",
        gettext_noop("%(user)s is the last owner of %(team)s."),
        gettext_noop("Make somebody else an owner first."),
        http=409,
    ),
    Code(
        "RUN_TEAM_INVALID",
        gettext_noop("You cannot run skills for this team: %(team)s."),
        gettext_noop("Run for a team that you are a member of."),
        http=403,
    ),
    Code(
        "TEXT_INVALID",
        gettext_noop("%(field)s is empty or too long, or holds characters that no text has."),
        gettext_noop("Write plain text of at most %(most)s characters."),
        http=422,
    ),
    Code(
        "BLOB_TOO_LARGE",
        gettext_noop("The content is larger than %(limit)s bytes."),
        gettext_noop("Make it smaller, or ask the administrator for a higher limit."),
        http=413,
    ),
    Code(
        "BLOB_MISSING",
        gettext_noop("The stored content %(digest)s is gone or damaged."),
        gettext_noop("Restore the blob folder from a backup; docs/operations.md says how."),
        http=500,
    ),
    Code(
        "UNAVAILABLE",
        gettext_noop("The database or the storage does not answer just now."),
        gettext_noop("Send the request again in a moment; nothing was changed."),
        http=503,
        retryable=True,
    ),
    Code(
        "LANGUAGE_UNKNOWN",
        gettext_noop("%(language)s is not one of the languages that are told apart: %(known)s."),
        gettext_noop("Name some of those."),
    ),
    Code(
        "PHRASE_LANGUAGE_MISSING",
        gettext_noop("No phrase that asks for the skill is in %(language)s, in which the team is asked."),
        gettext_noop("Add one to phrases in triggers, or have phrases proposed in the skill's settings."),
        severity="notice",
    ),
    Code(
        "PHRASE_UNHEARD",
        gettext_noop("No request can hold the phrase “%(phrase)s”: it has no word, or more than %(most)s."),
        gettext_noop("Write what somebody would say; each Chinese character counts as a word."),
        severity="warning",
    ),
    Code(
        "MODEL_OFF",
        gettext_noop("No model proposes phrases here."),
        gettext_noop("An administrator names one in SKILLQUAY_MODEL_URL and SKILLQUAY_MODEL_NAME."),
        http=409,
    ),
    Code(
        "MODEL_ANSWER",
        gettext_noop("The model's answer cannot be used: %(reason)s."),
        gettext_noop("Ask again; if it stays so, name another model."),
        http=502,
        retryable=True,
    ),
)
