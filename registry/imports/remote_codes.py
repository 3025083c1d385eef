"""The refusals of readers that look beyond this machine: addresses, git repositories and MCP servers."""

from registry.packages.problems import Code, declare, gettext_noop

declare(
    Code(
        "SOURCE_ADDRESS",
        gettext_noop("%(location)s is not an address of this kind: %(reason)s."),
        gettext_noop("Give an address such as %(example)s."),
    ),
    Code(
        "SOURCE_CREDENTIALS",
        gettext_noop("The credentials %(name)s are not there for this team and this address."),
        gettext_noop("An administrator names them in SKILLQUAY_SOURCE_…; docs/imports.md says how."),
    ),
    Code(
        "SOURCE_CONTENT",
        gettext_noop("What lies at the address is neither an archive nor a SKILL.md."),
        gettext_noop("Give the address of a zip, a tar.gz or a SKILL.md itself, not of a page about it."),
    ),
    Code(
        "SOURCE_ANSWER",
        gettext_noop("%(host)s gave an answer that cannot be read: %(reason)s."),
        gettext_noop("Check that the address is of this kind of source."),
        http=502,
    ),
    Code(
        "SOURCE_EMPTY",
        gettext_noop("Nothing lies at %(location)s."),
        gettext_noop("Check the spelling of the bucket, the key and the prefix."),
    ),
    Code(
        "SOURCE_TOO_LARGE",
        gettext_noop("The source holds more than %(limit)s bytes or objects."),
        gettext_noop("Name a path within it, or ask the administrator for a higher limit."),
    ),
    Code(
        "SOURCE_NAME",
        gettext_noop("This name cannot be a path and was left out."),
        gettext_noop("Rename it if it belongs to a skill."),
        severity="notice",
    ),
    Code(
        "GIT_REPOSITORY",
        gettext_noop("There is no git repository at this address, or it is not open to us."),
        gettext_noop("Check the address; a private repository needs credentials, as docs/imports.md says."),
    ),
    Code(
        "GIT_REF",
        gettext_noop("The repository has no %(what)s %(name)s."),
        gettext_noop("Check the spelling; leave the branch away for the repository's own choice."),
    ),
    Code(
        "GIT_PATH",
        gettext_noop("The commit has no folder %(name)s."),
        gettext_noop("Check the spelling of the path, which begins at the repository's root."),
    ),
    Code(
        "GIT_SUBMODULE",
        gettext_noop("A submodule is another repository and was not read."),
        gettext_noop("Import that repository as a source of its own."),
        severity="notice",
    ),
    Code(
        "MCP_REFUSED",
        gettext_noop("The MCP server refused %(method)s: %(reason)s."),
        gettext_noop("Check the address and the credentials, and that the server offers prompts."),
        http=502,
    ),
)
